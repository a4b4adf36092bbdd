"""A streamed corpus: a folder of files to train on, and a file to score on."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.tokens import DocBin

from helpers import blank, sample_docs
from sharding import N_STREAMED


@pytest.fixture(scope="package")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder `train.spacy` of four files, and one file `dev.spacy`."""
    folder = tmp_path_factory.mktemp("stream")
    docs = sample_docs(blank().vocab, "train", N_STREAMED)
    (folder / "train.spacy").mkdir()
    for number in range(4):
        DocBin(docs=docs[number::4]).to_disk(folder / f"train.spacy/{number}.spacy")
    DocBin(docs=sample_docs(blank().vocab, "dev", 2)).to_disk(folder / "dev.spacy")
    return folder
