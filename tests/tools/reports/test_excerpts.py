"""Pieces cover a Doc and cut no entity."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.tools.reports.costs import Piece, cut_evenly, cut_sentences
from spacy_cascade.tools.reports.mistakes import Entity
from strategies import entities


def check(pieces: list[Piece], n_tokens: int, found: list[Entity]) -> None:
    assert [token for start, end in pieces for token in range(start, end)] == list(range(n_tokens))
    for start, end, _ in found:
        assert sum(first <= start and end <= last for first, last in pieces) == 1


@given(st.sets(st.integers(0, 19)), entities(20), entities(20))
def test_sentences(starts: set[int], gold: list[Entity], predicted: list[Entity]) -> None:
    pieces = cut_sentences(20, starts, [*gold, *predicted])
    check(pieces, 20, [*gold, *predicted])
    assert {start for start, _ in pieces} <= starts | {0}
    assert {start for start, _ in cut_sentences(20, starts, [])} == starts | {0}


@given(st.integers(1, 25), entities(20), entities(20))
def test_even_pieces(shortest: int, gold: list[Entity], predicted: list[Entity]) -> None:
    pieces = cut_evenly(20, [*gold, *predicted], shortest)
    check(pieces, 20, [*gold, *predicted])
    assert all(end - start >= shortest for start, end in pieces[:-1])


def test_by_hand() -> None:
    assert cut_sentences(9, [0, 3, 6], [(2, 4, "a"), (6, 8, "a")]) == [(0, 6), (6, 9)]
    assert cut_evenly(9, [(2, 5, "a")], shortest=3) == [(0, 5), (5, 8), (8, 9)]
    assert cut_sentences(0, [], []) == cut_evenly(0, []) == []
