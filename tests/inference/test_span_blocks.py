"""Posteriors of spans of long sequences, in blocks: the same bits as in one piece."""

from __future__ import annotations

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade.inference import spans as kernels
from spacy_cascade.inference.lattice import Chains
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import SCHEMES, Spans, TagSet
from strategies import LABELS, random_chain

LENGTHS = st.lists(st.integers(0, 40), min_size=1, max_size=3)


def in_blocks(size: int) -> mock._patch[int]:
    return mock.patch.object(kernels, "_BLOCK", size)


def random_spans(generator: np.random.Generator, starts: np.ndarray, n_labels: int) -> Spans:
    """Spans of all lengths without overlap, many of them side by side; none crosses sequences."""
    bounds = []
    for begin, end in pairwise(starts):
        n_cuts = generator.integers(0, end - begin + 2)
        cuts = np.unique([begin, *generator.integers(begin, end + 1, n_cuts), end])
        bounds += [pair for pair in pairwise(cuts) if generator.random() < 0.8]
    start, end = np.array(bounds, dtype=np.int64).reshape(-1, 2).T.copy()
    return Spans(start, end, generator.integers(0, n_labels, len(start)).astype(np.int32))


def case(seed: int, tag_set: TagSet, lengths: list[int]) -> tuple[Chains, np.ndarray, Spans]:
    """Sequences, spans of them, and the path with these spans."""
    generator = np.random.default_rng(seed)
    lattice, starts = tag_set.lattice(True), np.cumsum([0, *lengths], dtype=np.int64)
    n = int(starts[-1])
    chain = random_chain(generator, lattice, n)
    margin = LinearChain(lattice).costs(chain.costs).margin
    tags = np.array(chain.tags, dtype=np.int32)
    spans, path = random_spans(generator, starts, len(LABELS)), np.zeros(n, dtype=np.int32)
    tag_set.write(path, *spans)
    return Chains(lattice, chain.scores, chain.transitions, margin, tags, starts), path, spans


def posteriors(chains: Chains, path: np.ndarray, spans: Spans) -> np.ndarray:
    sequences = np.searchsorted(chains.starts, spans.start, side="right") - 1
    found = np.full(len(spans.start), np.nan)
    kernels.span_posteriors(chains, path, spans, sequences.astype(np.int32), found)
    return found


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.sampled_from(sorted(SCHEMES)), LENGTHS, st.integers(1, 9))
def test_blocks_of_any_size_give_the_same_bits(seed, scheme, lengths, size):
    asked = case(seed, TagSet(scheme, LABELS), lengths)
    whole = posteriors(*asked)
    with in_blocks(size):
        np.testing.assert_array_equal(posteriors(*asked), whole)
    assert ((whole >= 0) & (whole <= 1)).all()


@pytest.mark.parametrize("size", [4, 100])
def test_usual_sequences_need_no_log_space(size, monkeypatch):
    """Which would give the same, and take longer."""
    asked = case(3, TagSet("BILOU", LABELS), [30, 1, 25])
    monkeypatch.setattr(kernels, "_log_space_posteriors", None)
    with in_blocks(size):
        assert np.isfinite(posteriors(*asked)).all()


def test_a_sequence_between_others_that_is_computed_in_log_space():
    chains, path, spans = case(1, TagSet("BILOU", LABELS), [20, 30, 25])
    column = chains.lattice.column[0]
    chains.scores[40, column] += 300.0  # of the second block of the second
    whole = posteriors(chains, path, spans)
    with in_blocks(16):
        np.testing.assert_array_equal(posteriors(chains, path, spans), whole)
    assert np.isfinite(whole).all()
    is_own = (spans.start >= 20) & (spans.start < 50)
    own = chains._replace(
        scores=chains.scores[20:50], tags=chains.tags[20:50], starts=np.array([0, 30])
    )
    start, end, label = (column[is_own] for column in spans)
    alone = posteriors(own, path[20:50], Spans(start - 20, end - 20, label))
    np.testing.assert_array_equal(alone, whole[is_own])


def test_only_long_sequences_are_cut() -> None:
    """After each block, or behind the span that goes on there."""
    starts, spans = np.array([0, 5, 8, 30, 36]), np.array([[0, 4], [11, 16], [18, 20]]).T
    with in_blocks(6):
        blocks = kernels._blocks(starts, Spans(*spans, np.zeros(3, dtype=np.int32)))
    assert blocks.tolist() == [0, 5, 8, 16, 20, 26, 30, 36]


@settings(max_examples=40)
@given(st.integers(0, 2**31), LENGTHS, st.integers(1, 9))
def test_blocks_cut_no_span_and_no_short_sequence(seed, lengths, size):
    generator, starts = np.random.default_rng(seed), np.cumsum([0, *lengths], dtype=np.int64)
    spans = random_spans(generator, starts, 1)
    with in_blocks(size):
        blocks = kernels._blocks(starts, spans)
    assert set(starts) <= set(blocks)
    assert (np.diff(blocks) >= 0).all()
    for cut in set(blocks) - set(starts):
        assert not ((spans.start < cut) & (cut < spans.end)).any()
        i = np.searchsorted(starts, cut) - 1
        assert starts[i + 1] - starts[i] > size
    longest = max([0, *(spans.end - spans.start)])
    assert np.diff(blocks).max() < 2 * size + longest
