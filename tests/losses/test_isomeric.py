"""Joint training of two chains: value by enumeration, gradient by differences, limits."""

from __future__ import annotations

import numpy as np
import pytest
from spacy_cascade.losses.problem import ChainProblem
from test_problem import central_differences, n_parameters

from reference import Chain, Corpus, chain_loss
from spacy_cascade.errors import TrainingError
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.losses.isomeric import IsomericProblem
from spacy_cascade.losses.margin import Likelihood
from spacy_cascade.parallel import Workers
from spacy_cascade.trainers.lbfgs import LBFGS
from strategies import LABELS, random_corpus

LENGTHS = [3, 1, 2, 4]


def random_chain_problem(
    generator: np.random.Generator, scheme: str, labels: tuple[str, ...], sigma: float,
    threads: int = 1, label_pairs: bool = True,
) -> tuple[ChainProblem, Corpus]:  # fmt: skip
    """A problem whose tags are all observed."""
    lattice = TagSet(scheme, labels).lattice(label_pairs)
    no_cost = np.zeros((lattice.n_labels, lattice.n_labels))
    design, corpus = random_corpus(generator, lattice, LENGTHS, no_cost, sigma, missing=0.0)
    problem = ChainProblem(
        design, lattice, Likelihood(sigma), corpus.tags, corpus.starts, Workers(threads)
    )
    return problem, corpus


def random_joint(
    generator: np.random.Generator, strength: float, threads: int = 1, label_pairs: bool = True
) -> tuple[IsomericProblem, tuple[Corpus, Corpus]]:
    first, one = random_chain_problem(generator, "BILOU", LABELS[:1], 0.8, threads, label_pairs)
    second, two = random_chain_problem(generator, "IOB2", LABELS, 1.3, threads, label_pairs)
    return IsomericProblem(first, second, strength), (one, two)


def random_parameters(joint: IsomericProblem, generator: np.random.Generator) -> np.ndarray:
    n = n_parameters(joint.first) + n_parameters(joint.second)
    return 0.5 * generator.normal(size=n)


def sequences(
    problem: ChainProblem, corpus: Corpus, weights: tuple[np.ndarray, np.ndarray]
) -> list[Chain]:
    """The sequences of a problem as chains of the reference."""
    lattice = problem.lattice
    nothing = np.zeros((lattice.n_labels, lattice.n_labels))
    return [
        Chain(lattice, corpus.matrix[a:b] @ weights[0], weights[1], nothing, problem.tags[a:b])
        for a, b in zip(problem.starts, problem.starts[1:], strict=False)
    ]


@pytest.mark.parametrize("label_pairs", [True, False])
@pytest.mark.parametrize("strength", [0.0, 0.3, 2.0])
def test_the_gradient_is_the_slope_of_the_value(
    strength: float, label_pairs: bool, generator: np.random.Generator
) -> None:
    joint, _ = random_joint(generator, strength, label_pairs=label_pairs)
    parameters = random_parameters(joint, generator)
    gradient = joint.value_and_gradient(parameters)[1]
    np.testing.assert_allclose(gradient, central_differences(joint, parameters), atol=1e-7)


@pytest.mark.parametrize("label_pairs", [True, False])
def test_without_strength_they_are_two_problems(
    label_pairs: bool, generator: np.random.Generator
) -> None:
    joint, _ = random_joint(generator, 0.0, label_pairs=label_pairs)
    parameters = random_parameters(joint, generator)
    value, gradient = joint.value_and_gradient(parameters)
    apart = [
        problem.value_and_gradient(part)
        for problem, part in (
            (joint.first, parameters[: joint.n_first]),
            (joint.second, parameters[joint.n_first :]),
        )
    ]
    assert value == pytest.approx(sum(v for v, _ in apart), rel=1e-14)
    np.testing.assert_array_equal(gradient, np.concatenate([g for _, g in apart]))


def test_separate_fits_are_the_optimum_without_strength(generator: np.random.Generator) -> None:
    joint, _ = random_joint(generator, 0.0)
    settings = LBFGS(iterations=200, tolerance=1e-9)
    start = np.zeros(n_parameters(joint.first) + n_parameters(joint.second))
    together = settings.start(joint, start, Workers(1))
    together.run(200)
    apart = []
    for problem in (joint.first, joint.second):
        run = settings.start(problem, np.zeros(n_parameters(problem)), Workers(1))
        run.run(200)
        apart.append(run.parameters)
    np.testing.assert_allclose(together.parameters, np.concatenate(apart), atol=1e-5)


@pytest.mark.parametrize("label_pairs", [True, False])
def test_terms_by_enumeration(label_pairs: bool, generator: np.random.Generator) -> None:
    strength = 0.7
    joint, corpora = random_joint(generator, strength, label_pairs=label_pairs)
    parameters = random_parameters(joint, generator)
    joint.value_and_gradient(parameters)
    first = joint.first.weights(parameters[: joint.n_first])
    second = joint.second.weights(parameters[joint.n_first :])
    chains = [
        sequences(joint.first, corpora[0], first),
        sequences(joint.second, corpora[1], second),
    ]
    losses = [np.array([chain_loss(chain)[0] for chain in part]) for part in chains]
    observed = [np.array([observed_score(chain) for chain in part]) for part in chains]
    distance = observed[0] - (losses[1] + observed[1])
    assert joint.terms.first == pytest.approx(losses[0].sum())
    assert joint.terms.second == pytest.approx(losses[1].sum())
    assert joint.terms.penalty == pytest.approx(0.5 * strength * (distance**2).sum())
    assert joint.terms.distance == pytest.approx(np.abs(distance).mean())


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
        start = np.zeros(n_parameters(joint.first) + n_parameters(joint.second))
        run = LBFGS(iterations=100).start(joint, start, Workers(1))
        run.run(100)
        joint.value_and_gradient(run.parameters)
        distances.append(joint.terms.distance)
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
    second.tags[0] = -1
    with pytest.raises(TrainingError, match="every token annotated"):
        IsomericProblem(first, second, 1.0)
    second.tags[0] = 0
    second.starts = second.starts[1:]
    with pytest.raises(TrainingError, match="same sentences"):
        IsomericProblem(first, second, 1.0)
