"""Costs of mistakes by hand, pieces that cover a Doc and cut no entity, and mistakes by text."""

from __future__ import annotations

import math
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.tools.reports.costs import (
    SMALLEST,
    Judged,
    Mistake,
    Piece,
    Repeated,
    bad_pieces,
    choose,
    count_labels,
    cut_evenly,
    cut_sentences,
    find_mistakes,
    negative_log_likelihood,
    repeated_mistakes,
)
from spacy_cascade.tools.reports.mistakes import Entity, Kind, compare
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


def test_surprise() -> None:
    assert negative_log_likelihood(None) == 1.0
    assert negative_log_likelihood(1.0) == 0.0
    assert negative_log_likelihood(0.5) == pytest.approx(math.log(2))
    assert negative_log_likelihood(0.0) == negative_log_likelihood(-1e-9) == -math.log(SMALLEST)
    assert negative_log_likelihood(1.0 + 1e-9) == 0.0


def test_mistakes_of_a_doc() -> None:
    found = compare([(0, 1, "a"), (3, 5, "b")], [(0, 1, "a"), (3, 4, "b"), (7, 8, "b")])
    mistakes = find_mistakes(Judged(found, [0.9, 0.75, None], [0.8, 0.25], []))
    assert [(m.entity, m.is_gold, m.kind) for m in mistakes] == [
        ((3, 5, "b"), True, Kind.WRONG_BOUNDS),
        ((3, 4, "b"), False, Kind.WRONG_BOUNDS),
        ((7, 8, "b"), False, Kind.SPURIOUS),
    ]
    assert [m.cost for m in mistakes] == pytest.approx([math.log(4), math.log(4), 1.0])
    assert [m.probability for m in mistakes] == [0.25, 0.75, None]


def test_the_most_costly_piece_comes_first() -> None:
    cheap = Judged(compare([(0, 1, "a")], []), [], [0.5], [(0, 4)])
    fine = Judged(compare([(0, 1, "a")], [(0, 1, "a")]), [0.1], [0.1], [(0, 4)])
    found = compare([(1, 2, "a"), (5, 6, "a")], [(1, 2, "b"), (8, 9, "a")])
    dear = Judged(found, [0.99, 0.6], [0.01, 0.3], [(0, 4), (4, 8), (8, 12)])
    pieces = bad_pieces([cheap, fine, dear, cheap])
    assert [(p.doc, p.piece) for p in pieces] == [
        (2, (0, 4)),
        (2, (4, 8)),
        (2, (8, 12)),
        (0, (0, 4)),
        (3, (0, 4)),
    ]
    assert [p.cost for p in pieces] == pytest.approx(
        [2 * math.log(100), -math.log(0.3), -math.log(0.4), math.log(2), math.log(2)]
    )
    assert [len(p.mistakes) for p in pieces] == [2, 1, 1, 1, 1]


def mistake(start: int, end: int, label: str, is_gold: bool, cost: float) -> Mistake:
    return Mistake((start, end, label), is_gold, Kind.WRONG_TYPE, None, cost)


def test_mistakes_with_the_same_words_are_one() -> None:
    found = repeated_mistakes(
        [
            (0, "IL-2 gene", mistake(0, 2, "DNA", True, 3.0)),
            (0, "IL-2 gene", mistake(0, 2, "protein", False, 1.0)),
            (4, "IL-2  gene", mistake(7, 9, "DNA", True, 2.0)),
            (4, "p53", mistake(1, 2, "protein", True, 2.5)),
        ]
    )
    assert [one.text for one in found] == ["p53", "IL-2 gene"]
    gene = found[1]
    assert (gene.n, gene.n_words, gene.cost) == (2, 4, 6.0)
    assert gene.cost_per_word == pytest.approx(1.5)
    assert gene.counts == {
        (True, "DNA", Kind.WRONG_TYPE): 2,
        (False, "protein", Kind.WRONG_TYPE): 1,
    }
    assert gene.labels == ["DNA", "protein"]
    assert count_labels(found) == {"DNA": 1, "protein": 2}


def test_each_label_and_order_has_its_first() -> None:
    def one(text: str, label: str, cost: float, n_words: int) -> Repeated:
        return Repeated(text, 1, n_words, {(True, label, Kind.MISSED): 1}, cost)

    found = [one("a", "x", 9, 1), one("b", "x", 8, 1), one("c", "x", 7, 1), one("d", "x", 60, 10)]
    found += [one("e", "y", 5, 1), one("f", "y", 4, 1)]
    orders = [attrgetter("cost_per_word"), attrgetter("cost")]
    chosen = choose(found, 2, orders)
    assert [(of.text, first) for of, first in chosen] == [
        ("a", True),
        ("b", True),
        ("d", False),
        ("e", False),
    ]
    assert choose(found, 0, orders) == []
    assert [of for of, _ in choose(found, 9, orders)] == found
