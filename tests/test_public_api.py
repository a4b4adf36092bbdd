"""The public surface is what the snapshot says, and every member of a component is documented."""

from __future__ import annotations

import re

import pytest

import spacy_cascade
from pages import DOCS
from public_api import SNAPSHOT, public_api


def test_the_public_surface_changes_on_purpose_only() -> None:
    """If it does: `python tests/support/public_api.py`, and a line in the CHANGELOG."""
    assert public_api() == SNAPSHOT.read_text(encoding="utf8")


def test_every_public_name_is_on_the_api_page() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf8")
    lines = SNAPSHOT.read_text(encoding="utf8").splitlines()
    names = {re.split(r"\W", line.partition(".")[2])[0] for line in lines if line[:1].isupper()}
    names |= set(spacy_cascade.__all__) - {
        name for name in dir(spacy_cascade) if name[-5:] == "Error"
    }
    assert sorted(name for name in names if not re.search(rf"`{name}[`(]", page)) == []


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="No spacy_cascade attribute Lesson"):
        _ = spacy_cascade.Lesson  # type: ignore[attr-defined]
