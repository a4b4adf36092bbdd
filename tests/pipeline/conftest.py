"""Pipelines that several tests read, and none may change."""

import pytest
from helpers import trained_cascade
from spacy.language import Language


@pytest.fixture(scope="session")
def trained() -> Language:
    """A cascade trained on `helpers.SENTENCES`; only for prediction."""
    return trained_cascade()
