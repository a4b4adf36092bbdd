"""What stands around a span: the other spans that were found in its Doc, and brackets.

Attributes of the kind `ContextAttribute` read it. It is known only once the spans of a Doc have
been found, so it is for models that come after the cascade, such as the reranker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..jit import kernel
from ..numeric.hashing import mix
from ..types import Bools1d, Ints2d, Keys1d, Keys2d, Pointers1d, Pointers2d
from .strings import hash_string
from .tokens import Tokens

MOST_COUNTED = 3
"""More occurrences elsewhere count as this many."""
MOST_BETWEEN = 3
"""Gaps of so many words are told apart by their words; all longer gaps are the same."""

_OPENING = np.array([hash_string(text) for text in ("(", "[", "{", "-lrb-")], dtype=np.uint64)
_CLOSING = np.array([hash_string(text) for text in (")", "]", "}", "-rrb-")], dtype=np.uint64)
_NOTHING, _FAR = np.uint64(hash_string("\ue000nothing")), np.uint64(hash_string("\ue000far"))
_ZERO = 1 << 32


class FoundSpans(NamedTuple):
    """Spans found in a batch, in ascending order and without overlap.

    start, end: int64 `[F]`, tokens of the batch. label: uint64 `[F]`, spaCy's hashes.
    """

    start: Pointers1d
    end: Pointers1d
    label: Keys1d

    @classmethod
    def of(cls, bounds: Pointers2d, label: Keys1d) -> FoundSpans:
        """Sort spans and drop each that overlaps an earlier one; bounds: start, end `[F, 2]`."""
        order = np.lexsort((bounds[:, 1], bounds[:, 0]))
        bounds, label = bounds[order], label[order]
        if (bounds[1:, 0] < bounds[:-1, 1]).any():
            kept, free = [], 0
            for i, (start, end) in enumerate(bounds.tolist()):
                if start >= free:
                    kept.append(i)
                    free = end
            bounds, label = bounds[kept], label[kept]
        return cls(bounds[:, 0], bounds[:, 1], label)


_NONE = np.zeros(0, dtype=np.int64)
NONE_FOUND = FoundSpans(_NONE, _NONE, np.zeros(0, dtype=np.uint64))


@kernel
def phrase_keys(words: Keys1d, start: Pointers1d, end: Pointers1d, salt: Keys1d) -> Keys1d:
    """Key of the words from `start` to `end` (exclusive) of each phrase: its salt and all words."""
    keys = np.empty(len(start), dtype=np.uint64)
    for i in range(len(start)):
        key = mix(salt[i], np.uint64(end[i] - start[i] + 1))
        for t in range(start[i], end[i]):
            key = mix(key, words[t])
        keys[i] = key
    return keys


def value_text(value: int, text_of: Callable[[int], str]) -> str:
    """What a value of an attribute says; text_of: gives texts of labels by their hashes."""
    if value in (_NOTHING, _FAR):
        return "nothing" if value == _NOTHING else "far"
    number = value - _ZERO
    return str(number) if abs(number) < _ZERO else text_of(value)


class SpanContext:
    """Spans of a batch, and the spans that were found around them.

    tokens: the batch, with words in lower case. start, end: int64 `[U]`, the spans that are
    asked for. found: the spans that were found, among which may be some of those. text_of: gives
    the texts of words; without it attributes that look at characters say nothing. own_flags: gold
    flags of the tokens in training (`resources.span_flags`), else None.
    """

    def __init__(
        self,
        tokens: Tokens,
        start: Pointers1d,
        end: Pointers1d,
        found: FoundSpans,
        text_of: Callable[[int], str] | None = None,
        own_flags: Ints2d | None = None,
    ) -> None:
        self.tokens = tokens
        self.start, self.end = start, end
        self.found = found
        self.text_of, self.own_flags = text_of, own_flags

    def values(self, attributes: Sequence[Callable[[SpanContext], Keys1d]]) -> Keys2d:
        """Values of attributes, uint64 `[U, C]`, 0 where there is none (`Plan.context`)."""
        columns = [attribute(self) for attribute in attributes]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.start), 0), np.uint64)

    def brackets(self) -> Keys1d:
        """Opening brackets less closing ones among the words of the span."""
        words = self.tokens.lower
        depth = np.isin(words, _OPENING).astype(np.int64) - np.isin(words, _CLOSING)
        total = np.append(0, np.cumsum(depth))
        return _as_values(total[self.end] - total[self.start])

    def elsewhere(self) -> Keys1d:
        """How often the same words were found as a span elsewhere in the Doc, at most three."""
        counts = self._counts_elsewhere()[1].sum(axis=1)
        return _as_values(np.minimum(counts, MOST_COUNTED))

    def type_elsewhere(self) -> Keys1d:
        """The most frequent label of the same words elsewhere in the Doc, if any."""
        labels, counts = self._counts_elsewhere()
        if not len(labels):
            return np.zeros(len(self.start), dtype=np.uint64)
        best: Keys1d = labels[counts.argmax(axis=1)]
        best[~counts.any(axis=1)] = 0
        return best

    def label_over(self, token: Pointers1d) -> Keys1d:
        """Label of the span found over a token, for each span; "nothing" where there is none."""
        neighbour = np.searchsorted(self.found.start, token, side="right") - 1
        is_there = (neighbour >= 0) & (self._found_at(self.found.end, neighbour) > token)
        return self._label(neighbour, is_there)

    def type_before(self) -> Keys1d:
        """Label of the nearest span before this one in its sentence."""
        return self._label(*self._before())

    def type_after(self) -> Keys1d:
        """Label of the nearest span after this one in its sentence."""
        return self._label(*self._after())

    def gap_before(self) -> Keys1d:
        """The words between the span before and this one."""
        neighbour, is_there = self._before()
        gap_start = np.where(is_there, self._found_at(self.found.end, neighbour), self.start)
        return self._between(gap_start, self.start, is_there)

    def gap_after(self) -> Keys1d:
        """The words between this span and the one after."""
        neighbour, is_there = self._after()
        gap_end = np.where(is_there, self._found_at(self.found.start, neighbour), self.end)
        return self._between(self.end, gap_end, is_there)

    def _counts_elsewhere(self) -> tuple[Keys1d, Pointers1d]:
        """Labels, and how often each was given to the same words elsewhere, `[U, L]`."""
        found, n = self.found, len(self.found.start)
        labels, label_number = np.unique(found.label, return_inverse=True)
        start, end = np.append(found.start, self.start), np.append(found.end, self.end)
        doc = _numbers(self.tokens.doc_starts, start).astype(np.uint64)
        keys = phrase_keys(self.tokens.lower, start, end, doc)
        _, phrase = np.unique(keys, return_inverse=True)
        counts = np.zeros((phrase.max(initial=-1) + 1, len(labels)), dtype=np.int64)
        np.add.at(counts, (phrase[:n], label_number), 1)
        elsewhere = counts[phrase[n:]]
        place = np.searchsorted(found.start, self.start)
        own = np.flatnonzero(
            (self._found_at(found.start, place) == self.start)
            & (self._found_at(found.end, place) == self.end)
        )
        elsewhere[own, label_number[place[own]]] -= 1
        return labels, elsewhere

    def _before(self) -> tuple[Pointers1d, Bools1d]:
        """Number of the nearest found span that ends before each, and whether there is one."""
        neighbour = np.searchsorted(self.found.end, self.start, side="right") - 1
        return neighbour, self._in_sentence(neighbour)

    def _after(self) -> tuple[Pointers1d, Bools1d]:
        neighbour = np.searchsorted(self.found.start, self.end)
        return neighbour, self._in_sentence(neighbour)

    def _in_sentence(self, neighbour: Pointers1d) -> Bools1d:
        start = self._found_at(self.found.start, neighbour)
        starts = self.tokens.sequence_starts
        same: Bools1d = _numbers(starts, start) == _numbers(starts, self.start)
        return same & (start >= 0)

    def _found_at(self, values: Pointers1d, number: Pointers1d) -> Pointers1d:
        """Values of found spans by number, -1 where there is no such span."""
        padded = np.concatenate([[-1], values, [-1]])
        return np.asarray(padded[np.clip(number + 1, 0, len(padded) - 1)])

    def _label(self, neighbour: Pointers1d, is_there: Bools1d) -> Keys1d:
        padded = np.append(self.found.label, np.uint64(0))
        return np.where(is_there, padded[np.where(is_there, neighbour, -1)], _NOTHING)

    def _between(self, start: Pointers1d, end: Pointers1d, is_there: Bools1d) -> Keys1d:
        near = is_there & (end - start <= MOST_BETWEEN)
        salt = np.zeros(len(start), dtype=np.uint64)
        keys = phrase_keys(self.tokens.lower, start, np.where(near, end, start), salt)
        return np.where(near, keys, np.where(is_there, _FAR, _NOTHING))


def _numbers(starts: Pointers1d, token: Pointers1d) -> Pointers1d:
    """Which part, of those that begin at the given tokens, each token is in."""
    return np.searchsorted(starts, token, side="right") - 1


def _as_values(numbers: Pointers1d) -> Keys1d:
    """Numbers as values, which are never 0."""
    return (numbers + _ZERO).astype(np.uint64)
