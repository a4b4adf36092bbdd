"""Where else in its Doc a word or a phrase stands, and what the spans of a group say of it there.

For a second pass, which looks at what a first pass found: the majority labels of tokens and of
entities of Krishnan and Manning (2006), "An effective two-stage model for exploiting non-local
dependencies in named entity recognition". An occurrence never sees what was found at its own place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...features.group_spans import GroupSpans
from ...features.span_context import phrase_keys
from ...features.tokens import Tokens
from ...jit import kernel
from ...numeric.index import KeyIndex
from ...types import Bools1d, Floats2d, Ints1d, Keys1d, Pointers1d


class WordsElsewhere(NamedTuple):
    """What other occurrences say of some tokens, int64 `[M]` each but the labels.

    token: which ones, ascending. label: uint64 `[M]`, the most frequent one among the others.
    n_agreeing: how many of the others have it. n_others: how many there are.
    """

    token: Pointers1d
    label: Keys1d
    n_agreeing: Pointers1d
    n_others: Pointers1d


def words_elsewhere(tokens: Tokens, group: GroupSpans, outside: int) -> WordsElsewhere:
    """The other occurrences, in its Doc, of each word that is in a span of the Doc.

    outside: label of occurrences in no span; a label of spans wins where both are as frequent.
    """
    labels, covered = _labels_of_tokens(len(tokens.words), group)
    keys = _word_keys(tokens)
    token, word, n_words = _matches(keys, keys[covered < len(labels)])
    best, n_agreeing, n_others = _majorities(covered[token], word, n_words, len(labels) + 1)
    names = np.append(labels, np.uint64(outside))
    there = np.flatnonzero(n_others)
    return WordsElsewhere(token[there], names[best[there]], n_agreeing[there], n_others[there])


def phrases_elsewhere(tokens: Tokens, group: GroupSpans) -> GroupSpans:
    """The longest phrases that are spans at other places of their Doc, without overlap.

    Each has the label that is given to it there with the largest sum of confidences, and the mean
    of these. Of phrases of the same length that overlap the first one is kept.
    """
    start, end = _windows(tokens, group)
    of_group = _keys(tokens, group.start, group.end)
    window, entry, n_phrases = _matches(_keys(tokens, start, end), of_group)
    start, end = start[window], end[window]
    labels, number = np.unique(group.label, return_inverse=True)
    shape = (n_phrases, len(labels))
    cell = np.unique(of_group, return_inverse=True)[1] * len(labels) + number
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)[entry]
    totals = np.bincount(cell, group.confidence, shape[0] * shape[1]).astype(np.float64)
    sums: Floats2d = totals.reshape(shape)[entry]
    place = np.searchsorted(group.start, start)
    padded = np.append(group.start, -1), np.append(group.end, -1)
    is_own = np.flatnonzero((padded[0][place] == start) & (padded[1][place] == end))
    own = place[is_own]
    counts[is_own, number[own]] -= 1
    sums[is_own, number[own]] -= group.confidence[own]
    sums[counts == 0] = -1.0  # what rounding left is no evidence
    rows = np.arange(len(start))
    best = sums.argmax(axis=1) if len(labels) else rows
    kept = np.flatnonzero(counts.any(axis=1))
    kept = kept[np.lexsort((start[kept], start[kept] - end[kept]))]
    kept = kept[_without_overlap(len(tokens.words), start[kept], end[kept])]
    kept = kept[np.argsort(start[kept])]
    mean = sums[kept, best[kept]] / counts[kept, best[kept]]
    return GroupSpans(start[kept], end[kept], labels[best[kept]], mean)


def _labels_of_tokens(n_tokens: int, group: GroupSpans) -> tuple[Keys1d, Ints1d]:
    """Distinct labels `[L]`, and for each token the number of its span's label, or `L`."""
    labels, number = np.unique(group.label, return_inverse=True)
    covered = np.full(n_tokens, len(labels), dtype=np.int32)
    covered[group.tokens()] = np.repeat(number, group.end - group.start)
    return labels, covered


def _keys(tokens: Tokens, start: Pointers1d, end: Pointers1d) -> Keys1d:
    """Keys of phrases, which differ between Docs."""
    doc = np.searchsorted(tokens.doc_starts, start, side="right").astype(np.uint64)
    return phrase_keys(tokens.lower, start, end, doc)


def _word_keys(tokens: Tokens) -> Keys1d:
    """Keys of all words as phrases of one word."""
    everywhere = np.arange(len(tokens.words))
    doc = np.repeat(np.arange(len(tokens.doc_starts) - 1), np.diff(tokens.doc_starts))
    return phrase_keys(tokens.lower, everywhere, everywhere + 1, (doc + 1).astype(np.uint64))


def _matches(keys: Keys1d, wanted: Keys1d) -> tuple[Pointers1d, Ints1d, int]:
    """Which keys are among the wanted ones, their numbers there, and how many there are."""
    index = KeyIndex(np.unique(wanted))
    number = index.lookup(keys)
    matching = np.flatnonzero(number >= 0)
    return matching, number[matching], len(index)


@kernel
def _majorities(
    label: Ints1d, word: Ints1d, n_words: int, n_labels: int
) -> tuple[Pointers1d, Pointers1d, Pointers1d]:
    """The most frequent label of the other occurrences of a word, for each occurrence `[M]`.

    With `n(t, y) = |{u ≠ t: word(u) = word(t), label(u) = y}|`: the first `y` of the largest
    `n(t, y)`, that number, and the sum of all `n(t, y)`. Krishnan and Manning (2006).
    """
    counts = np.zeros((n_words, n_labels), dtype=np.int64)
    for i in range(len(word)):
        counts[word[i], label[i]] += 1
    best = np.zeros(len(word), dtype=np.int64)
    n_agreeing, n_others = np.zeros_like(best), np.zeros_like(best)
    for i in range(len(word)):
        others = counts[word[i]]
        others[label[i]] -= 1
        for y in range(n_labels):
            n_others[i] += others[y]
            if others[y] > n_agreeing[i]:
                best[i], n_agreeing[i] = y, others[y]
        others[label[i]] += 1
    return best, n_agreeing, n_others


def _windows(tokens: Tokens, group: GroupSpans) -> tuple[Pointers1d, Pointers1d]:
    """As many tokens as a span of the Doc that begins with the same word, wherever that stands."""
    keys = _word_keys(tokens)
    doc_end = np.repeat(tokens.doc_starts[1:], np.diff(tokens.doc_starts))
    lengths = group.end - group.start
    starts, ends = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for length in np.unique(lengths).tolist():
        start, _, _ = _matches(keys, keys[group.start[lengths == length]])
        start = start[start + length <= doc_end[start]]
        starts.append(start)
        ends.append(start + length)
    return np.concatenate(starts), np.concatenate(ends)


@kernel
def _without_overlap(n_tokens: int, start: Pointers1d, end: Pointers1d) -> Bools1d:
    """Which spans, in this order, overlap none of those kept before."""
    taken = np.zeros(n_tokens, dtype=np.bool_)
    kept = np.zeros(len(start), dtype=np.bool_)
    for i in range(len(start)):
        if not taken[start[i] : end[i]].any():
            taken[start[i] : end[i]] = True
            kept[i] = True
    return kept
