"""Every option of every component and registered function is documented, with its default."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from helpers import PROJECT
from pages import DOCS
from spacy_cascade.features.registry import BUILT_IN

sys.path.append(str(PROJECT / "scripts"))
import document_options


def test_attributes_and_places_of_templates_are_documented() -> None:
    text = (DOCS / "templates.md").read_text(encoding="utf8")
    assert [name for name in BUILT_IN if not re.search(rf"`{name}[`(]", text)] == []
    places = ("first", "last", "any", "all", "sentence", "recurrence", "head_recurrence")
    places += ("long_form", "long_form_last")
    assert [name for name in places if f"`@{name}" not in text] == []


@pytest.mark.parametrize("page", document_options.PAGES, ids=lambda page: page.name)
def test_options_are_documented(page: Path) -> None:
    """If not: `python scripts/document_options.py`."""
    assert document_options.documented(page) == page.read_text(encoding="utf8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("| `iterations` |", "| `repetitions` |", "LBFGS.v1 needs one row each for"),
        ("### `spacy_cascade.Sharded.v1`", "### Shards", "a section for each of .*Sharded"),
    ],
)
def test_what_is_not_documented_is_named(
    old: str, new: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = document_options.PAGES
    (registered,) = (page for page in pages if page.name == "registered.md")
    page = tmp_path / "registered.md"
    page.write_text(registered.read_text(encoding="utf8").replace(old, new), encoding="utf8")
    monkeypatch.setitem(pages, page, pages[registered])
    with pytest.raises(SystemExit, match=message):
        document_options.documented(page)
