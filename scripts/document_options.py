"""Write names and defaults of options into the tables of docs/components.md and docs/registered.md.

They come from the signature of a factory or registered function, the defaults of a factory from its
default config. What an option means is written in the table itself.

python scripts/document_options.py
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from spacy.language import Language

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    DOCS / "components.md": ("spacy_factories",),
    DOCS / "registered.md": (
        "spacy_architectures", "spacy_misc", "spacy_readers", "spacy_augmenters", "spacy_batchers",
        "spacy_tokenizers", "spacy_callbacks", "spacy_loggers", "spacy_scorers",
    ),
}  # fmt: skip
"""Pages, with the groups of entry points that each describes."""
NO_DEFAULT = "needed"
_ROW = r"^\| `(\w+)` \| .*? \|(?= )"
"""Name and default of an option."""
_OTHERS = r"other options\s+are\s+those\s+of\s+\[?`([\w.]+)`"


def documented(page: Path) -> str:
    """The text of a page with the names and defaults of all its options.

    Raises `SystemExit` where a section lacks a row, or has one too many, or where a section is
    missing.
    """
    entries = {e.name: e for group in PAGES[page] for e in _of_package(group)}
    sections = re.split(r"^(?=##)", page.read_text(encoding="utf8"), flags=re.MULTILINE)
    every = dict(entries)
    text = "".join(_with_defaults(section, entries, every) for section in sections)
    if entries:
        raise SystemExit(f"{page.name} needs a section for each of {sorted(entries)}.")
    return text


def _of_package(group: str) -> Iterator[EntryPoint]:
    yield from (e for e in entry_points(group=group) if e.value.startswith("spacy_cascade"))


def _with_defaults(
    section: str, entries: dict[str, EntryPoint], every: dict[str, EntryPoint]
) -> str:
    """A section whose heading names entries, which have the same options and are taken out.

    Where it says that the other options are those of another entry, these have no rows.
    """
    heading = section.partition("\n")[0]
    of_names = {n: _options(entries.pop(n)) for n in re.findall(r"`([\w.]+)`", heading)}
    others: dict[str, str] = {}
    for name in re.findall(_OTHERS, section):
        others = _options(every[name])
    for name, all_options in of_names.items():
        options = {key: d for key, d in all_options.items() if others.get(key) != d}
        if sorted(re.findall(_ROW, section, re.MULTILINE)) != sorted(options):
            raise SystemExit(f"The section of {name} needs one row each for {sorted(options)}.")
        section = _written(section, options)
    return section


def _written(section: str, options: dict[str, str]) -> str:
    def row(match: re.Match[str]) -> str:
        return f"| `{match[1]}` | {options[match[1]]} |"

    return re.sub(_ROW, row, section, flags=re.MULTILINE)


def _options(entry: EntryPoint) -> dict[str, str]:
    """Options with their defaults, as the tables have them."""
    parameters = inspect.signature(entry.load()).parameters
    if entry.group == "spacy_factories":
        defaults = Language.get_factory_meta(entry.name).default_config
        return {name: shown(defaults[name]) for name in parameters.keys() - {"nlp", "name"}}
    return {
        name: NO_DEFAULT if p.default is inspect.Parameter.empty else shown(p.default)
        for name, p in parameters.items()
    }


def shown(value: Any) -> str:
    """A default as the tables have it: a registered name with its options, or JSON."""
    if isinstance(value, dict) and value:
        name = next(value[key] for key in value if key.startswith("@"))
        options = [
            shown(v) if isinstance(v, dict) else f"`{k}` {shown(v).strip('`')}"
            for k, v in value.items()
            if not k.startswith("@")
        ]
        return ", ".join([f"`{name.removeprefix('spacy_cascade.')}`", *options])
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value)}`"


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(documented(path), encoding="utf8")
