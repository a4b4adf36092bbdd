"""Passive-aggressive updates with a prior, against the quadratic programme that they solve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from reference import Chain, Corpus
from spacy_cascade.inference.lattice import Lattice, choice_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import Hinge
from spacy_cascade.numeric.design import Design
from spacy_cascade.parallel import Workers
from spacy_cascade.trainers.base import Task
from spacy_cascade.trainers.passive_aggressive import OnlineFit, PassiveAggressive
from strategies import LABELS, random_corpus

HINGE = Hinge(kappa=0.7, false_negative_weight=1.5)
LATTICES = {
    "pairs": TagSet("IOB2", LABELS[:1]).lattice(label_pairs=True),
    "labels": TagSet("IOB2", LABELS[:1]).lattice(label_pairs=False),
    "choice": choice_lattice(3),
}
Array = Any


def corpus_of(generator: Any, lattice: Lattice, lengths: list[int]) -> tuple[Design, Corpus]:
    costs = HINGE.margin_costs(lattice.n_labels)
    return random_corpus(generator, lattice, lengths, costs, 1.0, missing=0.0)


def begun(
    generator: Any, design: Design, corpus: Corpus, known: Array | None, **settings: Any
) -> tuple[OnlineFit, LabelledSequences, Weights]:
    """A fit on a corpus, its data, and the weights that it begins with."""
    structure = LinearChain(corpus.lattice)
    data = LabelledSequences((design,), structure, corpus.tags, corpus.starts)
    shape = corpus.matrix.shape[1], structure.n_columns
    transitions = np.zeros(structure.n_transitions)
    if not corpus.lattice.label_pairs:
        transitions = generator.normal(size=structure.n_transitions)
    start = Weights(generator.normal(size=shape), transitions)
    fit = PassiveAggressive(**settings).begin(Task(data, HINGE, None, start, known))
    assert isinstance(fit, OnlineFit)
    return fit, data, start


def violated(corpus: Corpus, start: Weights) -> tuple[float, Array, Array]:
    """Hinge loss of the first sequence; differences of features `[K, S]` and of moves `[E]`."""
    lattice, matrix = corpus.lattice, corpus.matrix
    end = corpus.starts[1]
    tags = corpus.tags[:end].tolist()
    chain = Chain(lattice, matrix[:end] @ start.features, start.transitions, corpus.costs, tags)
    paths = list(chain.paths())
    wrong = max(paths, key=lambda path: chain.score(path) + chain.cost(path))
    (right,) = filter(chain.agrees, paths)
    features, moves = np.zeros(start.features.shape), np.zeros(lattice.n_edges)
    for path, sign in ((right, 1.0), (wrong, -1.0)):
        for t, edge in enumerate(path):
            features[:, lattice.column[edge]] += sign * matrix[t]
            moves[edge] += sign
    loss = chain.cost(wrong) - chain.score(right) + chain.score(wrong)
    return max(0.0, loss), features, 0.0 * moves if lattice.label_pairs else moves


def solution(precision: Array, gain: Array, loss: float, largest: float) -> Array:
    """The `z` that minimises `½ Σ precision·z² + C·ξ` where `gain·z ≥ loss - ξ` and `ξ ≥ 0`.

    By a general solver, on `z·√precision` and `C·ξ`.
    """
    scaled = gain / np.sqrt(precision)
    n = len(gain)

    def objective(point: Array) -> float:
        return float(0.5 * point[:n] @ point[:n] + point[n])

    found = minimize(
        objective,
        np.zeros(n + 1),
        jac=lambda point: np.append(point[:n], 1.0),
        method="SLSQP",
        bounds=[(None, None)] * n + [(0.0, None)],
        constraints={
            "type": "ineq",
            "fun": lambda point: scaled @ point[:n] + point[n] / largest - loss,
            "jac": lambda point: np.append(scaled, 1.0 / largest),
        },
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success, found.message
    return found.x[:n] / np.sqrt(precision)


@pytest.mark.parametrize(("C", "is_sure"), [(0.03, False), (100.0, False), (100.0, True)])
@pytest.mark.parametrize("name", LATTICES)
def test_an_update_solves_the_quadratic_programme(
    name: str, C: float, is_sure: bool, generator: Any
) -> None:
    """In the parameters before mixing, whose precisions are `1 + C·passes·known`.

    Where much is known of all features, differences have a small norm.
    """
    lattice = LATTICES[name]
    design, corpus = corpus_of(generator, lattice, [1 if name == "choice" else 3])
    mixing = LinearChain(lattice).columns.mixing
    known = generator.gamma(1.0, 2.0, size=(corpus.matrix.shape[1], len(mixing))) / C
    known[::3] = 0.0
    known += 30.0 / C if is_sure else 0.0
    learner, data, start = begun(generator, design, corpus, known, C=C)
    loss, features, moves = violated(corpus, start)
    assert loss > 0.0
    of_moves = known.max(axis=0)[lattice.column]
    precision = 1.0 + C * np.concatenate([known.reshape(-1), of_moves])
    gain = np.concatenate([(features @ mixing).reshape(-1), moves])
    z = solution(precision, gain, loss, C)
    assert learner.step(data) == pytest.approx(loss)
    found = learner._averaged
    change = z[: known.size].reshape(known.shape) @ mixing
    np.testing.assert_allclose(found.weights - start.features, change, atol=2e-6)
    np.testing.assert_allclose(found.transitions - start.transitions, z[known.size :], atol=2e-6)


@pytest.mark.parametrize("name", LATTICES)
def test_where_nothing_is_known_updates_are_plain(name: str, generator: Any) -> None:
    """To the last bit, whether the prior says nothing or there is none."""
    lattice = LATTICES[name]
    design, corpus = corpus_of(generator, lattice, [1] * 6 if name == "choice" else [3, 1, 4, 2])
    nothing = np.zeros((corpus.matrix.shape[1], LinearChain(lattice).n_columns))
    seed = int(generator.integers(1 << 30))
    fits = [
        begun(np.random.default_rng(seed), design, corpus, known, C=0.1, passes=3)
        for known in (None, nothing)
    ]
    losses = [fit.step(data) for fit, data, _ in fits]
    assert losses[0] == losses[1] > 0.0
    for plain, found in zip(fits[0][0].weights(), fits[1][0].weights(), strict=True):
        np.testing.assert_array_equal(plain, found)


@pytest.mark.parametrize("name", LATTICES)
def test_the_curvature_is_that_of_the_smooth_loss(name: str, generator: Any) -> None:
    """Batches together have that of the corpus; what is seen twice counts half each time.

    The smooth loss bounds the hinge. There is no curvature where it is not asked for.
    """
    lattice = LATTICES[name]
    design, corpus = corpus_of(generator, lattice, [1] * 4 if name == "choice" else [3, 1, 2])
    known = np.full((corpus.matrix.shape[1], LinearChain(lattice).n_columns), 0.25)
    # With so small a step, the weights stay what they are.
    learner, data, start = begun(generator, design, corpus, known, C=1e-12)
    assert learner.hessian_diagonal() is known
    smooth = CorpusLoss(data, HINGE.smooth(), Workers(1))
    assert smooth.losses(smooth.potentials(start))[0][0] >= violated(corpus, start)[0]
    learner.step(data)
    resumed, *_ = begun(generator, design, corpus, known, C=1e-12)
    resumed.restore(learner.state())
    for fit in (learner, resumed):
        fit.step(data)
        found = fit.hessian_diagonal()
        expected = smooth.hessian_diagonal(start) + known
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    without, *_ = begun(generator, design, corpus, None, curvature=False)
    without.step(data)
    assert without.hessian_diagonal() is None
    assert "curvature" not in without.state()


def test_what_is_learnt_several_times_counts_as_often(generator: Any) -> None:
    """Two passes at once are two passes, one after the other, with twice the curvature."""
    lattice = LATTICES["pairs"]
    design, corpus = corpus_of(generator, lattice, [3])
    known = generator.gamma(1.0, 2.0, size=(corpus.matrix.shape[1], lattice.n_columns))
    seed = int(generator.integers(1 << 30))
    at_once, singly = (
        begun(np.random.default_rng(seed), design, corpus, of, C=0.1, passes=passes)
        for of, passes in ((known, 2), (2.0 * known, 1))
    )
    assert at_once[0].step(at_once[1]) > 0.0
    for _ in range(2):
        singly[0].step(singly[1])
    np.testing.assert_array_equal(at_once[0].weights()[0], singly[0].weights()[0])
