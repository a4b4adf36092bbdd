"""Pipelines that several tests read, and none may change."""

import sys
from pathlib import Path

import pytest
from spacy.language import Language

sys.path.insert(0, str(Path(__file__).parents[1]))  # for `helpers`

from helpers import trained_cascade


@pytest.fixture(scope="session")
def trained() -> Language:
    """A cascade trained on `helpers.SENTENCES`; only for prediction."""
    return trained_cascade()
