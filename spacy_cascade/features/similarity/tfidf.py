"""The soft TF-IDF similarity of a span to its nearest term (Cohen, Ravikumar and Fienberg 2003).

The cosine of the vectors of their distinct words, weighted by the inverse document frequency in the
dictionary, where words match that are close (`seen_words`), not only equal ones:

    s(x, y) = sum of weight(w) weight(v) closeness(w, v) over matches / (|x| |y|)

A word is in one match at most. Equal words match first; then each other word of the span, in its
order, with the word of the term that adds most ("A comparison of string distance metrics for
name-matching tasks").

Terms are looked at by their rarest matching word. The norms of what follows it bound the similarity
(Bayardo, Ma and Srikant 2007, "Scaling up all pairs similarity search").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...jit import helper, inlined, kernel
from ...types import Bools1d, Floats1d, Ints1d, Keys1d, Pointers1d
from .characters import Bytes1d
from .dictionary import MOST_TOKENS, TermDictionary
from .jaccard import signs_of
from .memory import MISSING, key_of, recall, remember
from .seen_words import MOST_CLOSE, Seen
from .spans import AskedSpans, Found, enter_found, make_found
from .together import are_together

LEAST = 0.7
_STEPS = 255.0
_TINY = 1e-9
_ONE = np.uint64(1)


class TfIdfIndex(NamedTuple):
    """Terms by their words, those first of which most follows the word.

    set_starts, sets: the distinct words of each term, the rarest first. weights: float64 `[V]`.
    weight_of_unknown: of words that the dictionary does not have. norms: float64 `[N]`. starts:
    int64 `[V + 1]`, the terms of each word. terms: int32. signs: uint64 beside these, as in
    `jaccard`. own, rest: uint8, in 255ths and rounded up: the weight of the word in the term of
    norm 1, and the norm of the words after it. suffix: the norm of both.
    """

    set_starts: Pointers1d
    sets: Ints1d
    weights: Floats1d
    weight_of_unknown: float
    norms: Floats1d
    starts: Pointers1d
    terms: Ints1d
    signs: Keys1d
    own: Bytes1d
    rest: Bytes1d
    suffix: Bytes1d

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
        counts = np.bincount(sets.indices[order], minlength=len(weights))
        return cls(
            sets.indptr,
            sets.indices,
            weights,
            dictionary.weight_of_unknown,
            np.sqrt(totals),
            np.append(0, np.cumsum(counts)),
            terms,
            signs_of(sets)[terms],
            _rounded_up((squares / total)[order]),
            _rounded_up(((ends - sums[1:]) / total)[order]),
            suffix[order],
        )


def _rounded_up(squares: Floats1d) -> Bytes1d:
    """Roots of squares up to 1 in 255ths; a little more for what sums of many lose by rounding."""
    roots = np.sqrt(np.maximum(squares, 0.0) + _TINY)
    return np.minimum(np.ceil(_STEPS * roots), _STEPS).astype(np.uint8)


class Query(NamedTuple):
    """A span for the search, with room for the longest one.

    rows: int32, its distinct words by row of the table of seen words. weights: float64 beside them,
    of norm 1 together. numbers: int32, the close words of all its words, ascending. word: int32
    beside them, the place in `rows`. strength: float64, weight of the word times closeness.
    place: int64 beside rows, the token. linked: uint64 beside rows, a bit for each word that may
    match together with the word. is_enough: bool beside rows, whether the word and these are
    enough. strongest: float64, and bits: uint64, beside rows, room to work in.
    """

    rows: Ints1d
    weights: Floats1d
    numbers: Ints1d
    word: Ints1d
    strength: Floats1d
    place: Pointers1d
    linked: Keys1d
    is_enough: Bools1d
    strongest: Floats1d
    bits: Keys1d


@helper
def _make_query():  # type: ignore[no-untyped-def]
    n = MOST_TOKENS * MOST_CLOSE
    return Query(
        np.empty(MOST_TOKENS, dtype=np.int32),
        np.empty(MOST_TOKENS),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n),
        np.empty(MOST_TOKENS, dtype=np.int64),
        np.empty(MOST_TOKENS, dtype=np.uint64),
        np.empty(MOST_TOKENS, dtype=np.bool_),
        np.empty(MOST_TOKENS),
        np.empty(MOST_TOKENS, dtype=np.uint64),
    )


@helper
def _enter_words(query, index, seen, start, end):  # type: ignore[no-untyped-def]
    """Write the distinct words of a span and their weights; returns how many there are.

    0 where too few of them have close words for any term to be similar enough.
    """
    n = 0
    total = reachable = 0.0
    table = seen.table
    for t in range(start, end):
        row = seen.rows[t]
        is_new = True
        for k in range(n):
            is_new &= query.rows[k] != row
        if not is_new:
            continue
        number = table.number[row]
        weight = index.weights[number] if number >= 0 else index.weight_of_unknown
        query.rows[n], query.weights[n], query.place[n] = row, weight, t
        n += 1
        total += weight * weight
        if table.close_starts[row] < table.close_starts[row + 1]:
            reachable += weight * weight
    if reachable < (LEAST * LEAST - _TINY) * total or total == 0.0:
        return 0
    norm = np.sqrt(total)
    for k in range(n):
        query.weights[k] /= norm
    return n


@inlined
def _square(query, words, n):  # type: ignore[no-untyped-def]
    """The squared weights of some words of a span together; words: a bit for each."""
    square = 0.0
    for k in range(n):
        if (words >> np.uint64(k)) & _ONE:
            square += query.weights[k] ** 2
    return square


@helper
def _link(query, together, n):  # type: ignore[no-untyped-def]
    """Write which words of a span may match together; returns whether these may be enough.

    Two words may match together if they are in one term, and weigh enough with all other words
    that are in one term with both.
    """
    for k in range(n):
        query.linked[k] = np.uint64(0)
        for other in range(n):
            if other != k and are_together(together, query.place[k], query.place[other]):
                query.linked[k] |= _ONE << np.uint64(other)
    least, enough = LEAST * LEAST - _TINY, np.uint64(0)
    for k in range(n):
        if query.weights[k] ** 2 + _square(query, query.linked[k], n) >= least:
            enough |= _ONE << np.uint64(k)
    if _square(query, enough, n) < least:
        return False
    total = 0.0
    for k in range(n):
        linked, kept = query.linked[k] & enough, np.uint64(0)
        for other in range(n):
            if (linked >> np.uint64(other)) & _ONE:
                third = linked & query.linked[other]
                pair = query.weights[k] ** 2 + query.weights[other] ** 2
                if pair >= least or pair + _square(query, third, n) >= least:
                    kept |= _ONE << np.uint64(other)
        query.linked[k] = kept
        reach = query.weights[k] ** 2 + _square(query, kept, n)
        query.is_enough[k] = (enough >> np.uint64(k)) & _ONE and reach >= least
        if query.is_enough[k]:
            total += query.weights[k] ** 2
    return n > 0 and total >= least


@helper
def _enter_close(query, table, n):  # type: ignore[no-untyped-def]
    """Write the close words of the words that reach enough; returns how many there are."""
    size = 0
    for k in range(n):
        if not query.is_enough[k]:
            continue
        row = query.rows[k]
        for c in range(table.close_starts[row], table.close_starts[row + 1]):
            i = size
            while i > 0 and query.numbers[i - 1] > table.close[c]:
                query.numbers[i], query.word[i] = query.numbers[i - 1], query.word[i - 1]
                query.strength[i] = query.strength[i - 1]
                i -= 1
            query.numbers[i], query.word[i] = table.close[c], k
            query.strength[i] = query.weights[k] * table.closeness[c]
            size += 1
    return size


@helper
def _enter_following(query, i, size, n):  # type: ignore[no-untyped-def]
    """Write what can match beside the i-th close word, and after it in order.

    For each word of the span how strongly, and bits of the numbers. Returns the largest similarity
    of all that to a vector of norm 1.
    """
    linked = query.linked[query.word[i]]
    for k in range(n):
        query.strongest[k], query.bits[k] = 0.0, np.uint64(0)
    for k in range(i + 1, size):
        other = query.word[k]
        if (linked >> np.uint64(other)) & _ONE:
            query.strongest[other] = max(query.strongest[other], query.strength[k])
            query.bits[other] |= _ONE << np.uint64(query.numbers[k] & 63)
    square = 0.0
    for k in range(n):
        square += query.strongest[k] ** 2
    return np.sqrt(square)


@inlined
def _following_in(query, sign, n):  # type: ignore[no-untyped-def]
    """The same for a term with this sign."""
    square = 0.0
    for k in range(n):
        if query.bits[k] & sign:
            square += query.strongest[k] ** 2
    return np.sqrt(square)


@helper
def _similarity(index, table, query, n, term):  # type: ignore[no-untyped-def]
    """Of a span with n distinct words to a term."""
    begin, end = index.set_starts[term], index.set_starts[term + 1]
    matched = used = np.uint64(0)
    total = 0.0
    for k in range(n):
        for j in range(begin, end):
            if table.number[query.rows[k]] == index.sets[j]:
                matched |= _ONE << np.uint64(k)
                used |= _ONE << np.uint64(j - begin)
                total += query.weights[k] * index.weights[index.sets[j]]
    for k in range(n):
        if matched & (_ONE << np.uint64(k)):
            continue
        row = query.rows[k]
        best, place = 0.0, -1
        for c in range(table.close_starts[row], table.close_starts[row + 1]):
            for j in range(begin, end):
                if table.close[c] == index.sets[j] and not used & (_ONE << np.uint64(j - begin)):
                    gain = table.closeness[c] * index.weights[index.sets[j]]
                    if gain > best or (gain == best and j - begin < place):
                        best, place = gain, j - begin
        if place >= 0:
            used |= _ONE << np.uint64(place)
            total += query.weights[k] * best
    return total / index.norms[term]


@helper
def _nearest(index, table, query, n, owner, doc):  # type: ignore[no-untyped-def]
    """Nearest term of the span with n distinct words in `query`, and its similarity."""
    size = _enter_close(query, table, n)
    best, found = 0.0, -1
    least = LEAST - _TINY
    for i in range(size):
        strength = query.strength[i]
        after = _enter_following(query, i, size, n)
        norm = np.sqrt(strength * strength + after * after)
        if norm < least or norm <= best:
            continue
        number = query.numbers[i]
        for p in range(index.starts[number], index.starts[number + 1]):
            bound = norm * index.suffix[p] / _STEPS
            if bound < least or bound <= best:
                break
            bound = strength * index.own[p] + after * index.rest[p]
            if bound < least * _STEPS or bound <= best * _STEPS:
                continue
            following = _following_in(query, index.signs[p], n)
            bound = strength * index.own[p] + following * index.rest[p]
            if bound < least * _STEPS or bound <= best * _STEPS:
                continue
            term = index.terms[p]
            if len(owner) and owner[term] == doc:
                continue
            value = _similarity(index, table, query, n, term)
            if value > best and value >= least:
                best, found = value, term
    return found, best


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
    query = _make_query()
    for u in range(len(asked.start)):
        start, end = asked.start[u], asked.end[u]
        if end - start > MOST_TOKENS:
            continue
        n = _enter_words(query, index, seen, start, end)
        if not _link(query, together, n):
            continue
        key = key_of(asked, u)
        step = recall(memory, key)
        if step == MISSING:
            term, similarity = _nearest(index, seen.table, query, n, asked.owner, asked.doc[u])
            step = enter_found(found, u, term, similarity, edges)
            remember(memory, key, step)
        found.step[u] = step
    return found
