"""Mistakes by text, and which of them a page shows."""

from __future__ import annotations

from operator import attrgetter

import pytest

from spacy_cascade.tools.reports.costs import Mistake
from spacy_cascade.tools.reports.mistakes import Kind
from spacy_cascade.tools.reports.repeated import Repeated, choose, count_labels, repeated_mistakes


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
