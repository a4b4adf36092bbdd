"""What stands beside other occurrences of a word, against a search for each token."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade.features.links import NO_LINKS
from spacy_cascade.features.plan import Slots
from spacy_cascade.features.slots import (
    MOST_RECURRENCES,
    MOST_VISITED,
    Occurrences,
    find_occurrences,
    slot_rows,
)
from spacy_cascade.features.templates import HEAD_RECURRENCE, RECURRENCE

PLACES = [(RECURRENCE, -1), (RECURRENCE, 0), (RECURRENCE, 2), (HEAD_RECURRENCE, -1)]
MARGIN = 2
"""Boundary words before and after each Doc."""


def searched(line: list[int], doc: range, first: int, last: int, offset: int) -> list[int]:
    """Words beside occurrences of `first … last`, by a look at each place of the Doc."""
    same_word = [place for place in doc if line[place] // 2 == line[last] // 2]
    words: list[int] = []
    for place in same_word[:MOST_VISITED]:
        start = place - (last - first)
        there, here = line[start : place + 1], line[first : last + 1]
        is_same = start >= 0 and [word // 2 for word in there] == [word // 2 for word in here]
        if place == last or not is_same or len(words) == MOST_RECURRENCES:
            continue
        beside = line[(place if offset >= 0 else start) + offset]
        if beside not in words:
            words.append(beside)
    return words


@pytest.mark.parametrize("n_words", [2, 20])
@settings(max_examples=10)
@given(seed=st.integers(0, 1 << 30), lengths=st.lists(st.integers(1, 150), max_size=2))
def test_the_same_rows_in_the_same_order(n_words: int, seed: int, lengths: list[int]) -> None:
    """Words occur more often than is looked at, beside more words than are listed.

    Lexemes `2 f` and `2 f + 1` are two ways to write the form `f`; the first two are boundaries.
    """
    draw = np.random.default_rng(seed)
    line, docs = [0] * MARGIN, []
    for length in lengths:
        docs.append(range(len(line), len(line) + length + MARGIN))
        line += [*draw.integers(2, 2 * n_words + 2, length).tolist(), *[0] * MARGIN]
    lexemes = np.array(line, dtype=np.int32)
    form_of = np.arange(2 * n_words + 2, dtype=np.int32) // 2
    starts = np.array([*(doc.start for doc in docs), len(line)], dtype=np.int32)
    anchor, offset = np.array(PLACES, dtype=np.int32).T.copy()
    offsets = np.unique(offset)
    numbers = np.searchsorted(offsets, offset).astype(np.int32)
    slots = Slots(anchor, offset, numbers, offsets)
    units = [
        (first, last, doc)
        for doc in docs
        for first in doc[:-MARGIN]
        for last in range(first, min(first + 2, doc.stop - MARGIN))
    ]
    first, last = (np.array([unit[i] for unit in units], dtype=np.int32) for i in (0, 1))
    occurrences = Occurrences(*find_occurrences(lexemes, form_of, starts, offsets))
    cuts, columns = slot_rows(slots, lexemes, occurrences, NO_LINKS, first, last, 0)
    assert len(cuts) == len(units) + 1
    for number, (begin, end, doc) in enumerate(units):
        expected = [
            word * len(PLACES) + s
            for s, (kind, by) in enumerate(PLACES)
            for word in searched(line, doc, end if kind == HEAD_RECURRENCE else begin, end, by)
        ]
        assert columns[cuts[number] : cuts[number + 1]].tolist() == expected
