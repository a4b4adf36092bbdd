"""Losses without label pairs against enumeration, log space and the kernel for any lattice.

Those for few labels, for many (`block_losses`), and of single choices (`choice_losses`).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from reference import Chain, chain_loss, log_space_loss
from spacy_cascade.inference.chain import log_partitions
from spacy_cascade.inference.chain_losses import _scaled_losses, chain_losses
from spacy_cascade.inference.choice_losses import MANY_CHOICES, choice_losses
from spacy_cascade.inference.dense_losses import (
    _dense_losses,
    dense_log_partitions,
    dense_losses,
)
from spacy_cascade.inference.lattice import Chains, Lattice, LossTerms, choice_lattice, free_lattice
from spacy_cascade.inference.linear_chain import FreeChoice
from spacy_cascade.inference.schemes import UNOBSERVED, TagSet
from spacy_cascade.inference.structure import Part, Potentials
from spacy_cascade.losses.margin import SoftmaxMargin
from spacy_cascade.systems.many_labels.block_losses import block_log_partitions, block_losses
from spacy_cascade.systems.many_labels.blocks import blocks_of
from strategies import random_chain, together

SMALL = [
    *(free_lattice(n, label_pairs=False) for n in (1, 2, 4)),
    TagSet("IOB2", ("A", "B")).lattice(False),
    TagSet("BILOU", ("A",)).lattice(False),
]
LARGE = [
    *(free_lattice(n, label_pairs=False) for n in (3, 6, 42)),
    TagSet("IOB2", ("A", "B", "C")).lattice(False),
    TagSet("BILOU", ("A", "B")).lattice(False),
    TagSet("IO", ("A", "B", "C")).lattice(False),
]


def by_blocks(chains: Chains, terms: LossTerms, transitions: Any) -> None:
    """The kernels for many labels, called as the others."""
    transitions += block_losses(blocks_of(chains.lattice), chains, terms)


KERNELS = pytest.mark.parametrize("kernel", [dense_losses, by_blocks])


def losses_of(
    kernel: Any, chains: list[Chain], weights: tuple[float, float] = (1.0, 1.0)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Losses, score gradients and the transitions' gradient of chains under one lattice."""
    lines, costs = together(chains)
    losses, transition_gradient = np.full(len(chains), np.nan), np.zeros(lines.lattice.n_edges)
    first, second = (np.full(len(chains), weight) for weight in weights)
    terms = LossTerms(costs.clamp, (first, second), 0, len(chains), losses)
    kernel(lines, terms, transition_gradient)
    return losses, lines.scores, transition_gradient


@KERNELS
@pytest.mark.parametrize("lattice", SMALL)
def test_losses_are_those_of_all_paths(
    generator: np.random.Generator, kernel: Any, lattice: Lattice
) -> None:
    for length, missing in product(range(1, 5), (0.0, 0.4, 1.0)):
        chain = random_chain(generator, lattice, length, missing)
        check(losses_of(kernel, [chain]), chain_loss(chain))


@KERNELS
@pytest.mark.parametrize("lattice", LARGE)
def test_long_chains(generator: np.random.Generator, kernel: Any, lattice: Lattice) -> None:
    for missing in (0.0, 0.3):
        chain = random_chain(generator, lattice, 80, missing, size=4.0)
        check(losses_of(kernel, [chain]), log_space_loss(chain))


def check(found: tuple[np.ndarray, ...], expected: tuple[Any, ...]) -> None:
    """Losses, and gradients of scores and transitions."""
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("lattice", LARGE)
def test_usual_sequences_need_no_other_kernel(
    generator: np.random.Generator, lattice: Lattice
) -> None:
    """The slow one would hide that a fast one is of no use."""
    for missing in (0.0, 0.4, 1.0):
        reached: list[int] = []
        chains = [random_chain(generator, lattice, length, missing) for length in (3, 1, 9)]
        for kernel in (_dense_losses, _scaled_losses):
            losses_of(lambda *of, k=kernel, r=reached: r.append(k(*of)), chains)
        assert reached == [3, 3]


@KERNELS
@pytest.mark.parametrize("size", [1.0, 100.0, 2000.0])
@pytest.mark.parametrize(
    "lattice", [free_lattice(5, False), TagSet("BILOU", ("A",)).lattice(False)]
)
def test_many_sequences_of_any_size(
    generator: np.random.Generator, kernel: Any, lattice: Lattice, size: float
) -> None:
    """Where doubles end the other kernel takes over; a sequence without tags has no loss."""
    chains = [
        random_chain(generator, lattice, length, missing, size)
        for length in (1, 3, 0, 60)
        for missing in (0.0, 0.5, 1.0)
    ]
    for chain in chains:
        chain.transitions[:] = chains[0].transitions
        chain.costs[:] = chains[0].costs
    check(losses_of(kernel, chains), losses_of(chain_losses, chains))


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize(
    ("kernel", "lattice"),
    [
        (dense_losses, TagSet("IOB2", ("A", "B")).lattice(False)),
        (by_blocks, TagSet("IOB2", ("A", "B")).lattice(False)),
        (chain_losses, TagSet("IOB2", ("A", "B")).lattice(False)),
        (chain_losses, TagSet("BILOU", ("A",)).lattice(True)),
    ],
)
def test_both_sums_have_their_weight_in_the_gradient(
    generator: np.random.Generator, kernel: Any, lattice: Lattice, missing: float
) -> None:
    chains = [random_chain(generator, lattice, 4, missing)]
    both, expected, observed = (
        losses_of(kernel, chains, weights) for weights in ((0.7, -1.3), (1.0, 0.0), (0.0, 1.0))
    )
    for found, one, other in zip(both[1:], expected[1:], observed[1:], strict=True):
        np.testing.assert_allclose(found, 0.7 * one - 1.3 * other, atol=1e-12)
    unweighted = losses_of(kernel, chains)
    assert both[0] == unweighted[0]
    np.testing.assert_allclose(expected[1] + observed[1], unweighted[1], atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 2000.0])
@pytest.mark.parametrize("lattice", LARGE)
def test_log_partitions(generator: np.random.Generator, lattice: Lattice, size: float) -> None:
    chains = [random_chain(generator, lattice, length, 0.3, size) for length in (2, 1, 9)]
    lines, _ = together(chains)
    found, expected = np.empty(3), np.empty(3)
    for kernel, values in ((dense_log_partitions, found), (log_partitions, expected)):
        kernel(lines, values)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    by_block = block_log_partitions(blocks_of(lattice), lines)
    np.testing.assert_allclose(by_block, expected, rtol=1e-12)


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
