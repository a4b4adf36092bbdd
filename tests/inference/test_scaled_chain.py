"""Forward sums in scaled probabilities: exact where they are taken, refused where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from reference import Chain
from spacy_cascade.inference.chain import forward_backward, log_partitions, room_for
from spacy_cascade.inference.lattice import Chains, Lattice
from spacy_cascade.inference.scaled_chain import scaled_forward, scaled_marginals, scaled_room
from spacy_cascade.inference.schemes import UNOBSERVED, TagSet
from strategies import LABELS, random_chain, together


@pytest.fixture
def lattice() -> Lattice:
    return TagSet("BILOU", LABELS).lattice(label_pairs=True)


def as_chains(chain: Chain, clamped: bool = False) -> Chains:
    chains, costs = together([chain])
    return chains._replace(cost=costs.clamp) if clamped else chains


def scaled(chain: Chain, clamped: bool = False) -> float:
    chains = as_chains(chain, clamped)
    return float(scaled_forward(chains, chains.cost, 0, scaled_room(chain.lattice, len(chain))))


def exact(chain: Chain, clamped: bool = False) -> float:
    """By enumeration; clamped: over the paths that agree with what was observed."""
    paths = [path for path in chain.paths() if not clamped or chain.agrees(path)]
    costs = [0.0 if clamped else chain.cost(path) for path in paths]
    scores = [chain.score(path) + cost for path, cost in zip(paths, costs, strict=True)]
    return float(logsumexp(scores))


@pytest.mark.parametrize("clamped", [False, True])
def test_usual_chains_need_no_logarithms(
    clamped: bool, lattice: Lattice, generator: np.random.Generator
) -> None:
    """Labels that an observation forbids weigh nothing, which is not too little."""
    for length in (1, 2, 4, 4):
        chain = random_chain(generator, lattice, length)
        assert scaled(chain, clamped) == pytest.approx(exact(chain, clamped), abs=1e-9)


@pytest.mark.parametrize("value", [300.0, np.nan, np.inf, -np.inf])
def test_what_weighs_too_little_or_is_no_number_is_refused(
    value: float, lattice: Lattice, generator: np.random.Generator
) -> None:
    """An edge beside one that weighs far more, or any."""
    chain = random_chain(generator, lattice, 3)
    assert np.isfinite(scaled(chain))
    chain.scores[1, lattice.column[0] if value == 300.0 else slice(None)] += value
    assert scaled(chain) == -np.inf


def test_a_label_that_weighs_too_little_is_refused(
    lattice: Lattice, generator: np.random.Generator
) -> None:
    """No edge alone does, but one after the other."""
    chain = random_chain(generator, lattice, 4, size=0.1)
    chain.scores[:, lattice.column[lattice.target == 0]] += 200.0
    assert scaled(chain) == -np.inf


@pytest.mark.parametrize("length", [1, 4])
def test_marginals_of_usual_chains_need_no_logarithms(
    length: int, lattice: Lattice, generator: np.random.Generator
) -> None:
    """Where the numbers are too small it is told."""
    chain = random_chain(generator, lattice, length)
    chains = as_chains(chain)
    room = scaled_room(lattice, length)
    expected = room_for(lattice, chains.starts)
    assert scaled_marginals(chains, 0, room)
    forward_backward(lattice, *chains[1:5], 0, length, *expected)
    for own, other in zip(room[:2], expected, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-9)
    chain.scores[0, lattice.column[0]] += 300.0
    assert not scaled_marginals(as_chains(chain), 0, room)


def test_long_chains_do_not_overflow(lattice: Lattice, generator: np.random.Generator) -> None:
    chain = random_chain(generator, lattice, 2000, size=5.0)
    values = np.empty(1)
    log_partitions(as_chains(chain), values)
    assert scaled(chain) == pytest.approx(values[0], rel=1e-12)


def test_chains_without_any_path_have_no_weight(
    lattice: Lattice, generator: np.random.Generator
) -> None:
    chain = random_chain(generator, lattice, 3)
    chains, values = as_chains(chain), np.zeros(1)
    chains.scores[1] = -np.inf
    log_partitions(chains, values)
    assert values[0] == -np.inf
    # One token that would have to be the first of two.
    begins = next(y for y in range(lattice.n_labels) if not lattice.final[y])
    forced = Chain(
        lattice, np.zeros((1, lattice.n_columns)), np.zeros(lattice.n_edges),
        np.full((lattice.n_labels, lattice.n_labels), -np.inf), [begins],
    )  # fmt: skip
    forced.costs[:, begins] = 0.0
    log_partitions(as_chains(forced), values)
    assert values[0] == scaled(forced) == -np.inf
    assert UNOBSERVED not in forced.tags
