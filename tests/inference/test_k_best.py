"""The ranking of paths, and how many of them there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import Chain
from spacy_cascade.inference.k_best import _offer
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Potentials
from strategies import LABELS, random_chain


@given(st.lists(st.integers(0, 5)), st.integers(1, 5))
def test_a_ranking_keeps_the_best_of_what_was_offered(scores: list[int], room: int) -> None:
    """Behind its equals, so that what was offered first stays before them."""
    ranked, origin = np.empty(room), np.empty((room, 3), dtype=np.int32)
    size = 0
    for n, score in enumerate(scores):
        size = _offer(ranked, origin, size, float(score), n, n + 1, n + 2)
    order = sorted(range(len(scores)), key=lambda n: -scores[n])[:room]
    assert ranked[:size].tolist() == [scores[n] for n in order]
    assert origin[:size].tolist() == [[n, n + 1, n + 2] for n in order]


def score_of_each(chain: Chain) -> list[float]:
    return sorted((chain.score(path) for path in chain.paths()), reverse=True)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_any_number_of_paths_is_found(label_pairs: bool, generator: np.random.Generator) -> None:
    """Of sequences that have more and less of them."""
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs)
    chains = [random_chain(generator, lattice, length) for length in (3, 1, 4)]
    for chain in chains:
        chain.transitions[:] = chains[0].transitions
    scores, starts = np.concatenate([chain.scores for chain in chains]), np.array([0, 3, 4, 8])
    potentials = Potentials(scores, chains[0].transitions, starts)
    expected = list(map(score_of_each, chains))
    structure = LinearChain(lattice)
    for k in (*range(1, 12), len(expected[0])):
        paths, found = structure.k_best(potentials, k)
        assert paths.shape == (k, 8)
        assert found.shape == (k, 3)
        for i, own in enumerate(expected):
            n = min(k, len(own))
            np.testing.assert_allclose(found[:n, i], own[:n], atol=1e-9)
            assert np.isneginf(found[n:, i]).all()
            assert not paths[n:, starts[i] : starts[i + 1]].any()
            assert len(np.unique(paths[:n, starts[i] : starts[i + 1]], axis=0)) == n
