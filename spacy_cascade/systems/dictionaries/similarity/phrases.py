"""The Jaro-Winkler similarity of a span to a term, both without spaces.

An approximation: a span of n characters is compared with the terms next to it in alphabetical order
that share its first `n / 2 - 2` characters, at least two (Hernandez and Stolfo 1995, "The
merge/purge problem for large databases", call this a sorted neighbourhood). Of two strings with
Jaro-Winkler similarities to a third, the one with the longer common beginning mostly is the more
similar one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....jit import helper, inlined, kernel
from ....numeric.hashing import mix
from ....numeric.key_filter import KeyFilter, empty_filter, let_through, may_have
from ....types import Floats1d, Ints1d, Keys1d, Keys2d, Pointers1d
from .characters import Bytes1d, Encoded, packed
from .dictionary import TermDictionary
from .jaro_winkler import MOST_CHARACTERS, jaro_winkler, most_similar
from .memory import MISSING, first_key, recall, remember
from .seen_words import Seen
from .spans import AskedSpans, Found, enter_found, make_found

LEAST = 0.85
REACH = 8
"""So many terms before a span in alphabetical order, and as many after it, are compared with it."""
_LONGEST_HEAD = 16
_BEGINNINGS_A_TERM = 4
"""That no other term has, about."""
_TINY = 1e-9
_SALT = np.uint64(0x2545F4914F6CDD1D)


class PhraseIndex(NamedTuple):
    """Terms of at most 64 characters in alphabetical order, by their first 16.

    terms: int32 `[n]`, their numbers. heads: uint64 `[n, 2]`, the first 16 characters. characters,
    starts: of each term in this order, int32. beginnings: of the first two or more characters of a
    term.
    """

    terms: Ints1d
    heads: Keys2d
    characters: Bytes1d
    starts: Ints1d
    beginnings: KeyFilter

    @classmethod
    def of(cls, dictionary: TermDictionary, words: Encoded) -> PhraseIndex:
        """Of a dictionary whose words have these characters."""
        joined = words.take(dictionary.terms.indices)
        spelled = Encoded(joined.characters, joined.starts[dictionary.terms.indptr])
        lengths = np.diff(spelled.starts)
        fitting = np.flatnonzero(lengths <= MOST_CHARACTERS).astype(np.int32)
        heads = np.stack([packed(spelled, k, 8)[fitting] for k in (0, 8)], axis=1)
        order = np.lexsort((heads[:, 1], heads[:, 0]))
        of_terms = fitting[order]
        characters, starts = spelled.take(of_terms)
        beginnings = empty_filter(_BEGINNINGS_A_TERM * len(order))
        _mark(characters, starts, beginnings)
        return cls(
            of_terms,
            np.ascontiguousarray(heads[order]),
            characters,
            starts.astype(np.int32),
            beginnings,
        )


@kernel
def _mark(characters: Bytes1d, starts: Pointers1d, beginnings: KeyFilter) -> None:
    for i in range(len(starts) - 1):
        key = _SALT
        for k in range(starts[i], min(starts[i + 1], starts[i] + _LONGEST_HEAD)):
            key = mix(key, np.uint64(characters[k]))
            if k > starts[i]:
                let_through(beginnings, key)


@inlined
def _head_length(n):  # type: ignore[no-untyped-def]
    """How many first characters a term shares with a span of n."""
    return max(2, min(n // 2 - 2, _LONGEST_HEAD))


@helper
def _fill_places(index, seen, ends, heads):  # type: ignore[no-untyped-def]
    """Write for each token how many characters end with it, and how many some term may begin with.

    Those that stand at its beginning and after it, at most 16; a single one always may.
    """
    rows, characters, starts = seen.rows, seen.table.characters, seen.table.character_starts
    for t in range(len(rows)):
        ends[t + 1] = ends[t] + starts[rows[t] + 1] - starts[rows[t]]
    for t in range(len(rows)):
        key, later, is_known = _SALT, t, True
        while is_known and ends[later] < ends[len(rows)]:
            row = rows[later]
            for k in range(starts[row], starts[row + 1]):
                key = mix(key, np.uint64(characters[k]))
                is_known = heads[t] == 0 or may_have(index.beginnings, key)
                is_known &= heads[t] < _LONGEST_HEAD
                if not is_known:
                    break
                heads[t] += 1
            later += 1


@helper
def _place(index, first, second):  # type: ignore[no-untyped-def]
    """Where a span with these heads would stand."""
    heads = index.heads
    low, high = 0, len(index.terms)
    while low < high:
        middle = (low + high) >> 1
        head = heads[middle, 0]
        if head < first or (head == first and heads[middle, 1] < second):
            low = middle + 1
        else:
            high = middle
    return low


@helper
def _nearest(index, text, owner, doc):  # type: ignore[no-untyped-def]
    """Nearest term of the characters of a span, and its similarity."""
    starts = index.starts
    characters = index.characters
    terms = index.terms
    n = len(text)
    first = second = np.uint64(0)
    for k in range(8):
        first = first << np.uint64(8) | np.uint64(text[k] if k < n else 0)
        second = second << np.uint64(8) | np.uint64(text[k + 8] if k + 8 < n else 0)
    head, place = _head_length(n), _place(index, first, second)
    best, found = 0.0, -1
    for step in (-1, 1):
        i = place if step == 1 else place - 1
        left = REACH
        while left > 0 and 0 <= i < len(terms):
            begin, m = starts[i], starts[i + 1] - starts[i]
            shared = m >= head
            for k in range(head):
                if shared and characters[begin + k] != text[k]:
                    shared = False
            if not shared:
                break
            term = terms[i]
            i += step
            if len(owner) and owner[term] == doc:
                continue
            left -= 1
            bound = most_similar(n, m)
            if bound < LEAST - _TINY or bound <= best:
                continue
            value = jaro_winkler(text, characters[begin : begin + m])
            if value > best and value >= LEAST - _TINY:
                best, found = value, term
    return found, best


@helper
def _search(index, seen, asked, edges, memory, ends, heads, text, found):  # type: ignore[no-untyped-def]
    """As `search_by_characters`; ends, heads: `_fill_places`. text: room."""
    start, end_of, doc, words = asked.start, asked.end, asked.doc, asked.words
    key, begin, end = np.uint64(0), -1, -1
    for u in range(len(start)):
        if end_of[u] != end or start[u] > begin:
            key, begin, end = first_key(doc[u]), end_of[u], end_of[u]
        while begin > start[u]:
            begin -= 1
            key = mix(key, words[begin])
        n = ends[end] - ends[begin]
        if n < 2 or n > MOST_CHARACTERS or heads[begin] < _head_length(n):
            continue
        step = recall(memory, key)
        if step == MISSING:
            _write(text, seen, begin, end)
            term, similarity = _nearest(index, text[:n], asked.owner, doc[u])
            step = enter_found(found, u, term, similarity, edges)
            remember(memory, key, step)
        found.step[u] = step


@kernel
def search_by_characters(
    index: PhraseIndex, seen: Seen, asked: AskedSpans, edges: Floats1d, memory: Keys1d
) -> Found:
    """As `overlap.search_by_words`."""
    found = make_found(len(asked.start))
    text = np.empty(MOST_CHARACTERS, dtype=np.uint8)
    ends = np.zeros(len(seen.rows) + 1, dtype=np.int64)
    heads = np.zeros(len(seen.rows), dtype=np.int32)
    _fill_places(index, seen, ends, heads)
    _search(index, seen, asked, edges, memory, ends, heads, text, found)
    return found


@helper
def _write(text, seen, start, end):  # type: ignore[no-untyped-def]
    """Write the characters of a span."""
    rows = seen.rows
    starts = seen.table.character_starts
    characters = seen.table.characters
    n = 0
    for t in range(start, end):
        row = rows[t]
        for k in range(starts[row], starts[row + 1]):
            text[n] = characters[k]
            n += 1
