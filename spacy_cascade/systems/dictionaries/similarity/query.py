"""A span as a search by words sees it: its words, what they weigh, and which may match together.

The words are entered one before the other, so that spans with the same end are made step by step.
A span can be similar to a term only if enough of its words stand in it, and so each of them stands
in some term with enough of the others. Pairs of words that do are kept in a filter
(`numeric.key_filter`): most spans are passed over by it.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ....jit import helper, inlined, kernel, maker
from ....numeric.hashing import mix
from ....numeric.key_filter import KeyFilter, empty_filter, let_through, may_have
from ....types import Floats1d, Ints1d, Keys1d, Pointers1d
from .dictionary import MOST_TOKENS, TermDictionary
from .seen_words import MOST_CLOSE, Matches

_ONE, _ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


def pairs_of(dictionary: TermDictionary) -> KeyFilter:
    """The pairs of a dictionary, which all measures over it share."""
    if dictionary not in _PAIRS:
        sizes = np.diff(dictionary.sets.indptr)
        pairs = empty_filter(int((sizes * (sizes - 1) // 2).sum()))
        _fill(pairs, dictionary.sets.indptr, dictionary.sets.indices)
        _PAIRS[dictionary] = pairs
    return _PAIRS[dictionary]


_PAIRS: WeakKeyDictionary[TermDictionary, KeyFilter] = WeakKeyDictionary()


@inlined
def _pair(low, high):  # type: ignore[no-untyped-def]
    """The key of two words."""
    return mix(np.uint64(low) << np.uint64(32), np.uint64(high))


@kernel
def _fill(pairs: KeyFilter, starts: Pointers1d, sets: Ints1d) -> None:
    for term in range(len(starts) - 1):
        for i in range(starts[term], starts[term + 1]):
            for j in range(i + 1, starts[term + 1]):
                let_through(pairs, _pair(sets[i], sets[j]))


@helper
def _may_match(pairs, starts, numbers, one, other):  # type: ignore[no-untyped-def]
    """Whether two rows may match different words of one term."""
    for i in range(starts[one], starts[one + 1]):
        for j in range(starts[other], starts[other + 1]):
            low, high = min(numbers[i], numbers[j]), max(numbers[i], numbers[j])
            if low < high and may_have(pairs, _pair(low, high)):
                return True
    return False


class Together(NamedTuple):
    """For each token bits for those after it, uint64 `[T]`: bit k is for that k places after.

    linked: those that may stand in one term with it. same: those that are the same word.
    """

    linked: Keys1d
    same: Keys1d


@kernel
def tokens_together(pairs: KeyFilter, rows: Ints1d, matches: Matches, longest: int) -> Together:
    """The bits below `longest`. rows: int32 `[T]`, of `matches`."""
    starts, numbers = matches.starts, matches.numbers
    linked, same = np.zeros((2, len(rows)), dtype=np.uint64)
    for t in range(len(rows)):
        for distance in range(1, min(longest, MOST_TOKENS, len(rows) - t)):
            bit = _ONE << np.uint64(distance)
            if rows[t] == rows[t + distance]:
                same[t] |= bit
            if _may_match(pairs, starts, numbers, rows[t], rows[t + distance]):
                linked[t] |= bit
    return Together(linked, same)


class Query(NamedTuple):
    """A span for the search, with room for the longest one; its words from the last to the first.

    rows: int32, its distinct words by row of the table of seen words. squares: float64 beside them,
    squared weights. place: int64, the token. reach: float64, the squared weight of the word and of
    those that may match together with it. Once the span is searched for, weights: float64, such
    that the span has norm 1.
    numbers: int32, what all its words match, ascending. word: int32 beside them, the place in
    `rows`. strength: float64, weight of the word times closeness.
    strongest: float64, and bits: uint64, beside rows, of the words that follow a matching word.
    """

    rows: Ints1d
    squares: Floats1d
    place: Pointers1d
    reach: Floats1d
    weights: Floats1d
    numbers: Ints1d
    word: Ints1d
    strength: Floats1d
    strongest: Floats1d
    bits: Keys1d


@maker
def make_query():  # type: ignore[no-untyped-def]
    """A query of these words with their weights."""
    n = MOST_TOKENS * MOST_CLOSE
    return Query(
        np.empty(MOST_TOKENS, dtype=np.int32),
        np.empty(MOST_TOKENS),
        np.empty(MOST_TOKENS, dtype=np.int64),
        np.empty(MOST_TOKENS),
        np.empty(MOST_TOKENS),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n),
        np.empty(MOST_TOKENS),
        np.empty(MOST_TOKENS, dtype=np.uint64),
    )


@helper
def add_word(query, row_of, square_of, together, n, t, end):  # type: ignore[no-untyped-def]
    """Put token t before the n distinct words of a span that ends before `end`; how many there are.

    row_of, square_of: rows and squared weights of the tokens, negative where nothing matches.
    """
    within = _ALL >> np.uint64(MOST_TOKENS - (end - t))
    if together.same[t] & within:
        return n
    square = abs(square_of[t])
    reach = square if square_of[t] >= 0.0 else -np.inf
    linked = together.linked[t]
    if linked & within:
        for k in range(n):
            if (linked >> np.uint64(query.place[k] - t)) & _ONE:
                query.reach[k] += square
                reach += query.squares[k]
    query.rows[n], query.place[n], query.squares[n], query.reach[n] = row_of[t], t, square, reach
    return n + 1


@helper
def is_reachable(query, n, least):  # type: ignore[no-untyped-def]
    """Whether enough of the n words of a span are, each with those linked to it, enough.

    least: the sum of squared weights that is.
    """
    enough = 0.0
    for k in range(n):
        if query.reach[k] >= least:
            enough += query.squares[k]
    return enough > 0.0 and enough >= least


@helper
def enter_close(query, matches, n, total, least):  # type: ignore[no-untyped-def]
    """Write the weights of the words, such that the span has norm 1, and what they match.

    total, least: sum of the squared weights, and what of it is enough; words that do not reach that
    are passed over. Returns how many matching words there are.
    """
    numbers = query.numbers
    word = query.word
    strength = query.strength
    rows = query.rows
    starts = matches.starts
    close = matches.numbers
    closeness = matches.closeness
    size = 0
    for k in range(n):
        query.weights[k] = np.sqrt(query.squares[k] / total)
        if query.reach[k] < least:
            continue
        row = rows[k]
        for c in range(starts[row], starts[row + 1]):
            i = size
            while i > 0 and numbers[i - 1] > close[c]:
                numbers[i], word[i] = numbers[i - 1], word[i - 1]
                strength[i] = strength[i - 1]
                i -= 1
            numbers[i], word[i] = close[c], k
            strength[i] = query.weights[k] * closeness[c]
            size += 1
    return size


@helper
def enter_following(query, linked, i, size, n):  # type: ignore[no-untyped-def]
    """Write what can match beside the i-th matching word, and after it in order.

    linked: of `Together`. For each word of the span how strongly, and bits of the numbers. Returns
    the largest similarity of all that to a vector of norm 1.
    """
    strongest = query.strongest
    bits = query.bits
    word = query.word
    strength = query.strength
    numbers = query.numbers
    place = query.place
    own = place[word[i]]
    for k in range(n):
        strongest[k], bits[k] = 0.0, np.uint64(0)
    for k in range(i + 1, size):
        other = word[k]
        first, last = min(own, place[other]), max(own, place[other])
        if (linked[first] >> np.uint64(last - first)) & _ONE:
            strongest[other] = max(strongest[other], strength[k])
            bits[other] |= _ONE << np.uint64(numbers[k] & 63)
    square = 0.0
    for k in range(n):
        square += strongest[k] ** 2
    return np.sqrt(square)


@inlined
def following_in(bits, strongest, sign, n):  # type: ignore[no-untyped-def]
    """The same for a term with this sign; bits, strongest: of the query."""
    square = 0.0
    for k in range(n):
        if bits[k] & sign:
            square += strongest[k] ** 2
    return np.sqrt(square)
