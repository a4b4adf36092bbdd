"""Writes DEPENDENCIES.md: what the package needs, with licences and last releases.

`python scripts/list_dependencies.py [BILL]`, where the package is installed with the extras for
users. BILL: a bill of materials (CycloneDX, JSON), to which data and licences are added.
Licences come from what is installed, dates of releases from the package index by its JSON API,
whose address stands in the environment variable `DEPENDENCIES_INDEX`. Without it dates stay as they
are on the page.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

from packaging.requirements import Requirement

PAGE = Path(__file__).parents[1] / "DEPENDENCIES.md"
PACKAGE = "spacy-cascade"
FOR_DEVELOPMENT = {"test", "browser", "bench", "docs", "release"}
"""Extras that users do not install."""
INDEX = os.environ.get("DEPENDENCIES_INDEX", "")
"""Address of the package index's JSON API, with `{}` for the name of a package."""
_ROW = re.compile(r"^\| `([^`]+)` \|.*\| (\d{4}-\d\d-\d\d|unknown) \|$", re.MULTILINE)
_SAY_NONE = {"cuda-toolkit": "NVIDIA Proprietary Software"}
"""Licences of packages whose metadata name none: this one is empty, and requires NVIDIA's own."""
_SECONDS = 20
_LONGEST_NAME = 40
_UNKNOWN = "unknown"
_NOT_INSTALLED = "not installed"


class Dependency(NamedTuple):
    """One row of the table; extra: empty for what is always installed."""

    name: str
    extra: str
    releases: str
    licence: str
    last_release: str


def requirements() -> Iterator[tuple[Requirement, str]]:
    """What the package requires directly, with the extra that it belongs to."""
    for line in distribution(PACKAGE).requires or ():
        requirement = Requirement(line)
        marker = str(requirement.marker or "")
        found = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        extra = found[1] if found else ""
        if extra not in FOR_DEVELOPMENT:
            yield requirement, extra


def licence_of(name: str) -> str:
    """As the installed package states it: an expression, a classifier, or a short text."""
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return _NOT_INSTALLED
    if expression := metadata.get("License-Expression"):
        return str(expression)
    stated = [c for c in metadata.get_all("Classifier") or () if c.startswith("License :: ")]
    names = [c.rsplit(" :: ", 1)[1] for c in stated if not c.endswith("OSI Approved")]
    if names:
        return " and ".join(names)
    text = str(metadata.get("License") or _SAY_NONE.get(name, _UNKNOWN)).strip().splitlines()[0]
    return text if len(text) < _LONGEST_NAME else _UNKNOWN


def last_release(requirement: Requirement, known: str) -> str:
    """The day of the last one that is allowed; what is known where the index cannot be asked."""
    if not INDEX:
        return known
    try:
        with urlopen(INDEX.format(requirement.name), timeout=_SECONDS) as answer:
            releases = json.load(answer)["releases"]
    except (URLError, TimeoutError, ValueError, KeyError):
        return known
    allowed = requirement.specifier.filter(releases)
    files = [file for version in allowed for file in releases[version]]
    return str(max((file["upload_time"][:10] for file in files), default=known))


def dependencies(page: str) -> list[Dependency]:
    """All rows, in order; page: the text of the page as it was."""
    known = dict(_ROW.findall(page))
    merged: dict[str, tuple[Requirement, list[str]]] = {}
    for requirement, extra in requirements():
        merged.setdefault(requirement.name, (requirement, []))[1].append(extra)
    return [
        Dependency(
            name,
            "" if "" in extras else ", ".join(f"`{extra}`" for extra in extras),
            str(requirement.specifier) or "any",
            licence_of(name),
            last_release(requirement, known.get(name, _UNKNOWN)),
        )
        for name, (requirement, extras) in sorted(merged.items())
    ]


class Data(NamedTuple):
    """Data that come with the package; licence: by its name in SPDX."""

    path: str
    made_of: str
    licence: str
    source: str = ""

    @property
    def name(self) -> str:
        return Path(self.path).name


_ENGLISH = "spacy_cascade/systems/words/english"
DATA = (
    Data(
        f"{_ENGLISH}/pieces.words",
        "all-MiniLM-L6-v2, a transformer of Sentence Transformers",
        "Apache-2.0",
        "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    ),
    Data(
        f"{_ENGLISH}/glove.words",
        "GloVe 6B, word vectors of Stanford, in the public domain",
        "PDDL-1.0",
        "https://nlp.stanford.edu/projects/glove/",
    ),
    Data("assets/sample", "a corpus that was written for this project (sdist only)", "MIT"),
)
"""`words make` brings no data along: it makes tables of what its users give it."""
_BELOW = f"""
The tables of words lie in `{_ENGLISH}`, with their licences in
[NOTICE.md]({_ENGLISH}/NOTICE.md). `scripts/make_english.py` makes them.
"""


def component_of(data: Data) -> dict[str, Any]:
    """The data in a bill of materials."""
    files = sorted(path for path in (PAGE.parent / data.path).rglob("*") if path.is_file())
    contents = b"".join(path.read_bytes() for path in files or [PAGE.parent / data.path])
    component: dict[str, Any] = {
        "type": "data",
        "bom-ref": f"data:{data.path}",
        "name": data.name,
        "description": f"{data.path}: made of {data.made_of}",
        "hashes": [{"alg": "SHA-256", "content": sha256(contents).hexdigest()}],
        "licenses": [{"license": {"id": data.licence}}],
    }
    if data.source:
        component["externalReferences"] = [{"type": "distribution", "url": data.source}]
    return component


def complete(path: Path) -> None:
    """Add the data to a bill of materials, and licences that packages state in words alone."""
    bill = json.loads(path.read_text(encoding="utf8"))
    components = bill.setdefault("components", [])
    for component in components:
        stated = licence_of(component["name"])
        if not component.get("licenses") and stated not in (_UNKNOWN, _NOT_INSTALLED):
            component["licenses"] = [{"license": {"name": stated}}]
    components.extend(map(component_of, DATA))
    path.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf8")


def text_of(rows: list[Dependency]) -> str:
    """The page."""
    lines = [
        "# Dependencies",
        "",
        "What the package needs directly: which releases, under which licence, and when the last",
        "release was made. `python -m nox -s supply` writes this page anew, and a complete bill of",
        "materials (CycloneDX) to `dist/spacy_cascade.cdx.json`.",
        "",
    ]
    tables = {
        "Always installed": [row for row in rows if not row.extra],
        "With an extra": [row for row in rows if row.extra],
    }
    for title, part in tables.items():
        lines += [f"## {title}", "", "| package | extra | releases | licence | last release |"]
        lines += ["|---|---|---|---|---|"]
        lines += [
            f"| `{row.name}` | {row.extra or '-'} | `{row.releases}` | {row.licence} "
            f"| {row.last_release} |"
            for row in part
        ]
        lines.append("")
    lines += ["## Data that come with the package", ""]
    lines += ["| data | made of | licence |", "|---|---|---|"]
    lines += [f"| `{data.name}` | {data.made_of} | {data.licence} |" for data in DATA]
    return "\n".join([*lines, _BELOW])


def main(bills: Sequence[str]) -> None:
    for bill in bills:
        complete(Path(bill))
    before = PAGE.read_text(encoding="utf8") if PAGE.exists() else ""
    PAGE.write_text(text_of(dependencies(before)), encoding="utf8")


if __name__ == "__main__":
    main(sys.argv[1:])
