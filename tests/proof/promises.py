"""What SECURITY.md says, sentence by sentence, and the tests that try it: `promises.txt`."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "SECURITY.md"
TABLE = Path(__file__).with_name("promises.txt")
_INDENTED = "    "


def sentences(page: str) -> list[str]:
    """Those of a page in Markdown, without headings; cells of a row follow each other."""
    found: list[str] = []
    for block in re.split(r"\n\n|\n(?=- )", page):
        if block.startswith("#"):
            continue
        lines = block.splitlines()
        if block.startswith("|"):
            texts = [
                ": ".join(cell.strip() for cell in line.split("|")[1:-1]) for line in lines[2:]
            ]
        else:
            texts = [" ".join(lines).removeprefix("- ")]
        found += [each for text in texts for each in re.split(r"(?<=\.)\s+(?=[A-Z`\[])", text)]
    return [" ".join(sentence.replace("*", "").split()) for sentence in found]


def promises(table: str) -> dict[str, list[str]]:
    """By sentence: the tests that try it, as pytest names them, or after `-` why there are none."""
    found: dict[str, list[str]] = {}
    sentence = ""
    for line in filter(None, table.splitlines()):
        if line.startswith(_INDENTED):
            found[sentence].append(line.strip())
        else:
            sentence = line
            found[sentence] = []
    return found
