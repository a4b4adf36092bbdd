"""The soft TF-IDF similarity of a span to its nearest term (Cohen, Ravikumar and Fienberg 2003).

The cosine of the vectors of their distinct words, weighted by the inverse document frequency in the
dictionary, where words match that are close (`seen_words`), not only equal ones:

    s(x, y) = sum of weight(w) weight(v) closeness(w, v) over matches / (|x| |y|)

A word is in one match at most. Equal words match first; then each other word of the span, from the
last to the first, with the word of the term that adds most ("A comparison of string distance
metrics for name-matching tasks").

Terms are looked at by their rarest matching word. The norms of what follows it bound the similarity
(Bayardo, Ma and Srikant 2007, "Scaling up all pairs similarity search").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....jit import helper, inlined, kernel
from ....numeric.hashing import mix
from ....types import Floats1d, Ints1d, Keys1d, Keys2d, Pointers1d, Reals1d
from .characters import Bytes1d
from .dictionary import MOST_TOKENS, TermDictionary
from .jaccard import signs_of
from .memory import MISSING, first_key, recall, remember
from .seen_words import Seen
from .spans import AskedSpans, Found, enter_found, make_found
from .weighted_query import (
    LEAST,
    add_word,
    choose,
    enter_close,
    enter_following,
    following_in,
    is_reachable,
    make_query,
)

_STEPS = 255.0
_TINY = 1e-9
_ONE, _BYTE, _TERM = np.uint64(1), np.uint64(255), np.uint64(24)


class TfIdfIndex(NamedTuple):
    """Terms by their words, those first of which most follows the word.

    set_starts, sets: the distinct words of each term, the rarest first. weights: float64 `[V]`.
    weight_of_unknown: of words that the dictionary does not have. norms: float32 `[N]`. starts:
    int64 `[V + 1]`, the postings of each word. postings: uint64 `[P, 2]`, each posting as the
    term's sign (`jaccard.signs_of`) and four numbers in one: its number above 24 bits, and in
    255ths and rounded up three norms in the term of norm 1: that of the word and all after it, that
    of the word, and that of all after it. Side by side they are one place in memory.
    """

    set_starts: Pointers1d
    sets: Ints1d
    weights: Floats1d
    weight_of_unknown: float
    norms: Reals1d
    starts: Pointers1d
    postings: Keys2d

    @classmethod
    def of(cls, dictionary: TermDictionary) -> TfIdfIndex:
        sets, weights = dictionary.sets, dictionary.weights
        squares = weights[sets.indices] ** 2
        sums = np.append(0.0, np.cumsum(squares))
        totals = sums[sets.indptr[1:]] - sums[sets.indptr[:-1]]
        sizes = np.diff(sets.indptr)
        ends, total = np.repeat(sums[sets.indptr[1:]], sizes), np.repeat(totals, sizes)
        suffix = _rounded_up((ends - sums[:-1]) / total)
        useful = np.flatnonzero(suffix >= LEAST * _STEPS)
        order = useful[np.lexsort((-suffix[useful].astype(np.int16), sets.indices[useful]))]
        terms = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[order]
        numbers = terms.astype(np.uint64)
        for squares_of in (ends - sums[:-1], squares, ends - sums[1:]):
            of_postings = _rounded_up((squares_of / total)[order]).astype(np.uint64)
            numbers = numbers << np.uint64(8) | of_postings
        counts = np.bincount(sets.indices[order], minlength=len(weights))
        return cls(
            sets.indptr,
            sets.indices,
            weights,
            dictionary.weight_of_unknown,
            np.sqrt(totals).astype(np.float32),
            np.append(0, np.cumsum(counts)),
            np.stack([signs_of(sets)[terms], numbers], axis=1),
        )


def _rounded_up(squares: Floats1d) -> Bytes1d:
    """Roots of squares up to 1 in 255ths; a little more for what sums of many lose by rounding."""
    roots = np.sqrt(np.maximum(squares, 0.0) + _TINY)
    return np.minimum(np.ceil(_STEPS * roots), _STEPS).astype(np.uint8)


@helper
def _similarity(index, table, query, n, term):  # type: ignore[no-untyped-def]
    """Of a span with n distinct words to a term."""
    sets = index.sets
    weights = index.weights
    number = table.number
    starts = table.close_starts
    close = table.close
    closeness = table.closeness
    rows = query.rows
    of_span = query.weights
    begin, end = index.set_starts[term], index.set_starts[term + 1]
    matched = used = np.uint64(0)
    total = 0.0
    for k in range(n):
        for j in range(begin, end):
            if number[rows[k]] == sets[j]:
                matched |= _ONE << np.uint64(k)
                used |= _ONE << np.uint64(j - begin)
                total += of_span[k] * weights[sets[j]]
    for k in range(n):
        if matched & (_ONE << np.uint64(k)):
            continue
        row = rows[k]
        best, place = 0.0, -1
        for c in range(starts[row], starts[row + 1]):
            for j in range(begin, end):
                if close[c] == sets[j] and not used & (_ONE << np.uint64(j - begin)):
                    gain = closeness[c] * weights[sets[j]]
                    if gain > best or (gain == best and j - begin < place):
                        best, place = gain, j - begin
        if place >= 0:
            used |= _ONE << np.uint64(place)
            total += of_span[k] * best
    return total / index.norms[term]


@inlined
def _norm(numbers, shift):  # type: ignore[no-untyped-def]
    return np.float64((numbers >> np.uint64(shift)) & _BYTE) / _STEPS


@helper
def _nearest(index, table, query, n, owner, doc):  # type: ignore[no-untyped-def]
    """Nearest term of the span with n distinct words in `query`, and its similarity."""
    starts = index.starts
    postings = index.postings
    strengths = query.strength
    bits = query.bits
    strongest = query.strongest
    size = enter_close(query, table, n)
    best, found = 0.0, -1
    least = LEAST - _TINY
    for i in range(size):
        strength = strengths[i]
        after = enter_following(query, i, size, n)
        norm = np.sqrt(strength * strength + after * after)
        if norm < least or norm <= best:
            continue
        number = query.numbers[i]
        for p in range(starts[number], starts[number + 1]):
            sign, numbers = postings[p, 0], postings[p, 1]
            bound = norm * _norm(numbers, 16)
            if bound < least or bound <= best:
                break
            own, rest = _norm(numbers, 8), _norm(numbers, 0)
            bound = strength * own + after * rest
            if bound < least or bound <= best:
                continue
            bound = strength * own + following_in(bits, strongest, sign, n) * rest
            if bound < least or bound <= best:
                continue
            term = np.int64(numbers >> _TERM)
            if len(owner) and owner[term] == doc:
                continue
            value = _similarity(index, table, query, n, term)
            if value > best and value >= least:
                best, found = value, term
    return found, best


@helper
def _squares(index, seen):  # type: ignore[no-untyped-def]
    """Squared weight of each token; negative where no word of the dictionary is close to it."""
    squares = np.empty(len(seen.rows))
    for t in range(len(seen.rows)):
        row = seen.rows[t]
        number = seen.table.number[row]
        squares[t] = index.weight_of_unknown**2 if number < 0 else index.weights[number] ** 2
        if seen.table.close_starts[row] == seen.table.close_starts[row + 1]:
            squares[t] = -squares[t]
    return squares


@kernel
def search_by_weight(
    index: TfIdfIndex,
    together: Keys1d,
    seen: Seen,
    asked: AskedSpans,
    edges: Floats1d,
    memory: Keys1d,
) -> Found:
    """As `jaccard.search_by_words`."""
    found = make_found(len(asked.start))
    query = make_query()
    span = query.rows, query.squares, query.place, query.linked, query.reach
    tokens = seen.rows, _squares(index, seen), together
    n, key, begin, end = 0, np.uint64(0), -1, -1
    for u in range(len(asked.start)):
        if asked.end[u] - asked.start[u] > MOST_TOKENS:
            continue
        if asked.end[u] != end or asked.start[u] > begin:
            n, key, begin, end = 0, first_key(asked.doc[u]), asked.end[u], asked.end[u]
        while begin > asked.start[u]:
            begin -= 1
            key = mix(key, asked.words[begin])
            n = add_word(span, tokens, n, begin)
        if not is_reachable(query.squares, query.reach, n):
            continue
        step = recall(memory, key)
        if step == MISSING:
            term, similarity = -1, 0.0
            if choose(query, n):
                term, similarity = _nearest(index, seen.table, query, n, asked.owner, asked.doc[u])
            step = enter_found(found, u, term, similarity, edges)
            remember(memory, key, step)
        found.step[u] = step
    return found
