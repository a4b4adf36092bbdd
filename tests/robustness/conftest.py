"""Tokenizers as in an application, and saved pipelines of several kinds, to be damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import special_cases
from sample_pipelines import PIPELINES


@pytest.fixture(scope="module", autouse=True)
def _whole_tokenizers() -> Iterator[None]:
    with special_cases.kept():
        yield


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a pipeline in each folder."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("memb", "network", "ocr", "joint", "tagged", "lexicons", "reranked"):
        PIPELINES[name]().to_disk(folder / name, exclude=["tokenizer"])
    return folder
