"""Attributes of the token that say what the spans of a group are elsewhere in its Doc.

A value is a label with a small code that says how sure it is; `O` stands for tokens outside of
spans. The code is in the upper bits, because spaCy gives small numbers to some labels, such as LOC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...features.attributes import TextOf
from ...features.group_attributes import GroupAttribute
from ...features.group_spans import OUTSIDE
from ...features.tokens import Tokens
from ...types import Ints2d, Keys1d
from .occurrences import phrases_elsewhere, words_elsewhere

_STEPS = np.array([0.5, 0.7, 0.85, 0.95])
_STEP_NAMES = ("below 50 %", "50-70 %", "70-85 %", "85-95 %", "above 95 %")
_CODE_SHIFT = 56
_CONTINUES = 16
"""Added to the code of tokens that are not the first one of their phrase."""


class _CodedLabel(GroupAttribute):
    """One whose values are labels with codes."""

    reads: ClassVar[tuple[str, ...]] = ("lower",)
    codes: ClassVar[Mapping[int, str]] = {}
    """What the codes in values say, for readers."""

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        for code, meaning in self.codes.items():
            label = value ^ code << _CODE_SHIFT
            text = text_of(label)
            if not text.startswith("#"):  # which an unknown hash is shown with
                return f"{text} {meaning}"
        return text_of(value)


class WordElsewhere(_CodedLabel):
    """`word_elsewhere(KEY)`: the label that most other occurrences of the word in the Doc have.

    With how many of them agree: all, most (70 % or more), or fewer. Upper and lower case do not
    count. Nothing for words that no span of the Doc has, and for words that occur once.
    """

    codes: ClassVar[Mapping[int, str]] = {1: "always", 2: "mostly", 3: "sometimes"}
    most: ClassVar[float] = 0.7

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        found = words_elsewhere(tokens, tokens.groups[self.key].disjoint, OUTSIDE)
        share = found.n_agreeing / np.maximum(found.n_others, 1)
        code = 1 + (share < 1).astype(np.uint64) + (share < self.most).astype(np.uint64)
        values = np.zeros(len(tokens.words), dtype=np.uint64)
        values[found.token] = _coded(found.label, code)
        return values


class PhraseElsewhere(_CodedLabel):
    """`phrase_elsewhere(KEY)`: the label of the longest phrase that is a span elsewhere in the Doc.

    In steps of the mean confidence there; a group without confidences counts as sure. Tokens that
    are not the first one of the phrase have other values. Upper and lower case do not count.
    Nothing for tokens that are in no such phrase.
    """

    codes: ClassVar[Mapping[int, str]] = {
        1 + step + place: f"{where}, {name}"
        for step, name in enumerate(_STEP_NAMES)
        for place, where in ((0, "begins"), (_CONTINUES, "continues"))
    }

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        values = np.zeros(len(tokens.words), dtype=np.uint64)
        found = phrases_elsewhere(tokens, tokens.groups[self.key].disjoint)
        lengths, inside = found.end - found.start, found.tokens()
        continues = inside > np.repeat(found.start, lengths)
        code = 1 + np.digitize(found.confidence, _STEPS).astype(np.uint64)
        codes = np.repeat(code, lengths) + continues * np.uint64(_CONTINUES)
        values[inside] = _coded(np.repeat(found.label, lengths), codes)
        return values


def _coded(labels: Keys1d, codes: Keys1d) -> Keys1d:
    coded: Keys1d = labels ^ codes << np.uint64(_CODE_SHIFT)
    return coded
