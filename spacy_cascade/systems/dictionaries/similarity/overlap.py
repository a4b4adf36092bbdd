"""The nearest term of a span by the words that they have in common, for two measures.

Span and term are vectors of their distinct words, each with a weight, and words of one match words
of the other. Both measures follow from the cosine of these vectors:

    cos(x, y) = sum of weight(w) weight(v) closeness(w, v) over matches / (|x| |y|)
    Jaccard   = |x & y| / |x | y| = p / (|x|² + |y|² - p),  p = cos(x, y) |x| |y|

Soft TF-IDF is the cosine itself, with inverse document frequencies as weights and matches of close
words (Cohen, Ravikumar and Fienberg 2003, "A comparison of string distance metrics for
name-matching tasks"). For Jaccard weights are 1 and only equal words match; a similarity of `s`
takes a cosine of `2 s / (1 + s)` or more, since `|x|² + |y|² >= 2 |x| |y|`.

A word is in one match at most. Equal words match first; then each other word of the span, from the
last to the first, with the word of the term that adds most. Terms are looked at by their rarest
matching word. The norms of what follows it bound the cosine (Bayardo, Ma and Srikant 2007, "Scaling
up all pairs similarity search").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....jit import helper, inlined, kernel, maker
from ....numeric.hashing import mix
from ....types import Floats1d, Ints1d, Keys1d, Keys2d, Pointers1d
from .characters import Bytes1d, bits_of
from .dictionary import MOST_TOKENS, TermDictionary
from .memory import MISSING, first_key, recall, remember
from .query import (
    Together,
    add_word,
    enter_close,
    enter_following,
    following_in,
    is_reachable,
    make_query,
)
from .seen_words import Matches, Seen
from .spans import AskedSpans, Found, enter_found, make_found

_STEPS = 255.0
_TINY = 1e-9
_ONE, _BYTE, _TERM = np.uint64(1), np.uint64(255), np.uint64(24)


class WordIndex(NamedTuple):
    """Terms by their words, those first of which most follows the word.

    set_starts, sets: the distinct words of each term, the rarest first. weights: float64 `[V]`.
    weight_of_unknown: of words that the dictionary does not have. squares: float64 `[N]`, `|y|²`.
    starts: int64 `[V + 1]`, the postings of each word. postings: uint64 `[P, 2]`, each posting as
    the term's sign (`bits_of`) and four numbers in one: its number above 24 bits, and in 255ths and
    rounded up three norms in the term of norm 1: that of the word and all after it, that of the
    word, and that of all after it. Side by side they are one place in memory. is_jaccard: whether
    the measure is Jaccard, not the cosine. least: smaller similarities do not count; least_cosine:
    what these take; least_share: that of the squared norm of a span that its matching words have.
    """

    set_starts: Pointers1d
    sets: Ints1d
    weights: Floats1d
    weight_of_unknown: float
    squares: Floats1d
    starts: Pointers1d
    postings: Keys2d
    is_jaccard: bool
    least: float
    least_cosine: float
    least_share: float

    @classmethod
    def of(cls, dictionary: TermDictionary, is_jaccard: bool, least: float) -> WordIndex:
        weights, unknown = dictionary.weights, dictionary.weight_of_unknown
        least_cosine = least
        if is_jaccard:
            weights, unknown = np.ones(len(weights)), 1.0
            least_cosine = 2 * least / (1 + least)
        sets = dictionary.sets
        squares = weights[sets.indices] ** 2
        sums = np.append(0.0, np.cumsum(squares))
        totals = sums[sets.indptr[1:]] - sums[sets.indptr[:-1]]
        sizes = np.diff(sets.indptr)
        ends, total = np.repeat(sums[sets.indptr[1:]], sizes), np.repeat(totals, sizes)
        suffix = _rounded_up((ends - sums[:-1]) / total)
        useful = np.flatnonzero(suffix >= least_cosine * _STEPS)
        order = useful[np.lexsort((-suffix[useful].astype(np.int16), sets.indices[useful]))]
        terms = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[order]
        numbers = terms.astype(np.uint64)
        for squares_of in (ends - sums[:-1], squares, ends - sums[1:]):
            of_postings = _rounded_up((squares_of / total)[order]).astype(np.uint64)
            numbers = numbers << np.uint64(8) | of_postings
        counts = np.bincount(sets.indices[order], minlength=len(weights))
        signs = bits_of(sets.indices, sets.indptr)
        return cls(
            sets.indptr,
            sets.indices,
            weights,
            unknown,
            totals,
            np.append(0, np.cumsum(counts)),
            np.stack([signs[terms], numbers], axis=1),
            is_jaccard,
            least,
            least_cosine,
            least_cosine**2 - _TINY,
        )


def _rounded_up(squares: Floats1d) -> Bytes1d:
    """Roots of squares up to 1 in 255ths; a little more for what sums of many lose by rounding."""
    roots = np.sqrt(np.maximum(squares, 0.0) + _TINY)
    return np.minimum(np.ceil(_STEPS * roots), _STEPS).astype(np.uint8)


@helper
def _cosine(index, number, matches, query, n, term):  # type: ignore[no-untyped-def]
    """Of a span with n distinct words and a term."""
    sets = index.sets
    weights = index.weights
    starts = matches.starts
    close = matches.numbers
    closeness = matches.closeness
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
    return total / np.sqrt(index.squares[term])


@inlined
def _norm(numbers, shift):  # type: ignore[no-untyped-def]
    return np.float64((numbers >> np.uint64(shift)) & _BYTE) / _STEPS


@inlined
def _jaccard(cosine, square, other):  # type: ignore[no-untyped-def]
    """The Jaccard similarity of vectors with these squared norms."""
    common = cosine * np.sqrt(square * other)
    return common / (square + other - common)


@helper
def _nearest(index, number, matches, query, linked, n, total, owner, doc):  # type: ignore[no-untyped-def]
    """Nearest term of the span with n distinct words in `query`, and its similarity."""
    starts = index.starts
    postings = index.postings
    strengths = query.strength
    bits = query.bits
    strongest = query.strongest
    size = enter_close(query, matches, n, total, index.least_share * total)
    best, found = index.least - 2 * _TINY, -1
    needed = index.least_cosine - _TINY
    """The cosine that a more similar term has to exceed."""
    for i in range(size):
        strength = strengths[i]
        after = enter_following(query, linked, i, size, n)
        norm = np.sqrt(strength * strength + after * after)
        if norm <= needed:
            continue
        word = query.numbers[i]
        for p in range(starts[word], starts[word + 1]):
            sign, numbers = postings[p, 0], postings[p, 1]
            if norm * _norm(numbers, 16) <= needed:
                break
            own, rest = _norm(numbers, 8), _norm(numbers, 0)
            if strength * own + after * rest <= needed:
                continue
            bound = strength * own + following_in(bits, strongest, sign, n) * rest
            if bound <= needed:
                continue
            term = np.int64(numbers >> _TERM)
            if len(owner) and owner[term] == doc:
                continue
            if index.is_jaccard and _jaccard(bound, total, index.squares[term]) <= best:
                continue
            value = _cosine(index, number, matches, query, n, term)
            if index.is_jaccard:
                value = _jaccard(value, total, index.squares[term])
            if value > best:
                best, found = value, term
                needed = 2 * best / (1 + best) if index.is_jaccard else best
    return found, best if found >= 0 else 0.0


@maker
def _squares(index, rows, number, matches):  # type: ignore[no-untyped-def]
    """Squared weight of each token; negative where no word of the dictionary matches it."""
    squares = np.empty(len(rows))
    for t in range(len(rows)):
        row = rows[t]
        word = number[row]
        squares[t] = index.weight_of_unknown**2 if word < 0 else index.weights[word] ** 2
        if matches.starts[row] == matches.starts[row + 1]:
            squares[t] = -squares[t]
    return squares


@helper
def _search(index, together, seen, matches, asked, edges, memory, query, square_of, found):  # type: ignore[no-untyped-def]
    """As `search_by_words`; square_of: `_squares`."""
    start, end_of, doc, words = asked.start, asked.end, asked.doc, asked.words
    number, linked, least = seen.table.number, together.linked, index.least_share
    n, total, known, key, begin, end = 0, 0.0, 0.0, np.uint64(0), -1, -1
    for u in range(len(start)):
        if end_of[u] - start[u] > MOST_TOKENS:
            continue
        if end_of[u] != end or start[u] > begin:
            key, begin, end = first_key(doc[u]), end_of[u], end_of[u]
            n, total, known = 0, 0.0, 0.0
        while begin > start[u]:
            begin -= 1
            key = mix(key, words[begin])
            before, n = n, add_word(query, seen.rows, square_of, together, n, begin, end)
            if n > before:
                total += query.squares[before]
                known += max(square_of[begin], 0.0)
        if known < least * total or not is_reachable(query, n, least * total):
            continue
        step = recall(memory, key)
        if step == MISSING:
            term, similarity = _nearest(
                index, number, matches, query, linked, n, total, asked.owner, doc[u]
            )
            step = enter_found(found, u, term, similarity, edges)
            remember(memory, key, step)
        found.step[u] = step


@kernel
def search_by_words(
    index: WordIndex,
    together: Together,
    seen: Seen,
    matches: Matches,
    asked: AskedSpans,
    edges: Floats1d,
    memory: Keys1d,
) -> Found:
    """Nearest term of each span; of those that the memory has only the step.

    Fast where spans with the same end follow each other, the shorter ones first. matches: of the
    rows of `seen`. edges: where the steps begin.
    """
    found = make_found(len(asked.start))
    square_of = _squares(index, seen.rows, seen.table.number, matches)
    query = make_query()
    _search(index, together, seen, matches, asked, edges, memory, query, square_of, found)
    return found
