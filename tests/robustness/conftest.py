"""Saved pipelines of several kinds, whose files are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from sample_pipelines import PIPELINES


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a pipeline in each folder."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("memb", "network", "ocr", "joint", "tagged", "lexicons", "reranked"):
        PIPELINES[name]().to_disk(folder / name, exclude=["tokenizer"])
    return folder
