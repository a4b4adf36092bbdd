"""Writing JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ....files import replace_file
from ..texts import Mention


def scored(mention: Mention) -> dict[str, float]:
    """The score under its name; empty without one."""
    return {} if mention.score is None else {"score": mention.score}


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write JSON Lines."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    replace_file(path, "".join(lines).encode())


def write_value(path: Path, value: object) -> None:
    """Write one JSON value."""
    replace_file(path, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())
