"""Counts of words in training: how often each stood inside, first or last in a span.

A dictionary made from the training data, in which a Doc never sees its own entries:
while a Doc is trained on, its own occurrences are taken off the counts, so that the
model learns how far to trust them (the thought behind the dictionaries of Cohen and
Sarawagi 2004, section 4.3). When annotating, nothing is taken off.

The counts of a word are packed into one small code. A lexeme is a word with its code, so
features of the counts are computed once a lexeme like those of the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..numeric.arrays import Array, Arrays, Shapes
from ..numeric.index import KeyIndex
from ..types import Bools1d, Ints2d, Keys1d, Pointers1d, Pointers2d
from .resources import FlaggedTokens, Resource
from .tokens import Tokens

SHARES = ("seen_inside", "seen_first", "seen_last", "seen_continued")
"""Attributes: share of a word's occurrences inside a span, first, last, or inside not first."""
_SHARE_STEPS = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
_MOST = 4
"""Counts are told apart as 0, 1, 2-3, 4-7 and more."""
_SIZES = ("0", "1", "2-3", "4-7", "8+")
_BASE = 16


def share_value(code: int, share: int) -> str:
    """The value of attribute `SHARES[share]` under a code: size of the count, and the share."""
    return f"{code % _BASE}/{code // _BASE ** (share + 1) % _BASE}"


def share_text(code: int, share: int) -> str:
    """The value of attribute `SHARES[share]` under a code, for readers: `75-90 % of 8+`."""
    size, step = code % _BASE, code // _BASE ** (share + 1) % _BASE
    if size == 0:
        return "never seen"
    bounds = [0.0, *_SHARE_STEPS.tolist(), 1.0]
    low, high = (round(100 * bound) for bound in bounds[step - 1 : step + 1])
    return f"{low}-{high} % of {_SIZES[size]}"


def span_flags(n_tokens: int, spans: Pointers2d, observed: Bools1d) -> Ints2d:
    """For each token 1, and whether it is inside, first, last or continued, int32 `[T, 5]`.

    spans: int64 `[P, 2]`, start and end. observed: bool `[T]`; other tokens count nothing.
    """
    flags = np.zeros((n_tokens, 1 + len(SHARES)), dtype=np.int32)
    flags[:, 0] = observed
    start, end = spans[:, 0], spans[:, 1]
    flags[:, 1] = _covered(n_tokens, start, end)
    flags[start, 2] = 1
    flags[end - 1, 3] = 1
    flags[:, 4] = _covered(n_tokens, start + 1, end)
    return flags


def _covered(n_tokens: int, start: Pointers1d, end: Pointers1d) -> Bools1d:
    begun = np.bincount(start, minlength=n_tokens + 1) - np.bincount(end, minlength=n_tokens + 1)
    return np.cumsum(begun)[:n_tokens] > 0


class SpanWordCounts(Resource):
    """Counts of words in lower case; counts int32 `[V, 5]` in the order of `index`."""

    gives_codes = True

    def __init__(self, index: KeyIndex, counts: Ints2d) -> None:
        self.index, self.counts = index, counts
        # The last one is the code of words never seen.
        self._code_of_entry = np.append(_pack(counts), np.uint64(0))

    @classmethod
    def empty(cls) -> SpanWordCounts:
        return cls(KeyIndex(), np.zeros((0, 1 + len(SHARES)), dtype=np.int32))

    @classmethod
    def count(cls, lower: Keys1d, flags: Ints2d) -> SpanWordCounts:
        """Count the words of a corpus; lower: uint64 `[T]`, flags: `span_flags`."""
        words, inverse = np.unique(lower, return_inverse=True)
        return cls(KeyIndex(words), _sums(inverse, flags, len(words)))

    def learn(self, tokens: Tokens, flags: Ints2d) -> SpanWordCounts:
        return self.count(tokens.lower, flags)

    def learn_in_blocks(self, blocks: FlaggedTokens) -> SpanWordCounts:
        counted, new, n_new = self.empty(), [self.empty()], 0
        for tokens, flags in blocks():
            new.append(self.count(tokens.lower, flags))
            n_new += len(new[-1].index)
            # Rarely, for it takes as long as all words that are known are many.
            if n_new > len(counted.index):
                counted, new, n_new = _added([counted, *new]), [], 0
        return _added([counted, *new])

    def add(self, tokens: Tokens, flags: Ints2d) -> SpanWordCounts:
        return _added([self, self.count(tokens.lower, flags)])

    def codes(self, tokens: Tokens, own_flags: Ints2d | None = None) -> Keys1d:
        """The code of each token, uint64 `[T]`.

        With own_flags, the tokens were counted themselves: the counts of each Doc are then taken
        off for its own tokens.
        """
        lower, doc_starts = tokens.lower, tokens.doc_starts
        if len(self.index) == 0:
            return np.zeros(len(lower), dtype=np.uint64)
        entries = self.index.lookup(lower)
        if own_flags is None:
            return np.asarray(self._code_of_entry[entries])
        counts = np.where(entries[:, None] >= 0, self.counts[entries], 0)
        docs = np.repeat(np.arange(len(doc_starts) - 1), np.diff(doc_starts))
        pairs = entries.astype(np.int64) * len(doc_starts) + docs
        found, inverse = np.unique(pairs, return_inverse=True)
        others = counts - _sums(inverse, own_flags, len(found))[inverse]
        # A Doc that was never counted has nothing to be taken off.
        return _pack(np.where((others >= 0).all(axis=1, keepdims=True), others, counts))

    def arrays(self) -> Arrays:
        return {"keys": self.index.keys, "counts": self.counts}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        n_words = arrays["keys"].size if "keys" in arrays else 0
        return {"keys": ((n_words,), "u8"), "counts": ((n_words, 1 + len(SHARES)), "i4")}

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> SpanWordCounts:
        return cls(KeyIndex(arrays["keys"].astype(np.uint64)), arrays["counts"].astype(np.int32))


def _added(parts: Sequence[SpanWordCounts]) -> SpanWordCounts:
    """Counts of several parts of a corpus together."""
    words = np.concatenate([part.index.keys for part in parts])
    unique, inverse = np.unique(words, return_inverse=True)
    counts = np.concatenate([part.counts for part in parts])
    return SpanWordCounts(KeyIndex(unique), _sums(inverse, counts, len(unique)))


def _sums(groups: Pointers1d, flags: Ints2d, n_groups: int) -> Ints2d:
    columns = [np.bincount(groups.reshape(-1), column, n_groups) for column in flags.T]
    return np.stack(columns, axis=1).astype(np.int32)


def _pack(counts: Ints2d) -> Keys1d:
    """Codes of counts: size of the count, then a step for each share, four bits each."""
    occurrences = counts[:, 0]
    size = np.minimum(_MOST, np.ceil(np.log2(occurrences + 1.0))).astype(np.uint64)
    codes: Keys1d = size.copy()
    for share in range(len(SHARES)):
        value = counts[:, 1 + share] / np.maximum(occurrences, 1)
        step = np.digitize(value, _SHARE_STEPS) + (occurrences > 0)
        codes += step.astype(np.uint64) * np.uint64(_BASE ** (share + 1))
    return codes
