"""A pipeline on disk, and what it finds when nothing but spaCy is used."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy

from bulk_truth import Row, rows_of
from helpers import TEXTS


@pytest.fixture(scope="session")
def truth(model: Path) -> dict[str, list[Row]]:
    """Entities of each of `TEXTS`, one Doc at a time."""
    nlp = spacy.load(model)
    return {text: rows_of(nlp(text)) for text in TEXTS}
