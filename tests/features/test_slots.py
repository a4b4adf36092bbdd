"""Rows of slots, against a look at each place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from spacy_cascade.features.lexemes import BOUNDARY
from spacy_cascade.features.links import LinkedPositions
from spacy_cascade.features.plan import Slots
from spacy_cascade.features.slots import MOST_AROUND, NO_OCCURRENCES, add_edge_scores, slot_rows
from spacy_cascade.features.templates import ANY, FIRST, LAST, LONG_FORM, LONG_FORM_LAST, SENTENCE

EDGES = [(FIRST, -1), (FIRST, 0), (LAST, -1), (LAST, 1)]
PLACES = [*EDGES, (ANY, 0), (SENTENCE, 0), (LONG_FORM, 0), (LONG_FORM_LAST, 0)]
LINKS = [(2, 2), (1, 3), (2, 4)]
"""First and last position of what links lead to."""


def words_at(
    place: tuple[int, int], sentence: range, first: int, last: int, link: int
) -> Sequence[int]:
    """The positions that a place stands for."""
    anchor, offset = place
    if anchor in (FIRST, LAST):
        edge = (first if anchor == FIRST else last) + offset
        return range(edge, edge + 1)
    if anchor == ANY:
        return range(first, last + 1)
    if anchor == SENTENCE:
        before, after = range(first - 1, sentence.start - 1, -1), range(last + 1, sentence.stop)
        return [*before, *after][:MOST_AROUND]
    if link < 0:
        return range(0)
    begin, end = LINKS[link]
    return range(end if anchor == LONG_FORM_LAST else begin, end + 1)


@pytest.mark.parametrize("lengths", [[4, 1, 3], [300, 270, 2]])
def test_rows_of_words_at_their_places(lengths: list[int]) -> None:
    """Short and long units in any order; one word before and after each sentence is a boundary.

    What stands for something else is known by the last of its words that does.
    """
    draw = np.random.default_rng(len(lengths))
    line, sentences = [BOUNDARY], []
    for length in lengths:
        sentences.append(range(len(line), len(line) + length))
        line += [*draw.integers(1, 9, length).tolist(), BOUNDARY]
    numbers = draw.choice([-1, -1, 0, 1, 2], len(line))
    units = [
        (sentence, first, last)
        for sentence in sentences
        for first in sentence[:3]
        for last in {*sentence[first - sentence.start :][:3], sentence[-1]}
    ]
    draw.shuffle(units)
    first, last = (np.array([unit[i] for unit in units], dtype=np.int32) for i in (1, 2))
    lexemes = np.array(line, dtype=np.int32)
    of_links = np.array(LINKS, dtype=np.int32).T.copy()
    links = LinkedPositions(numbers.astype(np.int32), *of_links)
    anchor, offset = np.array(PLACES, dtype=np.int32).T.copy()
    nothing = np.zeros(0, dtype=np.int32)
    slots = Slots(anchor, offset, np.full(len(PLACES), -1, dtype=np.int32), nothing)
    expected = []
    for sentence, start, end in units:
        known = [number for number in numbers[start : end + 1].tolist() if number >= 0]
        link = known[-1] if known else -1
        expected.append(
            [
                (line[t] * len(PLACES) + s, s)
                for s, place in enumerate(PLACES)
                for t in words_at(place, sentence, start, end, link)
            ]
        )
    for begin in (0, len(EDGES)):
        rows = slot_rows(slots, lexemes, NO_OCCURRENCES, links, first, last, begin)
        starts, columns = rows
        assert starts[0] == 0
        assert starts[-1] == len(columns)
        for (i, j), own in zip(pairwise(starts.tolist()), expected, strict=True):
            assert columns[i:j].tolist() == [row for row, s in own if s >= begin]
    by_lexeme = draw.normal(size=(10 * len(PLACES), 2))
    out = np.ones((len(units), 2))
    add_edge_scores(slots, len(EDGES), lexemes, first, last, by_lexeme, out)
    for scores, own in zip(out, expected, strict=True):
        edges = [by_lexeme[row] for row, s in own if s < len(EDGES)]
        np.testing.assert_allclose(scores, 1 + np.sum(edges, axis=0))
