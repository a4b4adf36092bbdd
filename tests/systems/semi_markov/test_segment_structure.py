"""The semi-Markov chain on several sequences, and at the ends of what it can be asked."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise

import numpy as np

from reference import encoded_of
from spacy_cascade.inference.online_prior import no_prior
from spacy_cascade.inference.schemes import ENDED, UNOBSERVED, Spans, TagSet
from spacy_cascade.inference.structure import Averaged, OnlineStep, Part
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.numeric.design import SegmentRows
from spacy_cascade.systems.semi_markov.segments import segment_posteriors
from spacy_cascade.systems.semi_markov.structure import (
    SegmentPotentials,
    SegmentScores,
    SemiMarkovChain,
)

LONGEST = 4
CHAIN = SemiMarkovChain(TagSet("BILOU", ("A", "B")), label_pairs=False)
STARTS = np.array([0, 5, 25, 25, 28, 34, 36, 56, 76, 96])
NOTHING = np.zeros(0, dtype=np.int32)


def several_sequences(generator: np.random.Generator) -> SegmentPotentials:
    """With scores of segments of two and of three tokens."""
    n = int(STARTS[-1])
    ends, length = 2 * np.arange(n + 1), np.tile(np.array([2, 3], dtype=np.int32), n)
    segments = SegmentScores(ends, length, generator.normal(size=(2 * n, 2)), LONGEST)
    scores = generator.normal(size=(n, CHAIN.n_columns))
    return SegmentPotentials(scores, generator.normal(size=CHAIN.n_transitions), STARTS, segments)


def one_sequence(n: int, transitions: np.ndarray) -> SegmentPotentials:
    """Without scores."""
    segments = SegmentScores(np.zeros(n + 1, np.int64), NOTHING, np.zeros((0, 2)), LONGEST)
    starts = np.array([0, n])
    return SegmentPotentials(np.zeros((n, CHAIN.n_columns)), transitions, starts, segments)


def test_a_sequence_has_the_same_loss_in_any_company(generator: np.random.Generator) -> None:
    """To the last bit, and so have gradients; without an observed tag there is none."""
    potentials = several_sequences(generator)
    observed, _ = CHAIN.best(potentials)
    observed[STARTS[3] : STARTS[4]] = UNOBSERVED
    observed[STARTS[4] : STARTS[5] : 2] = UNOBSERVED
    observed[STARTS[5] : STARTS[6]] = ENDED, UNOBSERVED
    costs = CHAIN.costs(generator.random((CHAIN.n_labels,) * 2))
    alone = [deepcopy(potentials).of_sequence(*bounds) for bounds in pairwise(STARTS.tolist())]
    expected, losses = np.full((2, len(alone)), np.nan)
    of_transitions = np.zeros(CHAIN.n_transitions)
    for i, (one, begin) in enumerate(zip(alone, STARTS.tolist(), strict=False)):
        tags = observed[begin : begin + len(one.scores)]
        of_transitions += CHAIN.losses(Part(one, tags, 0, 1, expected[i : i + 1]), costs)
    gradient = CHAIN.losses(Part(potentials, observed, 0, len(alone), losses), costs)
    np.testing.assert_array_equal(losses, expected)
    assert (losses == 0.0).tolist() == [i in (2, 3, 5) for i in range(9)]
    for found, *parts in zip(potentials.scored, *(one.scored for one in alone), strict=True):
        np.testing.assert_array_equal(found, np.concatenate(parts))
    np.testing.assert_allclose(gradient, of_transitions, atol=1e-12)


def test_a_sequence_has_the_same_likely_spans_in_any_company(
    generator: np.random.Generator,
) -> None:
    potentials, expected = several_sequences(generator), []
    for begin, end in pairwise(np.unique(STARTS).tolist()):
        found, values = CHAIN.likely_spans(potentials.of_sequence(begin, end), 0.02)
        expected.append(np.stack([found.start + begin, found.end + begin, found.label, values]))
    found, values = CHAIN.likely_spans(potentials, 0.02)
    np.testing.assert_array_equal(np.stack([*found, values]), np.concatenate(expected, axis=1))
    path = np.zeros(STARTS[-1], dtype=np.int32)
    np.testing.assert_array_equal(CHAIN.span_posteriors(potentials, path, found), values)


def test_a_span_that_is_too_long_has_no_probability(generator: np.random.Generator) -> None:
    potentials, found = several_sequences(generator), np.full(2, np.nan)
    spans = Spans(np.array([6, 6]), np.array([10, 11]), np.zeros(2, dtype=np.int32))
    of_spans, sequences = CHAIN._segments(potentials), np.ones(2, dtype=np.int32)
    segment_posteriors(CHAIN._grid, CHAIN._chains(potentials), of_spans, spans, sequences, found)
    assert found[0] > found[1] == 0.0


def test_where_no_segmentation_is_possible_no_span_is_likely(
    generator: np.random.Generator,
) -> None:
    potentials = several_sequences(generator)
    potentials.scores[7] = -np.inf
    partitions = CHAIN.log_partitions(potentials)
    assert np.flatnonzero(np.isneginf(partitions)).tolist() == [1]
    found, _ = CHAIN.likely_spans(potentials, 0.02)
    sequences = np.searchsorted(STARTS, found.start, side="right") - 1
    assert np.unique(sequences).tolist() == [0, 3, 4, 5, 6, 7, 8]


def test_the_best_few_are_the_first_of_many(generator: np.random.Generator) -> None:
    potentials = several_sequences(generator)
    many = CHAIN.k_best(potentials, 20)
    for k in (1, 2, 3, 5):
        for few, found in zip(CHAIN.k_best(potentials, k), many, strict=True):
            np.testing.assert_array_equal(few, found[:k])


def test_ties_go_to_the_edge_listed_first_and_to_the_shorter_span() -> None:
    potentials, tags = one_sequence(4, np.zeros(CHAIN.n_transitions)), CHAIN.tag_set.tags
    assert [tags[y] for y in CHAIN.best(potentials)[0]] == ["O"] * 4
    potentials.scores[3, tags.index("L-B")] = 1.0
    assert [tags[y] for y in CHAIN.best(potentials)[0]] == ["O", "O", "B-B", "L-B"]


def test_an_online_update_leaves_what_is_right_already(generator: np.random.Generator) -> None:
    """Also where sums of the same numbers do not cancel out to the last bit."""
    n, costs = 9, CHAIN.costs(np.zeros((CHAIN.n_labels,) * 2))
    starts, prior = np.array([0, n]), no_prior(CHAIN.n_columns, CHAIN.n_transitions)
    none = np.zeros(n + 1, dtype=np.int64)
    segments = SegmentRows(none, NOTHING, BinaryCSR(none[:1], NOTHING, 1), LONGEST)
    encoded = encoded_of(BinaryCSR(none, NOTHING, 1), segments)
    for _ in range(20):
        transitions = generator.normal(size=CHAIN.n_transitions)
        right, _ = CHAIN.best(one_sequence(n, transitions))
        drifts = np.zeros((1, CHAIN.n_columns)), np.zeros_like(transitions)
        averaged = Averaged(np.zeros_like(drifts[0]), drifts[0], transitions.copy(), drifts[1])
        step = OnlineStep(costs, False, 1e9, none[:1], np.ones(1), averaged, prior)
        loss = CHAIN.learn_online(encoded, right, starts)(step)
        assert 0.0 <= loss < 1e-9
        np.testing.assert_allclose(averaged.transitions, transitions, atol=1e-6)
