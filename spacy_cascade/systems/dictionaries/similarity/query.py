"""A span as soft TF-IDF searches for it: its words, what they weigh, and which may match together.

The words are entered one before the other, so that spans with the same end are made step by step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....jit import helper, inlined
from ....types import Bools1d, Floats1d, Ints1d, Keys1d, Pointers1d
from .dictionary import MOST_TOKENS
from .seen_words import MOST_CLOSE
from .together import are_together

LEAST = 0.8
"""Smaller similarities do not count."""
_TINY = 1e-9
_LEAST_SQUARE = LEAST * LEAST - _TINY
_ONE = np.uint64(1)


class Query(NamedTuple):
    """A span for the search, with room for the longest one; its words from the last to the first.

    rows: int32, its distinct words by row of the table of seen words. squares: float64 beside them,
    squared weights. place: int64, the token. linked: uint64, a bit for each word that may match
    together with the word. reach: float64, the squared weight of the word and these. Once the span
    is searched for, weights: float64, such that the span has norm 1; kept: as `linked`, without
    those that are not enough with the word; is_enough: bool, whether all together are.
    numbers: int32, the close words of all its words, ascending. word: int32 beside them, the place
    in `rows`. strength: float64, weight of the word times closeness.
    strongest: float64, and bits: uint64, beside rows, of the words that follow a close word.
    """

    rows: Ints1d
    squares: Floats1d
    place: Pointers1d
    linked: Keys1d
    reach: Floats1d
    weights: Floats1d
    kept: Keys1d
    is_enough: Bools1d
    numbers: Ints1d
    word: Ints1d
    strength: Floats1d
    strongest: Floats1d
    bits: Keys1d


@helper
def make_query():  # type: ignore[no-untyped-def]
    n = MOST_TOKENS * MOST_CLOSE
    return Query(
        np.empty(MOST_TOKENS, dtype=np.int32),
        np.empty(MOST_TOKENS),
        np.empty(MOST_TOKENS, dtype=np.int64),
        np.empty(MOST_TOKENS, dtype=np.uint64),
        np.empty(MOST_TOKENS),
        np.empty(MOST_TOKENS),
        np.empty(MOST_TOKENS, dtype=np.uint64),
        np.empty(MOST_TOKENS, dtype=np.bool_),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n),
        np.empty(MOST_TOKENS),
        np.empty(MOST_TOKENS, dtype=np.uint64),
    )


@inlined
def add_word(span, tokens, n, t):  # type: ignore[no-untyped-def]
    """Put token t before the n distinct words of a span; returns how many there are.

    span: `rows`, `squares`, `place`, `linked` and `reach` of the query; tokens: their rows, squared
    weights and `tokens_together`. Both are taken apart here, because reading an array out of a
    larger structure counts a reference each time.
    """
    rows, squares, place, linked, reach = span
    row_of, square_of, together = tokens
    is_new = True
    for k in range(n):
        if rows[k] == row_of[t]:
            is_new = False
    if is_new:
        rows[n], place[n], linked[n] = row_of[t], t, np.uint64(0)
        square = squares[n] = abs(square_of[t])
        reach[n] = square if square_of[t] >= 0.0 else -np.inf
        for k in range(n):
            if are_together(together, place[k], t):
                linked[k] |= _ONE << np.uint64(n)
                linked[n] |= _ONE << np.uint64(k)
                reach[k] += square
                reach[n] += squares[k]
        n += 1
    return n


@inlined
def is_reachable(squares, reach, n):  # type: ignore[no-untyped-def]
    """Whether enough of the n words of a span are, each with those linked to it, enough."""
    total = enough = 0.0
    for k in range(n):
        total += squares[k]
    for k in range(n):
        if reach[k] >= _LEAST_SQUARE * total:
            enough += squares[k]
    return enough > 0.0 and enough >= _LEAST_SQUARE * total


@inlined
def _square(squares, words, n):  # type: ignore[no-untyped-def]
    """Some of the squared weights together; words: a bit for each."""
    square = 0.0
    for k in range(n):
        square += squares[k] * np.float64((words >> np.uint64(k)) & _ONE)
    return square


@helper
def choose(query, n):  # type: ignore[no-untyped-def]
    """Write the weights of the words, and which of them may match; returns whether any.

    Two linked words match together only if they are enough with all words linked to both.
    """
    squares = query.squares
    linked_to = query.linked
    reach = query.reach
    is_enough = query.is_enough
    total = enough = 0.0
    for k in range(n):
        total += squares[k]
    least = _LEAST_SQUARE * total
    for k in range(n):
        query.weights[k] = np.sqrt(squares[k] / total)
        is_enough[k] = reach[k] >= least
        linked, kept = linked_to[k], np.uint64(0)
        if is_enough[k]:
            for other in range(n):
                if (linked >> np.uint64(other)) & _ONE and reach[other] >= least:
                    third = linked & linked_to[other]
                    pair = squares[k] + squares[other]
                    if pair >= least or pair + _square(squares, third, n) >= least:
                        kept |= _ONE << np.uint64(other)
            is_enough[k] = squares[k] + _square(squares, kept, n) >= least
        query.kept[k] = kept
        if is_enough[k]:
            enough += squares[k]
    return enough >= least


@helper
def enter_close(query, table, n):  # type: ignore[no-untyped-def]
    """Write the close words of the words that reach enough; returns how many there are."""
    numbers = query.numbers
    word = query.word
    strength = query.strength
    rows = query.rows
    starts = table.close_starts
    close = table.close
    size = 0
    for k in range(n):
        if not query.is_enough[k]:
            continue
        row = rows[k]
        for c in range(starts[row], starts[row + 1]):
            i = size
            while i > 0 and numbers[i - 1] > close[c]:
                numbers[i], word[i] = numbers[i - 1], word[i - 1]
                strength[i] = strength[i - 1]
                i -= 1
            numbers[i], word[i] = close[c], k
            strength[i] = query.weights[k] * table.closeness[c]
            size += 1
    return size


@helper
def enter_following(query, i, size, n):  # type: ignore[no-untyped-def]
    """Write what can match beside the i-th close word, and after it in order.

    For each word of the span how strongly, and bits of the numbers. Returns the largest similarity
    of all that to a vector of norm 1.
    """
    strongest = query.strongest
    bits = query.bits
    word = query.word
    strength = query.strength
    numbers = query.numbers
    linked = query.kept[word[i]]
    for k in range(n):
        strongest[k], bits[k] = 0.0, np.uint64(0)
    for k in range(i + 1, size):
        other = word[k]
        if (linked >> np.uint64(other)) & _ONE:
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
