"""Posteriors with many labels against enumeration and the kernels for any lattice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import Chain, span_posterior, span_probabilities
from spacy_cascade.inference.lattice import Chains
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import SCHEMES, Spans, TagSet
from spacy_cascade.inference.spans import likely_spans, span_posteriors
from spacy_cascade.systems.many_labels.block_spans import block_likely_spans, block_span_posteriors
from spacy_cascade.systems.many_labels.blocks import blocks_of
from strategies import LABELS, chains, random_chain, random_path


def together(several: list[Chain]) -> Chains:
    first = several[0]
    return Chains(
        first.lattice,
        np.concatenate([chain.scores for chain in several]),
        first.transitions,
        LinearChain(first.lattice).costs(first.costs).margin,
        np.concatenate([np.array(chain.tags, dtype=np.int32) for chain in several]),
        np.cumsum([0, *map(len, several)], dtype=np.int64),
    )


@settings(max_examples=20)
@given(
    chains().filter(lambda example: not example[1].lattice.label_pairs),
    st.sampled_from([0.01, 0.2, 0.6]),
)
def test_spans_of_any_chain(example, least):
    """The posterior of each span, and all spans that are likely."""
    tag_set, chain = example
    everything, expected = together([chain]), span_probabilities(chain, tag_set)
    for start, end, name in expected:
        bounds = np.array([start]), np.array([end])
        span = Spans(*bounds, np.array([tag_set.labels.index(name)], dtype=np.int32))
        path, found = np.zeros(len(chain), dtype=np.int32), np.full(1, np.nan)
        tag_set.write(path, *span)
        sequences = np.zeros(1, dtype=np.int32)
        block_span_posteriors(blocks_of(chain.lattice), everything, path, span, sequences, found)
        assert found[0] == pytest.approx(span_posterior(chain, tag_set, (start, end, name)))
    found = likely(block_likely_spans, everything, tag_set, least, 200)
    names = [(start, end, tag_set.labels[label]) for start, end, label in found]
    assert len(names) == len(set(names))
    for span, p in zip(names, found.values(), strict=True):
        assert p == pytest.approx(expected.pop(span), rel=1e-9)
    assert all(p < least * (1 + 1e-9) for p in expected.values())


def likely(kernel, everything, tag_set, least, room, n_known=None):
    """Likely spans and their probabilities."""
    labels, probabilities = np.full(room, -9, dtype=np.int32), np.full(room, np.nan)
    spans = Spans(*np.full((2, room), -9, dtype=np.int64), labels)
    if kernel is block_likely_spans:
        everything = blocks_of(everything.lattice), everything
    else:
        everything = (everything,)
    n = kernel(*everything, tag_set.span_labels, least, spans, probabilities)
    assert n_known in (None, n)
    n = min(n, room)
    assert (labels[n:] == -9).all()
    rows = zip(*(values[:n].tolist() for values in spans), strict=True)
    return dict(zip(rows, probabilities[:n].tolist(), strict=True))


@pytest.mark.parametrize("size", [1.0, 4.0, 30.0, 800.0])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_several_sequences(generator: np.random.Generator, scheme: str, size: float) -> None:
    """Of some sizes numbers underflow, and the other kernel takes over."""
    tag_set = TagSet(scheme, (*LABELS, "cell", "virus"))
    lattice = tag_set.lattice(False)
    several = [random_chain(generator, lattice, n, size=size) for n in (9, 0, 1, 30, 4, 4, 17)]
    everything = together(several)
    paths = [random_path(generator, lattice, len(chain)) for chain in several]
    path = np.concatenate([np.array(of_one, dtype=np.int32) for of_one in paths])
    spans = tag_set.spans(path, everything.starts)
    sequences = np.searchsorted(everything.starts, spans.start, side="right") - 1
    asked = everything, path, spans, sequences.astype(np.int32)
    by_blocks, by_edges = np.full((2, len(sequences)), np.nan)
    block_span_posteriors(blocks_of(lattice), *asked, by_blocks)
    span_posteriors(*asked, by_edges)
    assert len(sequences) > 5
    np.testing.assert_allclose(by_blocks, by_edges, rtol=1e-7, atol=1e-200)
    by_kernel = [
        likely(kernel, everything, tag_set, 0.02, 500)
        for kernel in (block_likely_spans, likely_spans)
    ]
    assert by_kernel[0] == pytest.approx(by_kernel[1], abs=1e-9)
    assert len(by_kernel[0]) > 5
    assert max(*by_kernel[0].values(), *by_blocks) <= 1.0
    few = likely(block_likely_spans, everything, tag_set, 0.02, 4, len(by_kernel[0]))
    assert few.items() <= by_kernel[0].items()
