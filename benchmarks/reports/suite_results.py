"""The results of the suite: a line of JSON for each training, and what follows from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
"""A training with its scores. `corpus`, `system`, `setting` and `input` are its key."""
Key = tuple[str, str, str, str]


def key_of(entry: Entry) -> Key:
    return entry["corpus"], entry["system"], entry["setting"], entry["input"]


def read_entries(path: Path) -> list[Entry]:
    """The entries of a file, the last one of each key; none without a file.

    A run may be killed while it writes: a line that is cut short is left out.
    """
    if not path.exists():
        return []
    found: dict[Key, Entry] = {}
    for line in path.read_text(encoding="utf8").split("\n"):
        if not line.endswith("}"):
            continue
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[key_of(entry)] = entry
    return list(found.values())


def add_entry(path: Path, entry: Entry) -> None:
    """Append an entry as a line of its own, also after a line that was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
