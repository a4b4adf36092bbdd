"""Which columns of a file have the words and the tags of entities, where nobody says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .rows import Rows
from .tags import NO_SPAN, is_io, split_tag

_SHORTEST_INDEX = 3
"""Shorter sentences of numbers may be text."""
_SHARE = 0.9
"""Of the values of a column of tags that are tags; the others are errors."""
_CHUNKS = frozenset(
    ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP", "NC", "VC",
     "PC", "AP", "MWP")
)  # fmt: skip
"""Labels of phrases, which tools for chunks write into a column of tags."""
_LANGUAGE = re.compile(r"([a-z]{2,3}(-[a-z-]+)?|simple):")


class TagColumn(NamedTuple):
    """A column that looks like tags of entities.

    has_prefixes: whether tags have B, I and such. phrases: their number. place: of the column.
    """

    has_prefixes: bool
    phrases: int
    place: int


def is_index(sample: Sequence[Rows], column: int) -> bool:
    """Whether the values of every sentence are 0, 1, 2 … or 1, 2, 3 …."""
    if max(map(len, sample), default=0) < _SHORTEST_INDEX:
        return False
    values = ([row[column] for row in rows] for rows in sample)
    return all(
        any(found == [str(i + first) for i in range(len(found))] for first in (0, 1))
        for found in values
    )


def word_column(sample: Sequence[Rows], width: int) -> int:
    """The first column that does not only number the words."""
    return next((column for column in range(width) if not is_index(sample, column)), 0)


def tag_columns(sample: Sequence[Rows], word: int, width: int) -> list[TagColumn]:
    """The columns that look like tags of entities, the best one first; chunks are no entities.

    That is the one with the most phrases, the last of several such. Tags with prefixes are better.
    """
    found = []
    for column in range(width):
        tags = [[row[column].strip(" ") for row in rows] for rows in sample]
        is_types = is_io({text for row in tags for text in row})
        labels = _labels(tags, is_types=is_types)
        if column != word and labels and not set(labels) <= _CHUNKS:
            found.append(TagColumn(not is_types, len(labels), column))
    return sorted(found, reverse=True)


def as_told(found: Sequence[TagColumn]) -> str:
    """Which of several columns is read, and how to read another one."""
    best, *others = found
    texts = [f"entity tags are read from column {best.place}, which has {best.phrases:,} phrases"]
    texts += [
        f"column {one.place} looks like tags, too, and has {one.phrases:,}: "
        f"--tag-column {one.place} reads it" for one in others
    ]  # fmt: skip
    return "; ".join(texts)


def _labels(sentences: Sequence[Sequence[str]], *, is_types: bool) -> list[str]:
    """The label of each phrase; none if the values are no tags."""
    phrases = []
    n, n_bad = 0, 0
    for tags in sentences:
        before = ""
        n += len(tags)
        for text in tags:
            prefix, label = ("I", text) if is_types else split_tag(text)
            if text in NO_SPAN or not prefix:
                n_bad += text not in NO_SPAN
                label = ""
            elif prefix in ("B", "U") or label != before:
                phrases.append(label)
            before = label
    return phrases if n_bad <= (1 - _SHARE) * n else []


def have_languages(words: Sequence[str]) -> bool:
    """Whether all words have a language in front, as in `fr:Mira` of WikiANN."""
    return len(words) >= _SHORTEST_INDEX and all(map(_LANGUAGE.match, words))


def without_language(word: str) -> str:
    return _LANGUAGE.sub("", word, count=1)
