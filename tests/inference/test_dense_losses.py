"""Losses without label pairs against enumeration, log space and the kernel for any lattice.

Those for few labels and those for many (`block_losses`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference import Chain, chain_loss, log_space_loss
from spacy_cascade.inference.chain import log_partitions
from spacy_cascade.inference.chain_losses import _scaled_losses, chain_losses
from spacy_cascade.inference.dense_losses import (
    _dense_losses,
    dense_log_partitions,
    dense_losses,
)
from spacy_cascade.inference.lattice import Chains, Lattice, LossTerms, free_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.systems.many_labels.block_losses import block_log_partitions, block_losses
from spacy_cascade.systems.many_labels.blocks import blocks_of
from strategies import random_chain

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
    starts = np.cumsum([0, *map(len, chains)], dtype=np.int64)
    scores = np.concatenate([chain.scores for chain in chains])
    tags = np.concatenate([np.array(chain.tags, dtype=np.int32) for chain in chains])
    losses = np.full(len(chains), np.nan)
    lattice = chains[0].lattice
    transition_gradient = np.zeros(lattice.n_edges)
    costs = LinearChain(lattice).costs(chains[0].costs)
    together = Chains(lattice, scores, chains[0].transitions, costs.margin, tags, starts)
    first, second = (np.full(len(chains), weight) for weight in weights)
    terms = LossTerms(costs.clamp, (first, second), 0, len(chains), losses)
    kernel(together, terms, transition_gradient)
    return losses, scores, transition_gradient


@KERNELS
@pytest.mark.parametrize("missing", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("lattice", SMALL)
def test_losses_are_those_of_all_paths(
    generator: np.random.Generator, kernel: Any, lattice: Lattice, missing: float
) -> None:
    for length in range(1, 5):
        chain = random_chain(generator, lattice, length, missing)
        (loss,), scores, transitions = losses_of(kernel, [chain])
        expected = chain_loss(chain)
        assert loss == pytest.approx(expected[0], abs=1e-9)
        np.testing.assert_allclose(scores, expected[1], atol=1e-9)
        np.testing.assert_allclose(transitions, expected[2], atol=1e-9)


@KERNELS
@pytest.mark.parametrize("lattice", LARGE)
def test_long_chains(generator: np.random.Generator, kernel: Any, lattice: Lattice) -> None:
    for missing in (0.0, 0.3):
        chain = random_chain(generator, lattice, 80, missing, size=4.0)
        (loss,), scores, transitions = losses_of(kernel, [chain])
        expected = log_space_loss(chain)
        assert loss == pytest.approx(expected[0], rel=1e-9)
        np.testing.assert_allclose(scores, expected[1], atol=1e-9)
        np.testing.assert_allclose(transitions, expected[2], atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("lattice", LARGE)
def test_usual_sequences_need_no_other_kernel(
    generator: np.random.Generator, lattice: Lattice, missing: float
) -> None:
    """The slow one would hide that a fast one is of no use."""
    reached: list[int] = []
    chains = [random_chain(generator, lattice, length, missing) for length in (3, 1, 9)]
    for kernel in (_dense_losses, _scaled_losses):
        losses_of(lambda *arguments, k=kernel: reached.append(k(*arguments)), chains)
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
        for length in (1, 3, 0, 12)
        for missing in (0.0, 0.5, 1.0)
    ]
    for chain in chains:
        chain.transitions[:] = chains[0].transitions
        chain.costs[:] = chains[0].costs
    for found, expected in zip(
        losses_of(kernel, chains), losses_of(chain_losses, chains), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


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
    starts = np.array([0, 2, 3, 12])
    scores = np.concatenate([chain.scores for chain in chains])
    tags = np.concatenate([np.array(chain.tags, dtype=np.int32) for chain in chains])
    margin = LinearChain(chains[0].lattice).costs(chains[0].costs)[0]
    found, expected = np.empty(3), np.empty(3)
    together = Chains(lattice, scores, chains[0].transitions, margin, tags, starts)
    for kernel, values in ((dense_log_partitions, found), (log_partitions, expected)):
        kernel(together, values)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    by_block = block_log_partitions(blocks_of(lattice), together)
    np.testing.assert_allclose(by_block, expected, rtol=1e-12)
