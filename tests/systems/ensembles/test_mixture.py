"""Means of posteriors, and what a penalty on the background decides, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.pipeline.spans.placing import choose_disjoint
from spacy_cascade.systems.ensembles.members import (
    TypedPosteriors,
    at_temperature,
    decide,
    least_probability,
    mean_posteriors,
)

N_TOKENS, N_LABELS = 6, 3


def random_member(generator: np.random.Generator) -> TypedPosteriors:
    bounds = [(s, e) for s in range(N_TOKENS) for e in range(s + 1, N_TOKENS + 1)]
    chosen = generator.choice(len(bounds), 7, replace=False)
    start, end = np.array([bounds[i] for i in chosen], dtype=np.int64).T
    return TypedPosteriors(start, end, generator.random((7, N_LABELS)) / N_LABELS)


def as_table(spans: TypedPosteriors) -> dict[tuple[int, int], np.ndarray]:
    rows = zip(spans.start.tolist(), spans.end.tolist(), spans.probabilities, strict=True)
    return {(start, end): by_label for start, end, by_label in rows}


def test_the_mean_counts_0_where_a_member_lists_no_span(generator: np.random.Generator) -> None:
    members = [random_member(generator) for _ in range(4)]
    found = as_table(mean_posteriors(members))
    tables = [as_table(member) for member in members]
    assert found.keys() == set().union(*tables)
    assert list(found) == sorted(found)
    for bounds, by_label in found.items():
        total = sum((table.get(bounds, np.zeros(N_LABELS)) for table in tables), np.zeros(N_LABELS))
        np.testing.assert_allclose(by_label, total / 4, rtol=1e-12)


@pytest.mark.parametrize("penalty", [0.0, 0.4, 0.9])
def test_what_is_chosen_gains_most(generator: np.random.Generator, penalty: float) -> None:
    """Of spans that overlap; whether these are the best has tests of its own (`placing`)."""
    spans = mean_posteriors([random_member(generator) for _ in range(2)])
    decision = decide(spans, penalty)
    best = spans.probabilities.max(axis=1)
    gains = best - least_probability(penalty)
    chosen = choose_disjoint(spans.start, spans.end, gains)
    np.testing.assert_array_equal(decision.chosen, chosen)
    assert (gains[chosen] > 0).all()
    np.testing.assert_array_equal(decision.label, spans.probabilities.argmax(axis=1))
    np.testing.assert_array_equal(decision.probability, best)


def test_the_penalty_is_that_of_the_paper() -> None:
    """Background only where its summed probability wins by more than the penalty threshold."""
    n_members, threshold = 10, 2.0
    for probability in np.arange(0.02, 1.0, 0.04):
        one = TypedPosteriors(np.array([0]), np.array([1]), np.array([[probability]]))
        entity, background = n_members * probability, n_members * (1 - probability)
        is_entity = bool(decide(one, threshold / n_members).chosen[0])
        assert is_entity == (background - entity <= threshold)


def test_the_mean_of_nothing() -> None:
    nothing = TypedPosteriors(np.zeros(0, int), np.zeros(0, int), np.zeros((0, 2)))
    assert not len(mean_posteriors([nothing, nothing]).start)
    assert not len(decide(nothing, 0.5).chosen)


def test_temperatures_divide_log_odds() -> None:
    probabilities = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    np.testing.assert_allclose(at_temperature(probabilities, 1.0), probabilities)
    flatter = at_temperature(probabilities, 2.0)
    np.testing.assert_allclose(
        flatter, np.sqrt(probabilities) / (np.sqrt(probabilities) + np.sqrt(1 - probabilities))
    )
