"""The Jaccard similarity of a span to its nearest term, `|x & y| / |x | y|` over distinct words.

Only terms are looked at that can be similar enough: words have an order, from the rarest to the
most frequent one, and the place of the first common word in both bounds what they can have in
common (Xiao, Wang, Lin and Yu 2008, "Efficient similarity joins for near duplicate detection").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....jit import helper, inlined, kernel
from ....numeric.hashing import mix
from ....types import Floats1d, Ints1d, Keys1d, Pointers1d
from .dictionary import MOST_TOKENS, TermDictionary, WordSets
from .memory import MISSING, first_key, recall, remember
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
def _n_common(set_starts, sets, term, codes, first, n):  # type: ignore[no-untyped-def]
    """How many of the codes from `first` on are words of the term."""
    common = 0
    k, end = set_starts[term], set_starts[term + 1]
    i = first
    while i < n and k < end:
        if codes[i] == sets[k]:
            common += 1
            i += 1
            k += 1
        elif codes[i] < sets[k]:
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
    set_starts, sets = index.set_starts, index.sets
    group_starts = index.group_starts
    sizes = index.size
    places = index.place
    starts = index.starts
    signs = index.signs
    terms = index.terms
    best, found = 0.0, -1
    for i in range(n):
        if codes[i] < 0:
            continue
        bound = (n - i) / n
        if bound < LEAST - _TINY or bound <= best:
            break
        for g in range(group_starts[codes[i]], group_starts[codes[i] + 1]):
            size = sizes[g]
            common = min(n - i, size - places[g])
            bound = common / (n + size - common)
            if bound < LEAST - _TINY or bound <= best:
                continue
            least = max(LEAST, best)
            needed = np.ceil(least * (n + size) / (1 + least) - _TINY)
            for k in range(starts[g], starts[g + 1]):
                if _most_common(signs[k], codes, i, n) < needed:
                    continue
                term = terms[k]
                if len(owner) and owner[term] == doc:
                    continue
                both = _n_common(set_starts, sets, term, codes, i, n)
                similarity = both / (n + size - both)
                if similarity > best and similarity >= LEAST - _TINY:
                    best, found = similarity, term
                    if bound <= best:
                        break
    return found, best


@helper
def _make_span():  # type: ignore[no-untyped-def]
    """Room for the distinct words of the longest span, from the last to the first.

    codes: int32, their numbers, negative ones for unknown words. places: int64, the tokens.
    n_linked: int32, how many of the others may be in one term with the word.
    """
    return (
        np.empty(MOST_TOKENS, dtype=np.int32),
        np.empty(MOST_TOKENS, dtype=np.int64),
        np.empty(MOST_TOKENS, dtype=np.int32),
    )


@inlined
def _add_word(span, tokens, n, t):  # type: ignore[no-untyped-def]
    """Put token t before the n distinct words of a span; returns how many there are.

    span: `_make_span`. tokens: their codes and `tokens_together`. Reading an array out
    of a larger structure here would count a reference each time.
    """
    codes, places, n_linked = span
    code_of, together = tokens
    is_new = True
    for k in range(n):
        if codes[k] == code_of[t]:
            is_new = False
    if is_new:
        codes[n], places[n], n_linked[n] = code_of[t], t, 0
        for k in range(n):
            if are_together(together, places[k], t):
                n_linked[k] += 1
                n_linked[n] += 1
        n += 1
    return n


@helper
def _codes(seen):  # type: ignore[no-untyped-def]
    """The number of each token, negative for words that the dictionary does not have."""
    codes = np.empty(len(seen.rows), dtype=np.int32)
    for t in range(len(codes)):
        number = seen.table.number[seen.rows[t]]
        codes[t] = number if number >= 0 else -1 - seen.rows[t]
    return codes


@inlined
def _is_reachable(codes, n_linked, n):  # type: ignore[no-untyped-def]
    """Whether enough words of a span stand in a term with enough of the others."""
    needed = np.int64(np.ceil(LEAST * n - _TINY))
    n_enough = 0
    for k in range(n):
        n_enough += codes[k] >= 0 and n_linked[k] >= needed - 1
    return n_enough >= needed


@kernel
def search_by_words(
    index: JaccardIndex,
    together: Keys1d,
    seen: Seen,
    asked: AskedSpans,
    edges: Floats1d,
    memory: Keys1d,
) -> Found:
    """Nearest term of each span; of those that the memory has only the step.

    Fast where spans with the same end follow each other, the shorter ones first. together:
    `tokens_together`. edges: where the steps begin.
    """
    found = make_found(len(asked.start))
    span, tokens = _make_span(), (_codes(seen), together)
    codes, _, n_linked = span
    n, key, begin, end = 0, np.uint64(0), -1, -1
    for u in range(len(asked.start)):
        if asked.end[u] - asked.start[u] > MOST_TOKENS:
            continue
        if asked.end[u] != end or asked.start[u] > begin:
            n, key, begin, end = 0, first_key(asked.doc[u]), asked.end[u], asked.end[u]
        while begin > asked.start[u]:
            begin -= 1
            key = mix(key, asked.words[begin])
            n = _add_word(span, tokens, n, begin)
        if not _is_reachable(codes, n_linked, n):
            continue
        step = recall(memory, key)
        if step == MISSING:
            ordered = np.sort(codes[:n])
            term, similarity = _nearest(index, ordered, n, asked.owner, asked.doc[u])
            step = enter_found(found, u, term, similarity, edges)
            remember(memory, key, step)
        found.step[u] = step
    return found
