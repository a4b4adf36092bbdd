"""Viterbi and the N best paths against enumeration and the kernel for any lattice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference import best_path, log_space_viterbi
from spacy_cascade.inference import viterbi as module
from spacy_cascade.inference.k_best import best_paths as k_best_paths
from spacy_cascade.inference.lattice import Chains, Lattice, choice_lattice, free_lattice
from spacy_cascade.inference.schemes import UNOBSERVED, TagSet
from spacy_cascade.inference.viterbi import best_paths, dense_viterbi, viterbi
from spacy_cascade.systems.many_labels.block_viterbi import block_viterbi
from spacy_cascade.systems.many_labels.blocks import blocks_of
from strategies import LABELS, random_chain, together


def decode(kernel: Any, chains: list[Any]) -> tuple[list[float], list[int]]:
    """Scores and labels of the best paths of chains under one lattice and its transitions."""
    lines, _ = together(chains)
    path = np.full(lines.starts[-1], -9, dtype=np.int32)
    path_scores = np.full(len(chains), np.nan)
    kernel(lines, path, path_scores)
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
    """Sequences without positions among them."""
    lattice = LATTICES[name]
    lengths = [1] * 30 if "choice" in name else [n % 8 for n in range(30)]
    chains = [random_chain(generator, lattice, length) for length in lengths]
    for chain in chains:
        chain.scores[:] = np.round(chain.scores)
        chain.transitions[:] = np.round(chains[0].transitions)
        chain.costs[:] = np.round(3 * chains[0].costs)
    scores, path = decode(best_paths, chains)
    expected, labels = decode(viterbi, chains)
    assert path == labels
    has_labels = np.array(lengths) > 0
    np.testing.assert_array_equal(np.array(scores)[has_labels], np.array(expected)[has_labels])


@pytest.mark.parametrize("name", LATTICES)
def test_labels_are_searched_by_the_kernel_that_is_fastest(
    generator: np.random.Generator, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sequence without positions has the score 0 where features see labels only."""
    lattice = LATTICES[name]
    is_dense = lattice.n_columns < lattice.n_edges
    monkeypatch.setattr(module, "viterbi" if is_dense else "dense_viterbi", None)
    lengths = [1, 1] if "choice" in name else [3, 0]
    lines, _ = together([random_chain(generator, lattice, length) for length in lengths])
    path, scores = module.best_labellings(lines)
    expected, best = np.empty_like(path), np.empty_like(scores)
    best_paths(lines, expected, best)
    assert (path.tolist(), scores.tolist()) == (expected.tolist(), best.tolist())
    assert not is_dense or scores[1] == 0.0


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


def free(lattice, scores, transitions, starts) -> Chains:
    """Sequences of which nothing is observed."""
    costs = np.zeros((lattice.n_labels + 1, lattice.n_labels))
    tags = np.full(len(scores), UNOBSERVED, dtype=np.int32)
    return Chains(lattice, scores, transitions, costs, tags, np.array(starts))


def run(lattice, scores, transitions, starts, n):
    paths = np.full((n, len(scores)), -7, dtype=np.int32)
    path_scores = np.zeros((len(starts) - 1, n))
    n_paths = np.zeros(len(starts) - 1, dtype=np.int32)
    k_best_paths(free(lattice, scores, transitions, starts), paths, path_scores, n_paths)
    return paths, path_scores, n_paths


@pytest.mark.parametrize("is_rounded", [False, True])
@pytest.mark.parametrize("label_pairs", [False, True])
@pytest.mark.parametrize("scheme", ["IOB2", "BILOU"])
def test_the_first_is_that_of_viterbi(scheme, label_pairs, is_rounded, generator):
    """What enumeration finds of all of them: `test_structure.py`. Rounded scores have ties."""
    lattice = TagSet(scheme, LABELS).lattice(label_pairs)
    starts = np.array([0, 30, 31, 60])
    scores = generator.normal(size=(60, lattice.n_columns))
    transitions = generator.normal(size=lattice.n_edges)
    if is_rounded:
        scores, transitions = np.round(scores), np.round(transitions)
    paths, path_scores, _ = run(lattice, scores, transitions, starts, 3)
    path, best = np.empty(60, dtype=np.int32), np.empty(3)
    viterbi(free(lattice, scores, transitions, starts), path, best)
    np.testing.assert_array_equal(paths[0], path)
    np.testing.assert_allclose(path_scores[:, 0], best)


def test_equal_scores_come_in_the_same_order_however_many_are_asked_for():
    lattice = TagSet("BILOU", LABELS[:1]).lattice(label_pairs=True)
    scores, transitions = np.zeros((6, lattice.n_columns)), np.zeros(lattice.n_edges)
    few, many, again = (run(lattice, scores, transitions, [0, 6], n)[0] for n in (1, 5, 5))
    np.testing.assert_array_equal(few[0], many[0])
    np.testing.assert_array_equal(again, many)


@pytest.mark.parametrize("n", [1, 3, 9])
def test_choices(n):
    scores = np.array([[0.5, 2.0, -1.0]])
    paths, path_scores, n_paths = run(choice_lattice(3), scores, np.zeros(3), [0, 1], n)
    size = min(n, 3)
    assert n_paths.tolist() == [size]
    assert paths[:size, 0].tolist() == [1, 0, 2][:size]
    assert path_scores[0, :size].tolist() == [2.0, 0.5, -1.0][:size]


def test_what_is_impossible_is_not_offered():
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs=True)
    scores = np.zeros((2, lattice.n_columns))
    scores[:, lattice.target == 0] = -np.inf
    _, path_scores, n_paths = run(lattice, scores, np.zeros(lattice.n_edges), [0, 2], 10)
    assert n_paths[0] == 2
    assert np.isfinite(path_scores[0, :2]).all()
