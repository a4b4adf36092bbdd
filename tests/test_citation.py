"""CITATION.cff says what pyproject.toml, LICENSE and the sources in docs/method.md say."""

from __future__ import annotations

import re

from srsly import yaml_loads

from helpers import PROJECT
from spacy_cascade._version import __version__

CITATION = yaml_loads((PROJECT / "CITATION.cff").read_text(encoding="utf8"))
DECLARED = (PROJECT / "pyproject.toml").read_text(encoding="utf8")


def test_it_has_the_fields_of_the_format() -> None:
    """The proof asks the tool of the format, which the tests do without."""
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= CITATION.keys()
    for reference in CITATION["references"]:
        assert {"type", "title", "authors"} <= reference.keys()


def test_it_names_the_package_as_it_is() -> None:
    for field, name in (("title", "name"), ("abstract", "description")):
        assert CITATION[field] == re.findall(rf'^{name} = "(.*)"', DECLARED, re.MULTILINE)[0]
    listed = re.findall(r"^keywords = \[(.*)\]", DECLARED, re.MULTILINE)[0]
    assert CITATION["keywords"] == re.findall('"(.*?)"', listed)
    assert CITATION["version"] == __version__


def test_authors_are_those_of_the_licence() -> None:
    licence = (PROJECT / "LICENSE").read_text(encoding="utf8")
    assert f"{CITATION['license']} License" in licence
    (holder,) = re.findall(r"^Copyright \(c\) \d+ (.*)$", licence, re.MULTILINE)
    assert CITATION["authors"] == [{"name": holder}]


def test_references_are_sources_of_the_method() -> None:
    page = (PROJECT / "docs/method.md").read_text(encoding="utf8")
    sources = " ".join(page.split("## 9 Sources")[1].split())
    for reference in CITATION["references"]:
        assert reference["title"] in sources
        for author in reference["authors"]:
            assert author["family-names"] in sources
    thesis = CITATION["references"][0]
    assert f"{thesis['institution']['name']}, {thesis['year']}" in sources
