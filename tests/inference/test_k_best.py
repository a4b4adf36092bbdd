"""The N best paths against the enumeration of all of them."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.inference.k_best import best_paths
from spacy_cascade.inference.lattice import Chains, Lattice, choice_lattice
from spacy_cascade.inference.schemes import UNOBSERVED, TagSet
from spacy_cascade.inference.viterbi import viterbi
from strategies import LABELS


def all_paths(lattice: Lattice, scores, transitions) -> list[tuple[float, tuple[int, ...]]]:
    """Score and labels of every legal path, best first."""
    edge = {(lattice.source[e], lattice.target[e]): e for e in range(lattice.n_edges)}
    found = []
    for labels in product(range(lattice.n_labels), repeat=len(scores)):
        pairs = list(zip((lattice.start, *labels[:-1]), labels, strict=True))
        if lattice.final[labels[-1]] and all(pair in edge for pair in pairs):
            edges = [edge[pair] for pair in pairs]
            score = sum(scores[t, lattice.column[e]] + transitions[e] for t, e in enumerate(edges))
            found.append((float(score), labels))
    return sorted(found, key=lambda item: -item[0])


def free(lattice, scores, transitions, starts) -> Chains:
    """Sequences of which nothing is observed."""
    costs = np.zeros((lattice.n_labels + 1, lattice.n_labels))
    tags = np.full(len(scores), UNOBSERVED, dtype=np.int32)
    return Chains(lattice, scores, transitions, costs, tags, np.array(starts))


def run(lattice, scores, transitions, starts, n):
    paths = np.full((n, len(scores)), -7, dtype=np.int32)
    path_scores = np.zeros((len(starts) - 1, n))
    n_paths = np.zeros(len(starts) - 1, dtype=np.int32)
    best_paths(free(lattice, scores, transitions, starts), paths, path_scores, n_paths)
    return paths, path_scores, n_paths


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    scheme = draw(st.sampled_from(["IOB2", "BILOU"]))
    labels = LABELS[: draw(st.integers(1, 2))]
    return TagSet(scheme, labels).lattice(label_pairs=draw(st.booleans()))


@given(lattices(), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 100),
       st.booleans(), st.integers(0, 2**32 - 1))  # fmt: skip
def test_it_finds_what_enumeration_finds(lattice, lengths, n, ties, seed):
    generator = np.random.default_rng(seed)
    starts = np.cumsum([0, *lengths])
    if ties:
        scores = generator.integers(-1, 2, (starts[-1], lattice.n_columns)).astype(float)
    else:
        scores = generator.normal(size=(starts[-1], lattice.n_columns))
    transitions = np.zeros(lattice.n_edges) if ties else generator.normal(size=lattice.n_edges)
    paths, path_scores, n_paths = run(lattice, scores, transitions, starts, n)
    for i, (begin, end) in enumerate(pairwise(starts)):
        expected = all_paths(lattice, scores[begin:end], transitions)
        size = min(n, len(expected))
        assert n_paths[i] == size
        np.testing.assert_allclose(
            path_scores[i, :size], [score for score, _ in expected[:size]], atol=1e-9
        )
        known = {labels: score for score, labels in expected}
        found = [tuple(row) for row in paths[:size, begin:end].tolist()]
        assert len(set(found)) == size
        np.testing.assert_allclose([known[labels] for labels in found], path_scores[i, :size])


@given(lattices(), st.integers(0, 2**32 - 1))
def test_the_first_is_that_of_viterbi(lattice, seed):
    generator = np.random.default_rng(seed)
    starts = np.array([0, 30, 31, 60])
    scores = generator.normal(size=(60, lattice.n_columns))
    transitions = generator.normal(size=lattice.n_edges)
    paths, path_scores, _ = run(lattice, scores, transitions, starts, 3)
    path, best = np.empty(60, dtype=np.int32), np.empty(3)
    viterbi(free(lattice, scores, transitions, starts), path, best)
    np.testing.assert_array_equal(paths[0], path)
    np.testing.assert_allclose(path_scores[:, 0], best)


def test_what_is_impossible_is_not_offered():
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs=True)
    scores = np.zeros((2, lattice.n_columns))
    scores[:, lattice.target == 0] = -np.inf
    _, path_scores, n_paths = run(lattice, scores, np.zeros(lattice.n_edges), [0, 2], 10)
    assert n_paths[0] == 2
    assert np.isfinite(path_scores[0, :2]).all()


def test_equal_scores_come_in_the_same_order_however_many_are_asked_for():
    lattice = TagSet("BILOU", LABELS[:1]).lattice(label_pairs=True)
    scores = np.zeros((6, lattice.n_columns))
    transitions = np.zeros(lattice.n_edges)
    few = run(lattice, scores, transitions, [0, 6], 1)[0]
    many = run(lattice, scores, transitions, [0, 6], 5)[0]
    np.testing.assert_array_equal(few[0], many[0])
    again = run(lattice, scores, transitions, [0, 6], 5)[0]
    np.testing.assert_array_equal(again, many)


@pytest.mark.parametrize("n", [1, 3, 9])
def test_choices(n):
    scores = np.array([[0.5, 2.0, -1.0]])
    paths, path_scores, n_paths = run(choice_lattice(3), scores, np.zeros(3), [0, 1], n)
    size = min(n, 3)
    assert n_paths.tolist() == [size]
    assert paths[:size, 0].tolist() == [1, 0, 2][:size]
    assert path_scores[0, :size].tolist() == [2.0, 0.5, -1.0][:size]
