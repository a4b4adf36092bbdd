"""Viterbi without label pairs against enumeration and the kernel for any lattice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference import best_path, log_space_viterbi
from spacy_cascade.inference.lattice import Chains, Lattice, choice_lattice, free_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.viterbi import best_paths, dense_viterbi, viterbi
from spacy_cascade.systems.many_labels.block_viterbi import block_viterbi
from spacy_cascade.systems.many_labels.blocks import blocks_of
from strategies import random_chain


def decode(kernel: Any, chains: list[Any]) -> tuple[list[float], list[int]]:
    """Scores and labels of the best paths of chains under one lattice and its transitions."""
    starts = np.cumsum([0, *map(len, chains)], dtype=np.int64)
    path = np.full(starts[-1], -9, dtype=np.int32)
    path_scores = np.full(len(chains), np.nan)
    tags = np.concatenate([np.array(chain.tags, dtype=np.int32) for chain in chains])
    lattice, transitions = chains[0].lattice, chains[0].transitions
    scores = np.concatenate([chain.scores for chain in chains])
    costs = LinearChain(lattice).costs(chains[0].costs)
    kernel(Chains(lattice, scores, transitions, costs.margin, tags, starts), path, path_scores)
    return path_scores.tolist(), path.tolist()


def by_blocks(chains: Chains, path: np.ndarray, path_scores: np.ndarray) -> None:
    """The kernel for many labels, called as the others."""
    path[:], path_scores[:] = block_viterbi(blocks_of(chains.lattice), chains)


SMALL = [
    *(free_lattice(n, label_pairs=False) for n in (1, 2, 3, 4)),
    TagSet("IOB2", ("A", "B")).lattice(False),
    TagSet("BILOU", ("A",)).lattice(False),
]


@pytest.mark.parametrize("kernel", [best_paths, by_blocks])
@pytest.mark.parametrize("lattice", SMALL)
def test_the_best_of_all_paths(
    generator: np.random.Generator, kernel: Any, lattice: Lattice
) -> None:
    for length in range(1, 6):
        chain = random_chain(generator, lattice, length)
        (score,), path = decode(kernel, [chain])
        best, labels = best_path(chain)
        assert score == pytest.approx(best, abs=1e-9)
        assert path == labels


@pytest.mark.parametrize("n_labels", [1, 5, 7, 8, 9, 42])
def test_long_chains_and_many_labels(generator: np.random.Generator, n_labels: int) -> None:
    lattice = free_lattice(n_labels, label_pairs=False)
    chain = random_chain(generator, lattice, 60)
    (score,), path = decode(best_paths, [chain])
    best, labels = log_space_viterbi(chain)
    assert score == pytest.approx(best, abs=1e-9)
    assert path == labels


LATTICES: dict[str, Lattice] = {
    "free": free_lattice(6, label_pairs=False),
    "free with label pairs": free_lattice(3, label_pairs=True),
    "IOB2": TagSet("IOB2", ("A", "B")).lattice(False),
    "BILOU": TagSet("BILOU", ("A", "B", "C")).lattice(False),
    "BILOU with label pairs": TagSet("BILOU", ("A",)).lattice(True),
    "choice of one": choice_lattice(1),
    "choice of two": choice_lattice(2),
}


@pytest.mark.parametrize("name", LATTICES)
def test_ties_and_sequences_are_those_of_the_other_kernel(
    generator: np.random.Generator, name: str
) -> None:
    lattice = LATTICES[name]
    longest = 1 if "choice" in name else 7
    chains = [random_chain(generator, lattice, n % longest + 1) for n in range(30)]
    for chain in chains:
        chain.scores[:] = np.round(chain.scores)
        chain.transitions[:] = np.round(chains[0].transitions)
        chain.costs[:] = np.round(3 * chains[0].costs)
    assert decode(best_paths, chains) == decode(viterbi, chains)


def test_sequences_without_positions_are_passed_over(generator: np.random.Generator) -> None:
    lattice = free_lattice(4, label_pairs=False)
    first, second = (random_chain(generator, lattice, n) for n in (3, 2))
    empty = random_chain(generator, lattice, 0)
    with_it, without_it = [first, empty, second], [first, second]
    assert decode(best_paths, with_it)[1] == decode(best_paths, without_it)[1]


BY_BLOCKS: dict[str, Lattice] = {
    **{name: lattice for name, lattice in LATTICES.items() if not lattice.label_pairs},
    "IO": TagSet("IO", ("A", "B", "C")).lattice(False),
    "many": TagSet("BILOU", tuple(map(str, range(20)))).lattice(False),
}


@pytest.mark.parametrize("is_rounded", [False, True])
@pytest.mark.parametrize("name", BY_BLOCKS)
def test_kernels_with_matrices_agree_to_the_last_bit(
    generator: np.random.Generator, name: str, is_rounded: bool
) -> None:
    """Rounded scores have many ties."""
    lattice = BY_BLOCKS[name]
    chains = [random_chain(generator, lattice, n % 8) for n in range(40)]
    for chain in chains:
        chain.transitions[:], chain.costs[:] = chains[0].transitions, chains[0].costs
        if is_rounded:
            chain.scores[:], chain.transitions[:] = map(np.round, (chain.scores, chain.transitions))
            chain.costs[:] = np.round(3 * chain.costs)
    assert decode(by_blocks, chains) == decode(dense_viterbi, chains)


def test_no_path_at_all(generator: np.random.Generator) -> None:
    lattice = TagSet("BILOU", ("A", "B")).lattice(False)
    chain = random_chain(generator, lattice, 5)
    chain.scores[2] = -np.inf
    assert decode(by_blocks, [chain]) == decode(dense_viterbi, [chain])
