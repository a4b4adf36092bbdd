"""Thresholds on confidences: scores as if entities had been left out one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.tools.reports.costs import Judged
from spacy_cascade.tools.reports.mistakes import compare
from spacy_cascade.tools.reports.sweep import STEPS, sweep

GOLD = [(0, 1, "A"), (2, 4, "B"), (5, 6, "A")]
FOUND = [(0, 1, "A"), (2, 4, "A"), (5, 6, "A"), (8, 9, "B")]


def judged(confidences: list[float | None]) -> Judged:
    return Judged(compare(GOLD, FOUND), confidences, [None] * len(GOLD), [])


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_scores_are_those_of_the_entities_that_are_left(confidences: list[float]) -> None:
    found = sweep([judged(list(confidences))])
    assert found is not None
    assert len(found.thresholds) == len(found.scores) == STEPS + 1
    for threshold, score in found.every(7):
        left = [e for e, c in zip(FOUND, confidences, strict=True) if c >= threshold]
        assert score.n_predicted == len(left)
        assert score.n_right == len(set(left) & set(GOLD))
        assert score.n_gold == 3
    best = found.scores[found.best].f1
    assert best == max(score.f1 for score in found.scores)


def test_entities_without_confidence_are_kept() -> None:
    found = sweep([judged([0.5, None, 0.2, None])])
    assert found is not None
    assert [score.n_predicted for _, score in found.every(50)] == [4, 3, 2]
    assert sweep([judged([None] * 4)]) is None
    assert sweep([]) is None
