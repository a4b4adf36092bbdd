"""Likely spans against enumeration of paths, the best disjoint ones against that of sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import Chain, best_disjoint_gain, span_probabilities
from spacy_cascade.inference.lattice import Chains
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import SCHEMES, Spans, TagSet
from spacy_cascade.inference.spans import best_disjoint, likely_spans
from strategies import LABELS, chains, random_chain

LEAST = st.sampled_from([1e-9, 0.01, 0.2, 0.6])
SPAN = st.tuples(st.integers(0, 7), st.integers(1, 4))


def spans_of_chains(
    chains_: list[Chain], tag_set: TagSet, least: float, room: int = 200
) -> tuple[int, list[tuple[int, int, str]], list[float]]:
    """How many spans there are, and those for which there is room, with their probabilities."""
    first = chains_[0]
    bounds = np.full((2, room), -9, dtype=np.int64)
    labels, posteriors = np.full(room, -9, dtype=np.int32), np.full(room, np.nan)
    together = Chains(
        first.lattice,
        np.concatenate([chain.scores for chain in chains_]),
        first.transitions,
        LinearChain(first.lattice).costs(first.costs).margin,
        np.concatenate([np.array(chain.tags, dtype=np.int32) for chain in chains_]),
        np.cumsum([0, *map(len, chains_)], dtype=np.int64),
    )
    found = Spans(*bounds, labels)
    n_found = likely_spans(together, tag_set.span_labels, least, found, posteriors)
    n = min(n_found, room)
    names = [tag_set.labels[label] for label in labels[:n].tolist()]
    spans = list(zip(*bounds[:, :n].tolist(), names, strict=True))
    assert (bounds[:, n:] == -9).all()
    return n_found, spans, posteriors[:n].tolist()


@settings(max_examples=100)
@given(chains(), LEAST)
def test_all_spans_of_any_chain_that_are_likely_enough(example, least):
    tag_set, chain = example
    n_found, spans, posteriors = spans_of_chains([chain], tag_set, least)
    expected = {s: p for s, p in span_probabilities(chain, tag_set).items() if p >= least}
    assert n_found == len(spans) == len(set(spans))
    found = dict(zip(spans, posteriors, strict=True))
    for span in found.keys() ^ expected.keys():  # but for rounding
        assert found.get(span, expected.get(span)) == pytest.approx(least, rel=1e-9)
    for span in found.keys() & expected.keys():
        assert found[span] == pytest.approx(expected[span], rel=1e-9)


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_spans_of_several_sequences(scheme, generator):
    tag_set = TagSet(scheme, LABELS)
    lattice = tag_set.lattice(True)
    first = random_chain(generator, lattice, 3)
    others = [random_chain(generator, lattice, length) for length in (1, 5)]
    rest = [Chain(c.lattice, c.scores, first.transitions, first.costs, c.tags) for c in others]
    several = [first, *rest]
    n_found, spans, posteriors = spans_of_chains(several, tag_set, 0.02)
    ends = [end for _, end, _ in spans]
    assert ends == sorted(ends)
    expected = {}
    for chain, offset in zip(several, (0, 3, 4), strict=True):
        for (start, end, label), p in span_probabilities(chain, tag_set).items():
            if p >= 0.02:
                expected[start + offset, end + offset, label] = p
    assert dict(zip(spans, posteriors, strict=True)) == pytest.approx(expected)
    few = spans_of_chains(several, tag_set, 0.02, room=4)
    assert few == (n_found, spans[:4], posteriors[:4])
    assert n_found > 4


def test_a_long_chain_has_spans_of_any_length():
    """A span that holds the whole sequence, and nothing else, however long."""
    tag_set = TagSet("BILOU", LABELS[:1])
    lattice = tag_set.lattice(False)
    scores = np.zeros((300, lattice.n_columns))
    scores[0, tag_set.tags.index("B-protein")] = 40.0
    scores[1:-1, tag_set.tags.index("I-protein")] = 40.0
    costs = np.zeros((lattice.n_labels, lattice.n_labels))
    chain = Chain(lattice, scores, np.zeros(lattice.n_edges), costs, [-1] * 300)
    n_found, spans, posteriors = spans_of_chains([chain], tag_set, 0.01)
    assert (n_found, spans) == (1, [(0, 300, "protein")])
    assert posteriors == pytest.approx([1.0])


@settings(max_examples=100)
@given(st.lists(st.tuples(SPAN, st.floats(-1.0, 1.0)), max_size=8))
def test_the_best_disjoint_spans(drawn):
    drawn = sorted(drawn, key=lambda item: sum(item[0]))
    bounds = [(start, start + length) for (start, length), _ in drawn]
    start, end = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
    gains = np.array([gain for _, gain in drawn], dtype=np.float64)
    chosen = np.ones(len(drawn), dtype=np.bool_)
    best_disjoint(start.copy(), end.copy(), gains, chosen)
    tokens = [t for t, c in zip(bounds, chosen, strict=True) if c for t in range(*t)]
    assert len(tokens) == len(set(tokens))
    assert (gains[chosen] >= 0).all()
    assert gains[chosen].sum() == pytest.approx(best_disjoint_gain(bounds, gains.tolist()))


def test_spans_that_gain_nothing_are_chosen_where_there_is_room():
    chosen = np.zeros(3, dtype=np.bool_)
    start, end = np.array([0, 2, 1], dtype=np.int64), np.array([1, 3, 4], dtype=np.int64)
    best_disjoint(start, end, np.array([0.0, 0.5, 0.0]), chosen)
    assert chosen.tolist() == [True, True, False]


def test_empty_spans_are_never_chosen():
    """Other components can put such spans into a group."""
    chosen = np.zeros(3, dtype=np.bool_)
    start, end = np.array([0, 1, 2], dtype=np.int64), np.array([0, 1, 3], dtype=np.int64)
    best_disjoint(start, end, np.array([0.5, 0.5, 0.5]), chosen)
    assert chosen.tolist() == [False, False, True]
