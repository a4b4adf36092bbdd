"""Entities of CoNLL-U in brackets, as GUM and CorefUD have them: `(1-person-new … 1)`.

Format: https://universaldependencies.org/misc.html and https://ufal.mff.cuni.cz/corefud.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..texts import Fail, Pair

_PIECE = re.compile(r"[()]|[^()]+")
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
    open_at: dict[str, list[tuple[str, int]]] = {}

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
        pieces = _PIECE.findall(value)
        for before, piece, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
            if piece in ("(", ")"):
                continue
            if before == "(":
                parts = piece.split("-")
                if len(parts) <= place:
                    fail(f"the bracket '({piece}' has no type", "Check # global.Entity")
                if after == ")":
                    close(parts[0], parts[place], word, word + 1)
                else:
                    open_at.setdefault(parts[0], []).append((parts[place], word))
            elif after == ")":
                if piece not in open_at:
                    fail(f"the bracket {piece!r}) was not opened", "Correct it")
                label, start = open_at[piece].pop()
                close(piece, label, start, word + 1)
                if not open_at[piece]:
                    del open_at[piece]
    if open_at:
        fail(f"the bracket ({next(iter(open_at))} is not closed in its sentence", "Correct it")
    return spans
