"""Costs by hand, and the order of the pieces."""

from __future__ import annotations

import math

import pytest

from spacy_cascade.tools.reports.costs import (
    SMALLEST,
    Judged,
    bad_pieces,
    find_mistakes,
    negative_log_likelihood,
)
from spacy_cascade.tools.reports.mistakes import Kind, compare


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
