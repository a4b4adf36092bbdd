"""Entities of CoNLL-U in brackets, as GUM and CorefUD have them: `(1-person-new … 1)`.

Format: https://universaldependencies.org/misc.html and https://ufal.mff.cuni.cz/corefud.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..texts import Fail, Pair

_MARK = re.compile(r"\((?P<opened>[^()]+)(?P<alone>\)?)|(?P<closed>[^()]+)\)")
_PART = re.compile(r"(?P<id>.*)\[(?P<part>\d+)/(?P<n>\d+)\]")
_DEFAULT_FIELDS = "eid-etype"

WordSpan = tuple[tuple[Pair, ...], str]
"""Parts of a span, each its first word and its end (exclusive), and the label."""


def bracketed(values: Sequence[str], fields: str | None, fail: Fail) -> list[WordSpan]:
    """The spans of a sentence, in the order in which they end.

    values: the brackets of each word. fields: what stands between the hyphens of an opening
    bracket, as `# global.Entity` says. Raises `CorpusError` for brackets without a partner.
    """
    names = (fields or _DEFAULT_FIELDS).strip().split("-")
    place = names.index("etype") if "etype" in names else 1
    spans: list[WordSpan] = []
    unfinished: dict[str, list[Pair]] = {}
    open_at: list[tuple[str, str, int]] = []

    def close(name: str, label: str, start: int, end: int) -> None:
        part = _PART.fullmatch(name)
        if part is None:
            spans.append((((start, end),), label))
            return
        parts = unfinished.setdefault(part["id"], [])
        parts.append((start, end))
        if part["part"] == part["n"]:
            spans.append((tuple(unfinished.pop(part["id"])), label))

    for word, value in enumerate(values):
        for mark in _MARK.finditer(value):
            if mark["closed"]:
                found = [i for i, one in enumerate(open_at) if one[0] == mark["closed"]]
                if not found:
                    fail(f"the bracket {mark['closed']!r}) was not opened", "Correct it")
                name, label, start = open_at.pop(found[-1])
                close(name, label, start, word + 1)
                continue
            parts = mark["opened"].split("-")
            if len(parts) <= place:
                fail(f"the bracket {mark[0]!r} has no type", "Check # global.Entity")
            if mark["alone"]:
                close(parts[0], parts[place], word, word + 1)
            else:
                open_at.append((parts[0], parts[place], word))
    if open_at:
        fail(f"the bracket ({open_at[0][0]} is not closed in its sentence", "Correct it")
    return spans
