"""Forward-backward, span posteriors and Viterbi against enumeration and log space."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from reference import (
    Chain,
    best_path,
    chain_loss,
    log_space_loss,
    log_space_viterbi,
    span_posterior,
    spans_of,
)
from spacy_cascade.inference.chain import log_partitions
from spacy_cascade.inference.chain import log_space_loss as log_space_kernel
from spacy_cascade.inference.chain_losses import chain_losses
from spacy_cascade.inference.lattice import Chains, Lattice, LossTerms, choice_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import SCHEMES, Spans, TagSet
from spacy_cascade.inference.spans import span_posteriors
from spacy_cascade.inference.viterbi import viterbi
from strategies import LABELS, random_chain, random_path, together

LATTICES = [
    (scheme, labels, label_pairs)
    for scheme, labels, label_pairs in product(SCHEMES, (LABELS[:1], LABELS), (False, True))
]
TOLERANCE = 1e-9


def alone(chain: Chain) -> Chains:
    """One chain as kernels take it."""
    return together([chain])[0]


def losses_of(chain: Chain) -> tuple[float, np.ndarray, np.ndarray]:
    """The loss of a chain, and its gradients by scores and by transitions."""
    (chains, costs), losses = together([chain]), np.full(1, np.nan)
    of_transitions = np.zeros(chain.lattice.n_edges)
    terms = LossTerms(costs.clamp, (np.ones(1), np.ones(1)), 0, 1, losses)
    chain_losses(chains, terms, of_transitions)
    return float(losses[0]), chains.scores, of_transitions


def check_losses(chain: Chain, atol: float) -> None:
    """Against plain log space; atol: of the transitions' gradient, which has counts."""
    expected = log_space_loss(chain)
    loss, by_scores, by_transitions = losses_of(chain)
    assert loss == pytest.approx(expected[0], rel=TOLERANCE, abs=1e-8)
    np.testing.assert_allclose(by_scores, expected[1], atol=1e-8)
    np.testing.assert_allclose(by_transitions, expected[2], rtol=1e-8, atol=atol)


@pytest.mark.parametrize(("scheme", "labels", "label_pairs"), LATTICES)
def test_sums_and_best_paths_are_those_of_enumeration(scheme, labels, label_pairs, generator):
    """Under each scheme; any chains, by the kernels of their structure: `test_structure.py`."""
    tag_set = TagSet(scheme, labels)
    lattice = tag_set.lattice(label_pairs)
    for length, missing in product((1, 2, 4), (0.0, 0.4, 1.0)):
        chain = random_chain(generator, lattice, length, missing, size=2.0)
        for found, expected in zip(losses_of(chain), chain_loss(chain), strict=True):
            np.testing.assert_allclose(found, expected, atol=TOLERANCE)
        values, raised = np.full(1, np.nan), [chain.score(p) + chain.cost(p) for p in chain.paths()]
        log_partitions(alone(chain), values)
        assert values[0] == pytest.approx(logsumexp(raised), abs=TOLERANCE)
        score, path = decode(chain)
        best, best_labels = best_path(chain)
        assert (score, path) == (pytest.approx(best, abs=TOLERANCE), best_labels)
        spans = spans_of([tag_set.tags[label] for label in path])
        expected = [span_posterior(chain, tag_set, span) for span in spans]
        np.testing.assert_allclose(posteriors_of(chain, tag_set, spans), expected, atol=TOLERANCE)


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_long_chain_with_large_weights(size, generator):
    """Products of its numbers are far below what a float holds; equal to plain log space."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(True)
    chain = random_chain(generator, lattice, 2_000, missing=0.1, size=size)
    check_losses(chain, 1e-8)
    score, labels = decode(chain)
    best, best_labels = log_space_viterbi(chain)
    assert (score, labels) == (pytest.approx(best, rel=TOLERANCE), best_labels)


@pytest.mark.parametrize("length", [1200, 5000])
def test_one_path_against_many_across_a_wide_gap(length):
    """The best path and the mass of all paths disagree by more than a float can hold."""
    tag_set = TagSet("IOB2", LABELS[:1])
    chain = divided(tag_set.lattice(False), length, gap=1000.0, gain=1.5)
    check_losses(chain, 1e-6)
    assert np.isfinite(posteriors_of(chain, tag_set, [(0, 1, LABELS[0])])).all()


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


@pytest.mark.parametrize("kappa", [0.0, 0.7, 5.0])
def test_free_choices(kappa, generator):
    lattice = choice_lattice(4)
    chain = replace(
        random_chain(generator, lattice, 1, missing=0.0),
        transitions=np.zeros(4),
        costs=kappa * (1.0 - np.eye(4)),
    )
    loss, (gradient,), _ = losses_of(chain)
    gold = chain.tags[0]
    augmented = chain.scores[0] + chain.costs[gold]
    assert loss == pytest.approx(np.log(np.exp(augmented).sum()) - chain.scores[0, gold])
    softmax = np.exp(augmented) / np.exp(augmented).sum()
    np.testing.assert_allclose(gradient, softmax - np.eye(4)[gold], atol=TOLERANCE)


def test_read_only_arrays(generator):
    """Weights in shared memory cannot be written to, and need not be."""
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs=True)
    chain = random_chain(generator, lattice, 5, missing=1.0)
    chains, path, score = alone(chain), np.zeros(5, dtype=np.int32), np.zeros(1)
    for array in (chains.scores, chains.transitions, *lattice[:-1]):
        array.flags.writeable = False
    viterbi(chains, path, score)
    assert (score[0], path.tolist()) == decode(chain)


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


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_log_space_gives_what_scaled_probabilities_give(missing, generator):
    """For each of several sequences by itself."""
    lattice = TagSet("IOB2", LABELS).lattice(True)
    chains = [random_chain(generator, lattice, length, missing) for length in (2, 3, 4)]
    (lines, costs), losses = together(chains), np.zeros((2, 3))
    by_transitions, scores = np.zeros((2, lattice.n_edges)), [lines.scores, lines.scores.copy()]
    shares = generator.random(3), generator.random(3)
    chain_losses(lines, LossTerms(costs.clamp, shares, 0, 3, losses[0]), by_transitions[0])
    for i in range(3):
        own, terms = lines._replace(scores=scores[1]), (costs.clamp, shares, i, i + 1, losses[1])
        log_space_kernel(own, LossTerms(*terms), by_transitions[1])
    for found in (losses, by_transitions, scores):
        np.testing.assert_allclose(found[0], found[1], atol=TOLERANCE)


def test_a_transition_that_is_none_has_no_weight(generator):
    """Of an observed path that cannot be; all kernels count what there is of it."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(True)
    chain = replace(random_chain(generator, lattice, 3), tags=[0, 2, 0])
    lines, costs = together([chain])
    own = lines._replace(scores=lines.scores.copy())
    losses, by_transitions = np.zeros((2, 1)), np.zeros((2, lattice.n_edges))
    ones = np.ones(1), np.ones(1)
    chain_losses(lines, LossTerms(costs.clamp, ones, 0, 1, losses[0]), by_transitions[0])
    log_space_kernel(own, LossTerms(costs.clamp, ones, 0, 1, losses[1]), by_transitions[1])
    np.testing.assert_allclose(losses[0], losses[1])
    np.testing.assert_allclose(lines.scores, own.scores, atol=TOLERANCE)
    np.testing.assert_allclose(by_transitions[0], by_transitions[1], atol=TOLERANCE)
