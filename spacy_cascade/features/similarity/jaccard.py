"""The Jaccard similarity of a span to its nearest term, `|x & y| / |x | y|` over distinct words.

Only terms are looked at that can be similar enough: words have an order, from the rarest to the
most frequent one, and the place of the first common word in both bounds what they can have in
common (Xiao, Wang, Lin and Yu 2008, "Efficient similarity joins for near duplicate detection").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...jit import helper, inlined, kernel
from ...types import Floats1d, Ints1d, Keys1d, Pointers1d
from .dictionary import MOST_TOKENS, TermDictionary, WordSets
from .memory import MISSING, key_of, recall, remember
from .seen_words import Seen
from .spans import AskedSpans, Found, enter_found, make_found
from .together import are_together

LEAST = 0.6
_BASE = MOST_TOKENS + 1
_TINY = 1e-9


class JaccardIndex(NamedTuple):
    """Terms by their words, in groups with the same size and the same place of the word.

    set_starts, sets: the distinct words of each term (`TermDictionary.sets`). group_starts: int64
    `[V + 1]`, the groups of each word. size, place: int32 `[G]`. starts: int64 `[G + 1]`, the terms
    of each group. terms: int32. signs: uint64 beside these, a bit for each word of the term.
    """

    set_starts: Pointers1d
    sets: Ints1d
    group_starts: Pointers1d
    size: Ints1d
    place: Ints1d
    starts: Pointers1d
    terms: Ints1d
    signs: Keys1d

    @classmethod
    def of(cls, dictionary: TermDictionary) -> JaccardIndex:
        sets = dictionary.sets
        sizes = np.diff(sets.indptr)
        size = np.repeat(sizes, sizes)
        place = np.arange(len(sets.indices)) - np.repeat(sets.indptr[:-1], sizes)
        # If the first common word is later, too little is left in common with any span.
        useful = np.flatnonzero(size - place >= LEAST * size - _TINY)
        term = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[useful]
        code = (sets.indices[useful].astype(np.int64) * _BASE + size[useful]) * _BASE
        code += place[useful]
        order = np.argsort(code, kind="stable")
        code, starts = np.unique(code[order], return_index=True)
        word, rest = np.divmod(code, _BASE * _BASE)
        terms = term[order]
        return cls(
            sets.indptr,
            sets.indices,
            np.searchsorted(word, np.arange(len(dictionary.keys) + 1)),
            (rest // _BASE).astype(np.int32),
            (rest % _BASE).astype(np.int32),
            np.append(starts, len(order)),
            terms,
            signs_of(sets)[terms],
        )


def signs_of(sets: WordSets) -> Keys1d:
    """For each term a number with a bit for each of its words, uint64 `[N]`."""
    bits = np.uint64(1) << (sets.indices & 63).astype(np.uint64)
    signs = np.zeros(sets.n_rows, dtype=np.uint64)
    filled = np.flatnonzero(np.diff(sets.indptr))
    if len(filled):
        signs[filled] = np.bitwise_or.reduceat(bits, sets.indptr[filled])
    return signs


@inlined
def _enter(codes, n, code):  # type: ignore[no-untyped-def]
    """Put a number into an ascending row of distinct ones; returns how many there are."""
    k = n
    while k > 0 and codes[k - 1] > code:
        k -= 1
    if k == 0 or codes[k - 1] != code:
        for i in range(n, k, -1):
            codes[i] = codes[i - 1]
        codes[k] = code
        n += 1
    return n


@inlined
def _n_common(index, term, codes, first, n):  # type: ignore[no-untyped-def]
    """How many of the codes from `first` on are words of the term."""
    common = 0
    k, end = index.set_starts[term], index.set_starts[term + 1]
    i = first
    while i < n and k < end:
        if codes[i] == index.sets[k]:
            common += 1
            i += 1
            k += 1
        elif codes[i] < index.sets[k]:
            i += 1
        else:
            k += 1
    return common


@inlined
def _most_common(sign, codes, first, n):  # type: ignore[no-untyped-def]
    """How many of the codes a term with this sign can have, if it has the first one."""
    most = 1
    for k in range(first + 1, n):
        most += np.int64((sign >> np.uint64(codes[k] & 63)) & np.uint64(1))
    return most


@helper
def _nearest(index, codes, n, owner, doc):  # type: ignore[no-untyped-def]
    """Nearest term of the distinct words `codes[:n]`, ascending, unknown ones negative."""
    best, found = 0.0, -1
    for i in range(n):
        if codes[i] < 0:
            continue
        bound = (n - i) / n
        if bound < LEAST - _TINY or bound <= best:
            break
        for g in range(index.group_starts[codes[i]], index.group_starts[codes[i] + 1]):
            size = index.size[g]
            common = min(n - i, size - index.place[g])
            bound = common / (n + size - common)
            if bound < LEAST - _TINY or bound <= best:
                continue
            least = max(LEAST, best)
            needed = np.ceil(least * (n + size) / (1 + least) - _TINY)
            for k in range(index.starts[g], index.starts[g + 1]):
                if _most_common(index.signs[k], codes, i, n) < needed:
                    continue
                term = index.terms[k]
                if len(owner) and owner[term] == doc:
                    continue
                both = _n_common(index, term, codes, i, n)
                similarity = both / (n + size - both)
                if similarity > best and similarity >= LEAST - _TINY:
                    best, found = similarity, term
                    if bound <= best:
                        break
    return found, best


@helper
def _enter_span(codes, places, seen, start, end):  # type: ignore[no-untyped-def]
    """Write the distinct words of a span; returns how many there are, and how many are known.

    places: where the known ones stand.
    """
    n = n_known = 0
    for t in range(start, end):
        row = seen.rows[t]
        number = seen.table.number[row]
        before = n
        n = _enter(codes, n, number if number >= 0 else -1 - row)
        if n > before and number >= 0:
            places[n_known] = t
            n_known += 1
    return n, n_known


@inlined
def _is_reachable(together, places, n_known, n):  # type: ignore[no-untyped-def]
    """Whether enough words of a span stand in a term with enough of the others."""
    needed = np.int64(np.ceil(LEAST * n - _TINY))
    n_linked = 0
    if n_known >= needed:
        for i in range(n_known):
            n_others = 0
            for j in range(n_known):
                if i != j and are_together(together, places[i], places[j]):
                    n_others += 1
            n_linked += n_others >= needed - 1
    return n_linked >= needed


@kernel
def search_by_words(
    index: JaccardIndex,
    together: Keys1d,
    seen: Seen,
    asked: AskedSpans,
    edges: Floats1d,
    memory: Keys1d,
) -> Found:
    """Nearest term of each span, -1 for none, its similarity, and the step of this.

    Where the step is remembered, only that is given.
    """
    found = make_found(len(asked.start))
    codes, places = np.empty(MOST_TOKENS, dtype=np.int32), np.empty(MOST_TOKENS, dtype=np.int64)
    for u in range(len(asked.start)):
        start, end = asked.start[u], asked.end[u]
        if end - start > MOST_TOKENS:
            continue
        n, n_known = _enter_span(codes, places, seen, start, end)
        if not _is_reachable(together, places, n_known, n):
            continue
        key = key_of(asked, u)
        step = recall(memory, key)
        if step == MISSING:
            term, similarity = _nearest(index, codes, n, asked.owner, asked.doc[u])
            step = enter_found(found, u, term, similarity, edges)
            remember(memory, key, step)
        found.step[u] = step
    return found
