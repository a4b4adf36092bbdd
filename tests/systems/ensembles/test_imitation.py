"""Cross-entropy with targets: gradients, its minimum, and sequences that have labels instead."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.inference.lattice import choice_lattice
from spacy_cascade.inference.linear_chain import FreeChoice, LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Part, Potentials
from spacy_cascade.losses.margin import Likelihood, SoftmaxMargin
from spacy_cascade.systems.ensembles.loss import Imitation, Targets

STARTS = np.array([0, 3, 4, 8, 10])
N = len(STARTS) - 1
GIVEN = np.array([True, False, True, True])


def chain(label_pairs: bool) -> LinearChain:
    return LinearChain(TagSet("BILOU", ("a",)).lattice(label_pairs))


def potentials_of(generator: np.random.Generator, structure: LinearChain) -> Potentials:
    scores = generator.normal(size=(STARTS[-1], structure.n_columns))
    free = len(range(structure.n_transitions)[structure.columns.free]) > 0
    return Potentials(scores, generator.normal(size=structure.n_transitions) * free, STARTS)


def targets_of(structure: LinearChain, teacher: Potentials, given: np.ndarray) -> Targets:
    """The expectations of a chain, by the gradient of its log-partition."""
    copy = teacher.replace(scores=teacher.scores.copy())
    n = structure.n_labels
    costs, outside = structure.costs(np.zeros((n, n))), np.zeros(STARTS[-1], np.int32)
    weights = np.ones(N), np.zeros(N)
    transitions = np.stack([
        structure.losses(Part(copy, outside, i, i + 1, np.empty(N)), costs, weights)
        for i in range(N)
    ])  # fmt: skip
    return Targets(copy.scores, transitions, given, np.repeat(given, np.diff(STARTS)))


def evaluate(loss, structure, potentials, observed, first=0, last=N):
    copy = potentials.replace(scores=potentials.scores.copy())
    losses = np.zeros(N)
    of_transitions = loss.on(structure)(Part(copy, observed, first, last, losses))
    return losses, copy.scores, of_transitions


@pytest.fixture
def observed() -> np.ndarray:
    """Legal tags: O, and in the second sequence a span of one token."""
    tags = np.zeros(STARTS[-1], dtype=np.int32)
    tags[3] = 4
    return tags


@pytest.mark.parametrize("label_pairs", [True, False])
def test_the_gradient_by_central_differences(generator, observed, label_pairs):
    structure = chain(label_pairs)
    targets = targets_of(structure, potentials_of(generator, structure), GIVEN)
    loss, potentials = Imitation(SoftmaxMargin(2.0), targets), potentials_of(generator, structure)
    _, of_scores, of_transitions = evaluate(loss, structure, potentials, observed)
    step = 1e-5

    def value(changed: Potentials) -> float:
        return evaluate(loss, structure, changed, observed)[0].sum()

    for t in range(STARTS[-1]):
        for column in range(structure.n_columns):
            up, down = (potentials.scores.copy() for _ in range(2))
            up[t, column] += step
            down[t, column] -= step
            slope = value(potentials.replace(scores=up)) - value(potentials.replace(scores=down))
            assert of_scores[t, column] == pytest.approx(slope / (2 * step), abs=1e-6)
    for edge in range(structure.n_transitions if not label_pairs else 0):
        up, down = (potentials.transitions.copy() for _ in range(2))
        up[edge] += step
        down[edge] -= step
        slope = value(potentials.replace(transitions=up)) - value(
            potentials.replace(transitions=down)
        )
        assert of_transitions[edge] == pytest.approx(slope / (2 * step), abs=1e-6)


@pytest.mark.parametrize("label_pairs", [True, False])
def test_the_teacher_itself_is_the_minimum(generator, observed, label_pairs):
    """The gradient is 0 there, and the loss is the entropy of the teacher."""
    structure = chain(label_pairs)
    teacher = potentials_of(generator, structure)
    loss = Imitation(Likelihood(), targets_of(structure, teacher, np.ones(N, dtype=bool)))
    at_teacher, of_scores, of_transitions = evaluate(loss, structure, teacher, observed)
    assert np.abs(of_scores).max() < 1e-12
    assert np.abs(of_transitions).max() < 1e-12
    elsewhere, _, _ = evaluate(loss, structure, potentials_of(generator, structure), observed)
    assert (at_teacher < elsewhere).all()
    assert (at_teacher >= 0).all()


def test_sequences_with_labels_have_the_loss_of_these(generator, observed):
    structure = chain(True)
    potentials = potentials_of(generator, structure)
    targets = targets_of(structure, potentials_of(generator, structure), GIVEN)
    own = SoftmaxMargin(2.0)
    found = evaluate(Imitation(own, targets), structure, potentials, observed)
    expected = evaluate(own, structure, potentials, observed)
    assert found[0][1] == expected[0][1]
    np.testing.assert_array_equal(found[1][3], expected[1][3])
    assert (found[0][GIVEN] != expected[0][GIVEN]).all()
    loss = Imitation(own, targets)
    pieces = [evaluate(loss, structure, potentials, observed, *part) for part in ((0, 1), (1, 4))]
    np.testing.assert_allclose(found[0], pieces[0][0] + pieces[1][0])
    np.testing.assert_allclose(found[2], pieces[0][2] + pieces[1][2])


def test_classes_of_spans(generator):
    """A free choice: the cross-entropy of two distributions."""
    structure = FreeChoice(choice_lattice(3))
    starts = np.arange(6)
    wanted = generator.dirichlet(np.ones(3), size=5)
    every = np.ones(5, dtype=bool)
    loss = Imitation(Likelihood(), Targets(wanted, np.zeros((5, 3)), every, every))
    potentials = Potentials(generator.normal(size=(5, 3)), np.zeros(3), starts)
    shares = np.exp(potentials.scores)
    shares /= shares.sum(axis=1, keepdims=True)
    losses = np.zeros(5)
    observed = np.zeros(5, dtype=np.int32)
    copy = potentials.replace(scores=potentials.scores.copy())
    loss.on(structure)(Part(copy, observed, 0, 5, losses))
    np.testing.assert_allclose(losses, -(wanted * np.log(shares)).sum(axis=1))
    np.testing.assert_allclose(copy.scores, shares - wanted, atol=1e-12)
    np.testing.assert_allclose(loss.variances(copy.scores), shares * (1 - shares))
