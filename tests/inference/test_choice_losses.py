"""Losses of single choices by vectors against the kernel for any lattice."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.inference.chain_losses import chain_losses
from spacy_cascade.inference.choice_losses import MANY_CHOICES, choice_losses
from spacy_cascade.inference.lattice import Chains, LossTerms, choice_lattice
from spacy_cascade.inference.linear_chain import FreeChoice
from spacy_cascade.inference.schemes import UNOBSERVED
from spacy_cascade.inference.structure import Part, Potentials
from spacy_cascade.losses.margin import SoftmaxMargin


def random_choices(
    generator: np.random.Generator, n_labels: int, n: int, missing: float = 0.3
) -> tuple[FreeChoice, Potentials, np.ndarray]:
    structure = FreeChoice(choice_lattice(n_labels))
    scores, transitions = generator.normal(size=(n, n_labels)), generator.normal(size=n_labels)
    observed = generator.integers(0, n_labels, n).astype(np.int32)
    observed[generator.random(n) < missing] = UNOBSERVED
    return structure, Potentials(scores, transitions, np.arange(n + 1)), observed


@pytest.mark.parametrize("n_labels", [1, 2, 7])
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_losses_are_those_of_the_kernel_for_edges(
    generator: np.random.Generator, n_labels: int, scale: float
) -> None:
    structure, potentials, observed = random_choices(generator, n_labels, 20)
    costs = structure.costs(SoftmaxMargin(2.0, 1.5).label_costs(n_labels))
    weights = generator.random(20), generator.random(20)
    first, last = 3, 17
    expected = scale * potentials.scores
    found = expected.copy()
    expected_losses, losses = np.full(20, np.nan), np.full(20, np.nan)
    of_transitions = np.zeros(n_labels)
    line = potentials.transitions, costs.margin, observed, potentials.starts
    terms = LossTerms(costs.clamp, weights, first, last, expected_losses)
    chain_losses(Chains(structure.lattice, expected, *line), terms, of_transitions)
    terms = terms._replace(losses=losses)
    gradient = choice_losses(Chains(structure.lattice, found, *line), terms)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(gradient, of_transitions, atol=1e-12)


def test_only_many_choices_are_computed_so(
    generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("choice_losses was called")

    monkeypatch.setattr("spacy_cascade.inference.chain_kernels.choice_losses", fail)
    for n_labels in (MANY_CHOICES - 1, MANY_CHOICES):
        structure, potentials, observed = random_choices(generator, n_labels, 5)
        costs = structure.costs(np.zeros((n_labels, n_labels)))
        part = Part(potentials, observed, 0, 5, np.ones(5))
        if n_labels < MANY_CHOICES:
            structure.losses(part, costs)
        else:
            with pytest.raises(AssertionError, match="was called"):
                structure.losses(part, costs)
