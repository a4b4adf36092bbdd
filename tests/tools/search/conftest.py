"""A tiny corpus to search on."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.tokens import DocBin

from helpers import SENTENCES, blank, gold_doc


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    vocab = blank().vocab
    docs = [gold_doc(vocab, text, spans) for text, spans in SENTENCES]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    return tmp_path / "train.spacy"
