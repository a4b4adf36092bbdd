"""Every option of every component and registered function is documented, with its default."""

from __future__ import annotations

import inspect
import re
import sys
from importlib.metadata import EntryPoint, entry_points

import pytest

from helpers import PROJECT
from pages import DOCS, described
from spacy_cascade.features.registry import BUILT_IN

sys.path.append(str(PROJECT / "scripts"))
import document_options
from document_options import shown

GROUPS = (
    "spacy_architectures", "spacy_misc", "spacy_batchers", "spacy_tokenizers", "spacy_scorers",
    "spacy_callbacks", "spacy_readers", "spacy_loggers",
)  # fmt: skip
REGISTERED = {
    entry.name: entry
    for group in GROUPS
    for entry in entry_points(group=group)
    if entry.value.startswith("spacy_cascade")
}
FACTORIES = [
    entry.name
    for entry in entry_points(group="spacy_factories")
    if entry.value.startswith("spacy_cascade")
]
NO_DEFAULT = "needed"


@pytest.fixture(scope="module")
def documented() -> dict[str, dict[str, str]]:
    """Options by name, as the pages have them."""
    return {
        name: found.options
        for page in (DOCS / "components.md", DOCS / "registered.md")
        for name, found in described(page)
    }


def parameters(entry: EntryPoint) -> dict[str, str]:
    """Options of a registered function or class, with their defaults as the tables have them."""
    return {
        name: NO_DEFAULT if p.default is inspect.Parameter.empty else shown(p.default)
        for name, p in inspect.signature(entry.load()).parameters.items()
    }


@pytest.mark.parametrize("name", REGISTERED)
def test_options_of_registered_functions_are_documented(
    name: str, documented: dict[str, dict[str, str]]
) -> None:
    assert documented[name] == parameters(REGISTERED[name])


def test_attributes_and_places_of_templates_are_documented() -> None:
    text = (DOCS / "templates.md").read_text(encoding="utf8")
    assert [name for name in BUILT_IN if not re.search(rf"`{name}[`(]", text)] == []
    places = ("first", "last", "any", "all", "sentence", "recurrence", "head_recurrence")
    places += ("long_form", "long_form_last")
    assert [name for name in places if f"`@{name}" not in text] == []


def test_options_of_factories_are_documented() -> None:
    """If not: `python scripts/document_options.py`."""
    page = document_options.PAGE.read_text(encoding="utf8")
    assert document_options.documented(page) == page
