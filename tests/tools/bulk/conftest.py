"""A pipeline on disk, and what it finds when nothing but spaCy is used."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy

from bulk_truth import Row, rows_of
from helpers import TEXTS
from spacy_cascade.workflows.reconfigure import with_settings


@pytest.fixture
def strict_model(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline that was calibrated on known words alone, and warns of a few unseen ones."""
    monkeypatch.setattr("spacy_cascade.pipeline.unseen_words.FEWEST", 2)
    path = tmp_path / "strict"
    with_settings(spacy.load(model), {"cascade_segmenter": {"unseen_words": 0.0}}).to_disk(path)
    return path


@pytest.fixture(scope="session")
def truth(model: Path) -> dict[str, list[Row]]:
    """Entities of each of `TEXTS`, one Doc at a time."""
    nlp = spacy.load(model)
    return {text: rows_of(nlp(text)) for text in TEXTS}
