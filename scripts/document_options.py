"""Write the settings of components and their defaults into the tables of docs/components.md.

The names come from the signature of a factory, the defaults from its default config; what a setting
means is written in the table itself.

python scripts/document_options.py
"""

from __future__ import annotations

import inspect
import json
import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from spacy.language import Language

PAGE = Path(__file__).parents[1] / "docs" / "components.md"
_ROW = r"^\| `(\w+)` \| .*? \|(?= )"
"""Name and default of an option."""


def documented(page: str) -> str:
    """The page with the default of each option of each factory."""
    return "".join(map(_with_defaults, re.split(r"^(?=## )", page, flags=re.MULTILINE)))


def _with_defaults(section: str) -> str:
    heading = re.match(r"## `(\w+)`", section)
    if heading is None:
        return section
    (entry,) = entry_points(group="spacy_factories", name=heading[1])
    names = inspect.signature(entry.load()).parameters.keys() - {"nlp", "name"}
    if names != set(re.findall(_ROW, section, re.MULTILINE)):
        raise SystemExit(f"{PAGE.name} needs a row for each of {sorted(names)} of {entry.name}.")
    defaults = Language.get_factory_meta(entry.name).default_config
    return re.sub(
        _ROW, lambda row: f"| `{row[1]}` | {shown(defaults[row[1]])} |", section, flags=re.MULTILINE
    )


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
    PAGE.write_text(documented(PAGE.read_text(encoding="utf8")), encoding="utf8")
