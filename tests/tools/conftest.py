"""What tests of tools share: a trained pipeline on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.language import Language


@pytest.fixture(scope="session")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cascade that knows `helpers.SENTENCES` by heart; not to be changed."""
    path = tmp_path_factory.mktemp("tools") / "model"
    trained.to_disk(path)
    return path
