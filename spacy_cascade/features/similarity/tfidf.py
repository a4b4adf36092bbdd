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

from ...jit import helper, inlined, kernel
from ...numeric.hashing import mix
from ...types import Bools1d, Floats1d, Ints1d, Keys1d, Keys2d, Pointers1d
from .characters import Bytes1d
from .dictionary import MOST_TOKENS, TermDictionary
from .jaccard import signs_of
from .memory import MISSING, first_key, recall, remember
from .seen_words import MOST_CLOSE, Seen
from .spans import AskedSpans, Found, enter_found, make_found
from .together import are_together

LEAST = 0.8
_STEPS = 255.0
_TINY = 1e-9
_LEAST_SQUARE = LEAST * LEAST - _TINY
_ONE, _BYTE, _TERM = np.uint64(1), np.uint64(255), np.uint64(24)


class TfIdfIndex(NamedTuple):
    """Terms by their words, those first of which most follows the word.

    set_starts, sets: the distinct words of each term, the rarest first. weights: float64 `[V]`.
    weight_of_unknown: of words that the dictionary does not have. norms: float64 `[N]`. starts:
    int64 `[V + 1]`, the postings of each word. postings: uint64 `[P, 2]`, each posting as the
    term's sign (`jaccard.signs_of`) and four numbers in one: its number above 24 bits, and in
    255ths and rounded up three norms in the term of norm 1: that of the word and all after it, that
    of the word, and that of all after it. Side by side they are one place in memory.
    """

    set_starts: Pointers1d
    sets: Ints1d
    weights: Floats1d
    weight_of_unknown: float
    norms: Floats1d
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
            np.sqrt(totals),
            np.append(0, np.cumsum(counts)),
            np.stack([signs_of(sets)[terms], numbers], axis=1),
        )


def _rounded_up(squares: Floats1d) -> Bytes1d:
    """Roots of squares up to 1 in 255ths; a little more for what sums of many lose by rounding."""
    roots = np.sqrt(np.maximum(squares, 0.0) + _TINY)
    return np.minimum(np.ceil(_STEPS * roots), _STEPS).astype(np.uint8)


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
def _make_query():  # type: ignore[no-untyped-def]
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


@helper
def _add_word(query, index, together, seen, n, t):  # type: ignore[no-untyped-def]
    """Put token t before the n distinct words of a span; returns how many there are.

    Words may match together if they are in one term.
    """
    row = seen.rows[t]
    for k in range(n):
        if query.rows[k] == row:
            return n
    number = seen.table.number[row]
    square = index.weight_of_unknown**2 if number < 0 else index.weights[number] ** 2
    query.rows[n], query.squares[n], query.place[n] = row, square, t
    query.linked[n], query.reach[n] = np.uint64(0), square
    if seen.table.close_starts[row] == seen.table.close_starts[row + 1]:
        query.reach[n] = -np.inf
    for k in range(n):
        if are_together(together, query.place[k], t):
            query.linked[k] |= _ONE << np.uint64(n)
            query.linked[n] |= _ONE << np.uint64(k)
            query.reach[k] += square
            query.reach[n] += query.squares[k]
    return n + 1


@helper
def _is_reachable(query, n):  # type: ignore[no-untyped-def]
    """Whether enough of the n words of a span are, each with those linked to it, enough."""
    total = enough = 0.0
    for k in range(n):
        total += query.squares[k]
    for k in range(n):
        if query.reach[k] >= _LEAST_SQUARE * total:
            enough += query.squares[k]
    return enough > 0.0 and enough >= _LEAST_SQUARE * total


@inlined
def _square(query, words, n):  # type: ignore[no-untyped-def]
    """The squared weights of some words of a span together; words: a bit for each."""
    square = 0.0
    for k in range(n):
        square += query.squares[k] * np.float64((words >> np.uint64(k)) & _ONE)
    return square


@helper
def _choose(query, n):  # type: ignore[no-untyped-def]
    """Write the weights of the words, and which of them may match; returns whether any.

    Two linked words match together only if they are enough with all words linked to both.
    """
    total = enough = 0.0
    for k in range(n):
        total += query.squares[k]
    least = _LEAST_SQUARE * total
    for k in range(n):
        query.weights[k] = np.sqrt(query.squares[k] / total)
        query.is_enough[k] = query.reach[k] >= least
        linked, kept = query.linked[k], np.uint64(0)
        if query.is_enough[k]:
            for other in range(n):
                if (linked >> np.uint64(other)) & _ONE and query.reach[other] >= least:
                    third = linked & query.linked[other]
                    pair = query.squares[k] + query.squares[other]
                    if pair >= least or pair + _square(query, third, n) >= least:
                        kept |= _ONE << np.uint64(other)
            query.is_enough[k] = query.squares[k] + _square(query, kept, n) >= least
        query.kept[k] = kept
        if query.is_enough[k]:
            enough += query.squares[k]
    return enough >= least


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
    linked = query.kept[query.word[i]]
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


@inlined
def _norm(numbers, shift):  # type: ignore[no-untyped-def]
    return np.float64((numbers >> np.uint64(shift)) & _BYTE) / _STEPS


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
            sign, numbers = index.postings[p, 0], index.postings[p, 1]
            bound = norm * _norm(numbers, 16)
            if bound < least or bound <= best:
                break
            own, rest = _norm(numbers, 8), _norm(numbers, 0)
            bound = strength * own + after * rest
            if bound < least or bound <= best:
                continue
            bound = strength * own + _following_in(query, sign, n) * rest
            if bound < least or bound <= best:
                continue
            term = np.int64(numbers >> _TERM)
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
    n, key, begin, end = 0, np.uint64(0), -1, -1
    for u in range(len(asked.start)):
        if asked.end[u] - asked.start[u] > MOST_TOKENS:
            continue
        if asked.end[u] != end or asked.start[u] > begin:
            n, key, begin, end = 0, first_key(asked.doc[u]), asked.end[u], asked.end[u]
        while begin > asked.start[u]:
            begin -= 1
            key = mix(key, asked.words[begin])
            n = _add_word(query, index, together, seen, n, begin)
        if not _is_reachable(query, n):
            continue
        step = recall(memory, key)
        if step == MISSING:
            term, similarity = -1, 0.0
            if _choose(query, n):
                term, similarity = _nearest(index, seen.table, query, n, asked.owner, asked.doc[u])
            step = enter_found(found, u, term, similarity, edges)
            remember(memory, key, step)
        found.step[u] = step
    return found
