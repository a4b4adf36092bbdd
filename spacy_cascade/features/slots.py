"""Lexeme-level templates of units: which (lexeme, slot) rows each unit sums.

A slot that looks at several tokens has a row for each: every word inside a unit, up to
`MOST_AROUND` words of the sentence around it, and up to `MOST_RECURRENCES` different words beside
its other occurrences in the Doc, found among the first `MOST_VISITED` places with its last word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..types import Bools3d, Floats2d, Ints1d, Ints2d, Ints3d, Pointers1d, Reals2d
from .lexemes import BOUNDARY
from .links import LinkedPositions
from .plan import Slots
from .templates import (
    ANY,
    FIRST,
    HEAD_RECURRENCE,
    LAST,
    LONG_FORM_LAST,
    RECURRENCE,
    SENTENCE,
)

MOST_AROUND = 256
MOST_RECURRENCES = 8
MOST_VISITED = 64


@inlined
def _same_span(forms, first, last, candidate):  # type: ignore[no-untyped-def]
    """Whether the words from `first` to `last` stand also so that they end at `candidate`."""
    same = True
    for back in range(last - first + 1):
        same &= candidate >= back and forms[candidate - back] == forms[last - back]
        if not same:
            break
    return same


class Occurrences(NamedTuple):
    """Where the word of a position occurs again, int32 `[P]` each.

    forms: number of the word in lower case, by which occurrences are known. earliest: the first
    position in its Doc with the same form. following: the next one, or -1. group: number of the
    form in its Doc, -1 where it occurs there once.

    n_listed `[G, R]`, listed `[G, R, MOST_RECURRENCES]`: the positions beside the first occurrences
    of a form, for each offset of recurrences. All occurrences of the form see this list, but for
    those that are beside it themselves. Of these each sees what is left of it without the position
    beside it, unless its word stands beside others, too, or may do so where the search ended:
    recurring, bool of the same shape. So one search does for most of them.
    """

    forms: Ints1d
    earliest: Ints1d
    following: Ints1d
    group: Ints1d
    n_listed: Ints2d
    listed: Ints3d
    recurring: Bools3d


_NONE = np.zeros(0, dtype=np.int32)
_NONE_LISTED = _NONE.reshape(0, 0, MOST_RECURRENCES)
NO_OCCURRENCES = Occurrences(
    *(_NONE,) * 4, _NONE.reshape(0, 0), _NONE_LISTED, _NONE_LISTED.astype(np.bool_)
)
"""Where templates do not look at them."""


@inlined
def _recurrences(lexemes, forms, following, start, begin, last, but, offset, places):  # type: ignore[no-untyped-def]
    """Write positions beside the first occurrences of `begin … last` in the Doc, but for one.

    start: the first position with the last word. but: last position of the occurrence that does not
    count. For offset 0 these are the positions of the last words of the occurrences. No two of them
    have the same word. The number of visits does not depend on the length of the Doc.
    """
    n = 0
    position = start
    for _ in range(MOST_VISITED):
        if position < 0 or n == MOST_RECURRENCES:
            break
        if position != but and (begin == last or _same_span(forms, begin, last, position)):
            place = position + offset if offset >= 0 else position - (last - begin) + offset
            known = False
            for k in range(n):
                known |= lexemes[places[k]] == lexemes[place]
            if not known:
                places[n] = place
                n += 1
        position = following[position]
    return n


@kernel
def find_occurrences(
    lexemes: Ints1d, form_of: Ints1d, doc_starts: Ints1d, offsets: Ints1d
) -> tuple[Ints1d, Ints1d, Ints1d, Ints1d, Ints2d, Ints3d, Bools3d]:
    """The `Occurrences` of positions.

    form_of: for each lexeme the number of its form. offsets: int32 `[R]`, of recurrences.
    """
    forms = np.empty(len(lexemes), dtype=np.int32)
    highest = 0
    for position in range(len(lexemes)):
        forms[position] = form_of[lexemes[position]]
        highest = max(highest, forms[position])
    earliest, following = np.empty_like(forms), np.empty_like(forms)
    group = np.full_like(forms, -1)
    latest = np.empty(highest + 1, dtype=np.int32)
    n_groups = 0
    for form in range(highest + 1):
        latest[form] = -1
    for doc in range(len(doc_starts) - 1):
        for position in range(doc_starts[doc], doc_starts[doc + 1]):
            before = latest[forms[position]]
            latest[forms[position]] = position
            following[position] = -1
            earliest[position] = position
            if before >= doc_starts[doc]:
                following[before] = position
                earliest[position] = earliest[before]
                if group[before] < 0:
                    group[before] = n_groups
                    n_groups += 1
                group[position] = group[before]
    n_listed = np.zeros((n_groups, len(offsets)), dtype=np.int32)
    listed = np.empty((n_groups, len(offsets), MOST_RECURRENCES), dtype=np.int32)
    recurring = np.empty(listed.shape, dtype=np.bool_)
    for p in range(doc_starts[0], doc_starts[-1]):
        # What stands beside boundary words is never asked for, and may be beyond the end.
        if lexemes[p] == BOUNDARY or earliest[p] != p or following[p] < 0:
            continue
        for r in range(len(offsets)):
            g, n, position = group[p], 0, np.int64(p)
            for _ in range(MOST_VISITED):
                if position < 0 or n == MOST_RECURRENCES:
                    break
                place, is_known = position + offsets[r], False
                for k in range(n):
                    if lexemes[listed[g, r, k]] == lexemes[place]:
                        is_known = recurring[g, r, k] = True
                if not is_known:
                    listed[g, r, n], recurring[g, r, n] = place, False
                    n += 1
                position = following[position]
            n_listed[g, r] = n
            for k in range(n if position >= 0 else 0):
                recurring[g, r, k] = True
    return forms, earliest, following, group, n_listed, listed, recurring


@inlined
def _places_around(lexemes, first, last, places):  # type: ignore[no-untyped-def]
    """Write the positions of the rest of the sentence, nearest first; how many there are."""
    n = 0
    for step, start in ((-1, first - 1), (1, last + 1)):
        position = start
        while n < MOST_AROUND and lexemes[position] != BOUNDARY:
            places[n] = position
            n += 1
            position += step
    return n


@kernel
def slot_rows(
    slots: Slots,
    lexemes: Ints1d,
    occurrences: Occurrences,
    links: LinkedPositions,
    first: Ints1d,
    last: Ints1d,
    begin: int,
) -> tuple[Pointers1d, Ints1d]:
    """Sparse rows of units: which (lexeme, slot) rows make up each unit's score.

    Row `lexeme * n_slots + slot`, for slots from `begin` on. occurrences, links: of the
    positions, read only where slots look at them. first, last: int32 `[U]`, positions.

    All arrays have names of their own: to hand them to an inlined function in the inner loop, for
    which numba counts references, would take most of the time.
    """
    forms, earliest, following, groups, n_listed, listed, recurring = occurrences
    link_of = links.number
    n_slots = len(slots.anchor)
    starts = np.zeros(len(first) + 1, dtype=np.int64)
    columns = np.empty((n_slots - begin) * (len(first) + 1), dtype=np.int32)
    places = np.empty(MOST_AROUND, dtype=np.int32)
    size = 0
    for unit in range(len(first)):
        inside = last[unit] - first[unit] + 1
        if inside > len(places):
            places = np.empty(inside, dtype=np.int32)
        link = -1  # the last one from its words
        for position in range(first[unit], last[unit] + 1 if len(link_of) else 0):
            link = link_of[position] if link_of[position] >= 0 else link
        for s in range(begin, n_slots):
            anchor, offset = slots.anchor[s], slots.offset[s]
            if anchor in (FIRST, LAST):
                n = 1
                places[0] = (first[unit] if anchor == FIRST else last[unit]) + offset
            elif anchor == ANY:
                n = inside
                for k in range(inside):
                    places[k] = first[unit] + k
            elif anchor == SENTENCE:
                n = _places_around(lexemes, first[unit], last[unit], places)
            elif anchor in (RECURRENCE, HEAD_RECURRENCE):
                end, n, r = last[unit], 0, slots.recurrence[s]
                start = end if anchor == HEAD_RECURRENCE else first[unit]
                group, own = groups[end], np.int64(-1)
                if start < end:
                    n = -1
                elif group >= 0:
                    for k in range(n_listed[group, r]):
                        place = listed[group, r, k]
                        if place == end + offset:
                            own = k
                        else:
                            places[n] = place
                            n += 1
                    if own >= 0 and recurring[group, r, own]:
                        # A list of one word stays what it is, wherever that stands.
                        places[0] = end + offset
                        n = 1 if n == 0 else -1
                if n < 0:
                    n = _recurrences(
                        lexemes, forms, following, earliest[end], start, end, end, offset, places
                    )  # fmt: skip
            elif link < 0:
                continue
            else:
                start, end = links.first[link], links.last[link]
                start = end if anchor == LONG_FORM_LAST else start
                n = end - start + 1
                for k in range(n):
                    places[k] = start + k
            if size + n > len(columns):
                grown = np.empty(2 * (size + n), dtype=np.int32)
                for k in range(size):
                    grown[k] = columns[k]
                columns = grown
            for k in range(n):
                columns[size] = lexemes[places[k]] * n_slots + s
                size += 1
        starts[unit + 1] = size
    return starts, columns[:size].copy()


@kernel
def add_edge_scores(
    slots: Slots,
    n_edge_slots: int,
    lexemes: Ints1d,
    first: Ints1d,
    last: Ints1d,
    by_lexeme: Reals2d,
    out: Floats2d,
) -> None:
    """`out[u] += Σ_s by_lexeme[lexeme · n_slots + s]` over the slots that look at one token.

    These are the first ones, which stand a few places from the first or last token of each unit:
    most of all rows, so it pays not to write them down. by_lexeme `[n_lexemes · n_slots, S]`, out
    `[U, S]`. (docs/method.md, section 7.2)
    """
    n_slots, width = len(slots.anchor), out.shape[1]
    for unit in range(len(first)):
        for s in range(n_edge_slots):
            place = (first[unit] if slots.anchor[s] == FIRST else last[unit]) + slots.offset[s]
            row = lexemes[place] * n_slots + s
            for c in range(width):
                out[unit, c] += by_lexeme[row, c]
