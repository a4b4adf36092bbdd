"""Joint training of two chains: value by enumeration, gradient by differences, limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from objectives import central_differences, data_of, lattice_of, objective_of, start
from reference import Chain, Corpus, chain_loss
from spacy_cascade import parallel
from spacy_cascade.errors import TrainingError
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss
from spacy_cascade.losses.margin import Likelihood
from spacy_cascade.parallel import Workers
from spacy_cascade.systems.higher_order.structure import HigherOrderFamily
from spacy_cascade.systems.isomeric.loss import IsomericLoss, JointObjective
from spacy_cascade.trainers.objective import Objective
from strategies import LABELS, random_corpus

LENGTHS = [3, 1, 2, 4]


def random_chain_problem(
    generator: np.random.Generator, scheme: str, labels: tuple[str, ...], sigma: float,
    threads: int = 1, label_pairs: bool = True, order: int = 1, lengths: Sequence[int] = LENGTHS,
) -> tuple[Objective, Corpus]:  # fmt: skip
    """A problem whose tags are all observed."""
    tag_set = TagSet(scheme, labels)
    lattice = tag_set.lattice(label_pairs)
    no_cost = np.zeros((lattice.n_labels, lattice.n_labels))
    design, corpus = random_corpus(generator, lattice, lengths, no_cost, sigma, missing=0.0)
    data = data_of(design, corpus)
    if order > 1:
        data = replace(data, structure=HigherOrderFamily(order=order).of_spans(tag_set))
    return objective_of(data, Likelihood(), sigma, threads), corpus


def random_joint(
    generator: np.random.Generator, strength: float, threads: int = 1, label_pairs: bool = True,
    schemes: tuple[str, str] = ("BILOU", "IOB2"),
) -> tuple[JointObjective, tuple[Corpus, Corpus]]:  # fmt: skip
    first, one = random_chain_problem(generator, schemes[0], LABELS[:1], 0.8, threads, label_pairs)
    second, two = random_chain_problem(generator, schemes[1], LABELS, 1.3, threads, label_pairs)
    return JointObjective(first, second, strength), (one, two)


def random_parameters(joint: JointObjective, generator: np.random.Generator) -> np.ndarray:
    return 0.5 * generator.normal(size=n_parameters(joint))


def n_parameters(joint: JointObjective) -> int:
    return joint.first.n_parameters + joint.second.n_parameters


def sequences(objective: Objective, corpus: Corpus, weights: Weights) -> list[Chain]:
    """The sequences of a corpus as chains of the reference."""
    lattice = lattice_of(objective)
    nothing = np.zeros((lattice.n_labels, lattice.n_labels))
    scores = corpus.matrix @ weights.features
    return [
        Chain(lattice, scores[a:b], weights.transitions, nothing, corpus.tags[a:b].tolist())
        for a, b in zip(corpus.starts, corpus.starts[1:], strict=False)
    ]


@pytest.mark.parametrize(("strength", "label_pairs"), [(0.3, True), (2.0, False)])
def test_the_gradient_is_the_slope_of_the_value(
    strength: float, label_pairs: bool, generator: np.random.Generator
) -> None:
    joint, _ = random_joint(generator, strength, label_pairs=label_pairs)
    parameters = random_parameters(joint, generator)
    gradient = joint.value_and_gradient(parameters)[1]
    np.testing.assert_allclose(gradient, central_differences(joint, parameters), atol=1e-7)


def test_chains_of_a_higher_order_in_several_pieces(
    generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sequences of each piece have labels of their own, and histories that begin anew."""
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", 1)
    made = {"threads": 2, "label_pairs": False, "order": 2}
    first, _ = random_chain_problem(generator, "BILOU", LABELS[:1], 0.8, **made)
    second, _ = random_chain_problem(generator, "IOB2", LABELS[:1], 1.3, **made)
    joint = JointObjective(first, second, 0.7)
    assert len(joint.second.loss.pieces) > 1
    parameters = random_parameters(joint, generator)
    gradient = joint.value_and_gradient(parameters)[1]
    np.testing.assert_allclose(gradient, central_differences(joint, parameters), atol=1e-7)


@pytest.mark.parametrize("label_pairs", [True, False])
@pytest.mark.parametrize("schemes", [("BILOU", "IOB2"), ("IOB2", "BILOU")])
def test_without_strength_they_are_two_problems(
    schemes: tuple[str, str], label_pairs: bool, generator: np.random.Generator
) -> None:
    """Also where one chain has more tags than the other."""
    joint, _ = random_joint(generator, 0.0, label_pairs=label_pairs, schemes=schemes)
    parameters = random_parameters(joint, generator)
    value, gradient = joint.value_and_gradient(parameters)
    apart = [
        objective.value_and_gradient(part)
        for objective, part in zip(
            (joint.first, joint.second), joint.split(parameters), strict=True
        )
    ]
    assert value == pytest.approx(sum(v for v, _ in apart), rel=1e-14)
    np.testing.assert_array_equal(gradient, np.concatenate([g for _, g in apart]))


@pytest.mark.parametrize(("piece", "label_pairs"), [(1, True), (1 << 14, False)])
def test_terms_by_enumeration(
    label_pairs: bool,
    piece: int,
    generator: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the sequences are divided into pieces."""
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", piece)
    strength = 0.7
    joint, corpora = random_joint(generator, strength, label_pairs=label_pairs)
    assert (len(joint.second.loss.pieces) > 1) == (piece == 1)
    assert joint.loss.terms == (0.0, 0.0, 0.0, 0.0)
    parameters = random_parameters(joint, generator)
    joint.value_and_gradient(parameters)
    one, two = joint.split(parameters)
    first, second = joint.first.weights(one), joint.second.weights(two)
    chains = [
        sequences(joint.first, corpora[0], first),
        sequences(joint.second, corpora[1], second),
    ]
    losses = [np.array([chain_loss(chain)[0] for chain in part]) for part in chains]
    observed = [np.array([observed_score(chain) for chain in part]) for part in chains]
    distance = observed[0] - (losses[1] + observed[1])
    assert joint.loss.terms.first == pytest.approx(losses[0].sum())
    assert joint.loss.terms.second == pytest.approx(losses[1].sum())
    assert joint.loss.terms.constraint == pytest.approx(0.5 * strength * (distance**2).sum())
    assert joint.loss.terms.distance == pytest.approx(np.abs(distance).mean())


def test_no_sequences_have_no_loss(generator: np.random.Generator) -> None:
    first, _ = random_chain_problem(generator, "BILOU", LABELS[:1], 0.8, lengths=[])
    second, _ = random_chain_problem(generator, "IOB2", LABELS, 1.3, lengths=[])
    joint = JointObjective(first, second, 0.7)
    value, gradient = joint.value_and_gradient(np.zeros(n_parameters(joint)))
    assert (value, joint.loss.terms) == (0.0, (0.0, 0.0, 0.0, 0.0))
    assert not gradient.any()


def observed_score(chain: Chain) -> float:
    """Score of the observed path, edge by edge."""
    total, previous = 0.0, chain.lattice.start
    for t, label in enumerate(chain.tags):
        (edge,) = np.flatnonzero(
            (chain.lattice.target == label) & (chain.lattice.source == previous)
        )
        total += chain.scores[t, chain.lattice.column[edge]] + chain.transitions[edge]
        previous = label
    return total


def test_strength_brings_the_constraint_closer(generator: np.random.Generator) -> None:
    distances = []
    for strength in (0.0, 0.1, 10.0):
        joint, _ = random_joint(np.random.default_rng(3), strength)
        run = start(joint, np.zeros(n_parameters(joint)))
        run.run(100)
        joint.value_and_gradient(run.parameters)
        distances.append(joint.loss.terms.distance)
    assert distances[0] > distances[1] > distances[2]


def test_same_bits_for_any_number_of_threads() -> None:
    found = []
    for threads in (1, 2, 3):
        joint, _ = random_joint(np.random.default_rng(5), 0.5, threads)
        parameters = random_parameters(joint, np.random.default_rng(6))
        value, gradient = joint.value_and_gradient(parameters)
        found.append((value, gradient.tobytes()))
    assert len(set(found)) == 1


def test_what_cannot_be_trained_jointly(generator: np.random.Generator) -> None:
    first, _ = random_chain_problem(generator, "BILOU", LABELS[:1], 1.0)
    second, _ = random_chain_problem(generator, "IOB2", LABELS, 1.0)
    losses = [objective.loss for objective in (first, second)]
    one, two = (loss for loss in losses if isinstance(loss, CorpusLoss))
    observed = np.where(np.arange(len(two.data.observed)) == 0, -1, two.data.observed)
    hidden = replace(two.data, observed=observed.astype(np.int32))
    unknown = CorpusLoss(hidden, Likelihood(), Workers(1))
    for pair in ((one, unknown), (unknown, one)):
        with pytest.raises(TrainingError, match="every token annotated"):
            IsomericLoss(*pair, 1.0)
    fewer = replace(two.data, starts=two.data.starts[1:])
    with pytest.raises(TrainingError, match="same sentences"):
        IsomericLoss(one, CorpusLoss(fewer, Likelihood(), Workers(1)), 1.0)
