"""Write what components declare of their options into the tables of docs/components.md.

python scripts/document_options.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from spacy_cascade.pipeline.declared import DECLARED

PAGE = Path(__file__).parents[1] / "docs" / "components.md"


def documented(page: str) -> str:
    """The page with the rows of all declared options as they are declared."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return "".join(map(_with_rows, parts))


def _with_rows(section: str) -> str:
    heading = re.match(r"## `(\w+)`", section)
    if heading is None:
        return section
    options = DECLARED[heading[1]]
    for name, default in options.defaults().items():
        row = f"| `{name}` | `{json.dumps(default)}` | {options.texts()[name]} |"
        section, n = re.subn(rf"^\| `{name}` \|.*$", lambda _: row, section, flags=re.MULTILINE)  # noqa: B023
        if n != 1:
            raise SystemExit(f"{PAGE.name} needs one row for '{name}' of {heading[1]}, not {n}.")
    return section


if __name__ == "__main__":
    PAGE.write_text(documented(PAGE.read_text(encoding="utf8")), encoding="utf8")
