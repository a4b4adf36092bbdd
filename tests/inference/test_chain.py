"""Forward-backward, span posteriors and Viterbi against enumeration and log space."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import logsumexp

from reference import (
    Chain,
    best_path,
    chain_lattice,
    chain_loss,
    log_space_loss,
    log_space_viterbi,
    span_posterior,
    spans_of,
)
from spacy_cascade.inference.chain import log_partitions
from spacy_cascade.inference.chain_losses import chain_losses
from spacy_cascade.inference.lattice import Chains, Lattice, LossTerms, choice_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import SCHEMES, Spans, TagSet
from spacy_cascade.inference.spans import span_posteriors
from spacy_cascade.inference.viterbi import viterbi
from strategies import LABELS, chains, random_chain, random_path

LATTICES = [
    (scheme, labels, label_pairs)
    for scheme, labels, label_pairs in product(SCHEMES, (LABELS[:1], LABELS), (False, True))
]
TOLERANCE = 1e-9


def losses_of(chains_: list[Chain]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Losses, score gradients and the transitions' gradient of chains under one lattice."""
    first = chains_[0]
    costs = LinearChain(first.lattice).costs(first.costs)
    starts = np.cumsum([0, *map(len, chains_)], dtype=np.int64)
    scores = np.concatenate([chain.scores for chain in chains_])
    tags = np.concatenate([np.array(chain.tags, dtype=np.int32) for chain in chains_])
    losses = np.full(len(chains_), np.nan)
    transition_gradient = np.zeros(first.lattice.n_edges)
    together = Chains(first.lattice, scores, first.transitions, costs.margin, tags, starts)
    n, ones = len(chains_), np.ones(len(chains_))
    terms = LossTerms(costs.clamp, (ones, ones), 0, n, losses)
    chain_losses(together, terms, transition_gradient)
    return losses, np.split(scores, starts[1:-1]), transition_gradient


def alone(chain: Chain) -> Chains:
    """One chain as kernels take it."""
    margin = LinearChain(chain.lattice).costs(chain.costs).margin
    tags, starts = np.array(chain.tags, dtype=np.int32), np.array([0, len(chain)], dtype=np.int64)
    return Chains(chain.lattice, chain.scores, chain.transitions, margin, tags, starts)


def decode(chain: Chain) -> tuple[float, list[int]]:
    """Score and labels of the best path."""
    path = np.full(len(chain), -9, dtype=np.int32)
    score = np.full(1, np.nan)
    viterbi(alone(chain), path, score)
    return float(score[0]), path.tolist()


def posteriors_of(chain: Chain, tag_set: TagSet, spans: list[tuple[int, int, str]]) -> np.ndarray:
    """Posteriors of non-overlapping spans of one chain."""
    path = np.zeros(len(chain), dtype=np.int32)
    numbered = [(start, end, tag_set.labels.index(label)) for start, end, label in spans]
    posteriors = np.full(len(spans), np.nan)
    start, end, label = np.array(numbered, dtype=np.int64).reshape(-1, 3).T.copy()
    found = Spans(start, end, label.astype(np.int32))
    tag_set.write(path, *found)
    span_posteriors(alone(chain), path, found, np.zeros(len(spans), dtype=np.int32), posteriors)
    return posteriors


@pytest.mark.parametrize(("scheme", "labels", "label_pairs"), LATTICES)
@pytest.mark.parametrize("length", [1, 2, 4])
def test_losses_and_gradients_are_those_of_enumeration(
    scheme, labels, label_pairs, length, generator
):
    lattice = TagSet(scheme, labels).lattice(label_pairs)
    for missing in (0.0, 0.4):
        chain = random_chain(generator, lattice, length, missing)
        losses, gradients, transition_gradient = losses_of([chain])
        loss, by_scores, by_transitions = chain_loss(chain)
        np.testing.assert_allclose(losses, [loss], atol=TOLERANCE)
        np.testing.assert_allclose(gradients[0], by_scores, atol=TOLERANCE)
        np.testing.assert_allclose(transition_gradient, by_transitions, atol=TOLERANCE)


@settings(max_examples=60)
@given(chains())
def test_losses_of_any_chain(example):
    _, chain = example
    losses, gradients, transition_gradient = losses_of([chain])
    loss, by_scores, by_transitions = chain_loss(chain)
    np.testing.assert_allclose(losses, [loss], atol=TOLERANCE)
    np.testing.assert_allclose(gradients[0], by_scores, atol=TOLERANCE)
    np.testing.assert_allclose(transition_gradient, by_transitions, atol=TOLERANCE)


@settings(max_examples=60)
@given(chains())
def test_log_partition_of_any_chain(example):
    _, chain = example
    values, scores = np.full(1, np.nan), chain.scores.copy()
    log_partitions(alone(chain)._replace(scores=scores), values)
    expected = logsumexp([chain.score(path) + chain.cost(path) for path in chain.paths()])
    assert values[0] == pytest.approx(expected, abs=TOLERANCE)
    np.testing.assert_array_equal(scores, chain.scores)


@settings(max_examples=60)
@given(chains())
def test_viterbi_of_any_chain(example):
    _, chain = example
    score, labels = decode(chain)
    best, _ = best_path(chain)
    assert score == pytest.approx(best, abs=TOLERANCE)
    # Several paths may be best: this one must be legal and reach the score.
    scores = {
        tuple(chain.labels(path)): chain.score(path) + chain.cost(path) for path in chain.paths()
    }
    assert scores[tuple(labels)] == pytest.approx(best, abs=TOLERANCE)


@settings(max_examples=60)
@given(chains())
def test_posterior_of_every_span_of_any_chain(example):
    tag_set, chain = example
    for start in range(len(chain)):
        for end in range(start + 1, len(chain) + 1):
            for label in tag_set.labels:
                span = (start, end, label)
                found = posteriors_of(chain, tag_set, [span])
                expected = span_posterior(chain, tag_set, span)
                np.testing.assert_allclose(found, [expected], atol=TOLERANCE)


@pytest.mark.parametrize(("scheme", "labels", "label_pairs"), LATTICES)
def test_viterbi_and_posteriors_of_its_spans(scheme, labels, label_pairs, generator):
    tag_set = TagSet(scheme, labels)
    lattice = tag_set.lattice(label_pairs)
    chain = random_chain(generator, lattice, 5, missing=1.0, size=2.0)
    score, path = decode(chain)
    best, best_labels = best_path(chain)
    assert score == pytest.approx(best, abs=TOLERANCE)
    assert path == best_labels
    spans = spans_of([tag_set.tags[label] for label in path])
    expected = [span_posterior(chain, tag_set, span) for span in spans]
    np.testing.assert_allclose(posteriors_of(chain, tag_set, spans), expected, atol=TOLERANCE)


def test_sequences_do_not_touch_each_other(generator):
    lattice = TagSet("BILOU", LABELS).lattice(True)
    first = random_chain(generator, lattice, 3)
    others = [
        replace(
            random_chain(generator, lattice, n), transitions=first.transitions, costs=first.costs
        )
        for n in (1, 0, 5, 2)
    ]
    together = [first, *others]
    losses, gradients, transition_gradient = losses_of(together)
    expected = np.zeros(lattice.n_edges)
    for chain, loss, gradient in zip(together, losses, gradients, strict=True):
        if len(chain) == 0:
            assert loss == 0.0
            continue
        alone, by_scores, by_transitions = losses_of([chain])
        assert loss == alone[0]
        np.testing.assert_array_equal(gradient, by_scores[0])
        expected += by_transitions
    np.testing.assert_allclose(transition_gradient, expected, atol=TOLERANCE)


def test_only_the_given_sequences_are_computed(generator):
    lattice = TagSet("IOB2", LABELS).lattice(True)
    tags = np.array(random_path(generator, lattice, 9), dtype=np.int32)
    tags[[0, 3, 6]] = 0
    tags[[1, 4, 7]] = 1
    tags[[2, 5, 8]] = 2
    scores = generator.normal(size=(9, lattice.n_columns))
    before, losses = scores.copy(), np.full(3, np.nan)
    costs = LinearChain(lattice).costs(np.zeros((lattice.n_labels, lattice.n_labels)))
    starts, no_transitions = np.array([0, 3, 6, 9], dtype=np.int64), np.zeros(lattice.n_edges)
    chains = Chains(lattice, scores, no_transitions, costs.margin, tags, starts)
    terms = LossTerms(costs.clamp, (np.ones(3), np.ones(3)), 1, 2, losses)
    chain_losses(chains, terms, np.zeros(lattice.n_edges))
    assert np.isnan(losses).tolist() == [True, False, True]
    np.testing.assert_array_equal(scores[[0, 1, 2, 6, 7, 8]], before[[0, 1, 2, 6, 7, 8]])
    assert (scores[3:6] != before[3:6]).all()


def test_unobserved_sequences_cost_nothing(generator):
    lattice = TagSet("IOB2", LABELS).lattice(False)
    chain = random_chain(generator, lattice, 4, missing=1.0)
    losses, gradients, transition_gradient = losses_of([chain])
    assert losses.tolist() == [0.0]
    assert not gradients[0].any()
    assert not transition_gradient.any()


@pytest.mark.parametrize("kappa", [0.0, 0.7, 5.0])
def test_free_choices(kappa, generator):
    lattice = choice_lattice(4)
    chain = replace(
        random_chain(generator, lattice, 1, missing=0.0),
        transitions=np.zeros(4),
        costs=kappa * (1.0 - np.eye(4)),
    )
    losses, gradients, _ = losses_of([chain])
    gold = chain.tags[0]
    augmented = chain.scores[0] + chain.costs[gold]
    assert losses[0] == pytest.approx(np.log(np.exp(augmented).sum()) - chain.scores[0, gold])
    softmax = np.exp(augmented) / np.exp(augmented).sum()
    np.testing.assert_allclose(gradients[0][0], softmax - np.eye(4)[gold], atol=TOLERANCE)


def test_labels_that_nothing_leads_to():
    """A label that only stands before the sequence has no way in and breaks nothing."""
    lattice = chain_lattice(
        ["x", "y", "start"],
        follows=lambda _, current: current != "start",
        continues=lambda *_: False,
        ends=lambda _: True,
        start="start",
        label_pairs=False,
    )
    chain = random_chain(np.random.default_rng(3), lattice, 4)
    losses, gradients, transition_gradient = losses_of([chain])
    loss, by_scores, by_transitions = chain_loss(chain)
    assert losses[0] == pytest.approx(loss, abs=TOLERANCE)
    np.testing.assert_allclose(gradients[0], by_scores, atol=TOLERANCE)
    np.testing.assert_allclose(transition_gradient, by_transitions, atol=TOLERANCE)
    assert decode(chain)[1] == best_path(chain)[1]


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_long_chain_with_large_weights(size, generator):
    """Twenty thousand tokens: everything finite, and equal to plain log space."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(True)
    chain = random_chain(generator, lattice, 20_000, missing=0.1, size=size)
    losses, gradients, transition_gradient = losses_of([chain])
    loss, by_scores, by_transitions = log_space_loss(chain)
    assert losses[0] == pytest.approx(loss, rel=TOLERANCE)
    np.testing.assert_allclose(gradients[0], by_scores, atol=TOLERANCE)
    np.testing.assert_allclose(transition_gradient, by_transitions, rtol=1e-8, atol=1e-8)
    score, labels = decode(chain)
    best, best_labels = log_space_viterbi(chain)
    assert score == pytest.approx(best, rel=TOLERANCE)
    assert labels == best_labels


def test_read_only_arrays(generator):
    """Weights in shared memory cannot be written to, and need not be."""
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs=True)
    chain = random_chain(generator, lattice, 5, missing=1.0)
    expected = decode(chain)
    for array in (chain.scores, chain.transitions, *lattice[:-1]):
        array.flags.writeable = False
    assert decode(chain) == expected


def divided(lattice: Lattice, length: int, gap: float, gain: float) -> Chain:
    """A chain that starts far inside a span, where it costs a lot to leave or to enter.

    Inside there are ever more paths of equal score; outside there is one, and it gains at
    every token.
    """
    scores = np.zeros((length, lattice.n_labels))
    scores[1:, 0] = gain
    scores[0, 1] = 2 * gap
    crossing = (lattice.source == 0) != (lattice.target == 0)
    tags = [1, *[-1] * (length // 2), *[0] * (length - length // 2 - 1)]
    costs = np.zeros((lattice.n_labels, lattice.n_labels))
    return Chain(lattice, scores, np.where(crossing, -gap, 0.0), costs, tags)


@pytest.mark.parametrize("length", [1200, 1300, 5000])
def test_one_path_against_many_across_a_wide_gap(length):
    """The best path and the mass of all paths disagree by more than a float can hold."""
    tag_set = TagSet("IOB2", LABELS[:1])
    chain = divided(tag_set.lattice(False), length, gap=1000.0, gain=1.5)
    losses, gradients, transition_gradient = losses_of([chain])
    loss, by_scores, by_transitions = log_space_loss(chain)
    assert losses[0] == pytest.approx(loss, rel=TOLERANCE, abs=1e-8)
    np.testing.assert_allclose(gradients[0], by_scores, atol=1e-8)
    np.testing.assert_allclose(transition_gradient, by_transitions, atol=1e-6)
    posteriors = posteriors_of(chain, tag_set, [(0, 1, LABELS[0])])
    assert np.isfinite(posteriors).all()
