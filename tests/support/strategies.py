"""Hypothesis strategies named by what they make and by dimension, and seeded makers.

Arrays have the same types as in the package, so that kernels compile once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reference import Chain, Corpus, dense_design, rows_from_dense
from spacy_cascade.inference.lattice import Chains, Lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import ENDED, SCHEMES, UNOBSERVED, TagSet
from spacy_cascade.inference.structure import Costs
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.numeric.design import Design

SMALL = st.floats(-4.0, 4.0, allow_subnormal=False)
LABELS = ("protein", "DNA")


def floats1d(n: int, elements: st.SearchStrategy[float] = SMALL) -> st.SearchStrategy:
    return arrays(np.float64, n, elements=elements)


def floats2d(n: int, width: int, elements: st.SearchStrategy[float] = SMALL) -> st.SearchStrategy:
    return arrays(np.float64, (n, width), elements=elements)


def counts2d(rows: st.SearchStrategy[int], columns: st.SearchStrategy[int]) -> st.SearchStrategy:
    """Small counts, mostly zero: a sparse matrix."""
    shapes = st.tuples(rows, columns)
    elements = st.sampled_from([0, 0, 0, 1, 1, 2])
    return shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=elements))


def keys1d(smallest: int = 0, largest: int = 200) -> st.SearchStrategy:
    """Distinct keys; some share their low or their high bits."""
    keys = st.one_of(
        st.integers(1, 64),
        st.integers(1, 64).map(lambda n: n << 32),
        st.integers(1, 2**64 - 1),
    )
    return st.lists(keys, min_size=smallest, max_size=largest, unique=True).map(
        lambda values: np.array(values, dtype=np.uint64)
    )


def words() -> st.SearchStrategy[str]:
    """Texts that can be tokens, among them emoji, combining and astral characters."""
    usual = st.text("aAzZ09-.é", min_size=1, max_size=6)
    odd = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs")), min_size=1, max_size=4)
    return st.one_of(usual, odd)


def sentences(longest: int = 6) -> st.SearchStrategy[list[str]]:
    return st.lists(words(), min_size=1, max_size=longest)


def tag_sets() -> st.SearchStrategy[TagSet]:
    labels = st.sampled_from([LABELS[:1], LABELS])
    return st.builds(TagSet, st.sampled_from(sorted(SCHEMES)), labels)


@st.composite
def chains(draw: st.DrawFn, longest: int = 4) -> tuple[TagSet, Chain]:
    """A short chain with any scores, costs and missing tags."""
    tag_set = draw(tag_sets())
    lattice = tag_set.lattice(draw(st.booleans()))
    length = draw(st.integers(1, longest))
    path = random_path(np.random.default_rng(draw(st.integers(0, 99))), lattice, length)
    observed, ended = draw(arrays(np.bool_, (2, length)))
    ended &= SCHEMES[tag_set.scheme].separates  # else nobody knows that a span has ended
    chain = Chain(
        lattice=lattice,
        scores=draw(floats2d(length, lattice.n_columns)),
        transitions=draw(floats1d(lattice.n_edges)),
        costs=draw(floats2d(lattice.n_labels, lattice.n_labels, st.floats(0.0, 3.0))),
        tags=partly_observed(lattice, np.array(path), observed, ended).tolist(),
    )
    return tag_set, chain


def partly_observed(
    lattice: Lattice,
    path: npt.NDArray[np.int32],
    observed: npt.NDArray[np.bool_],
    ended: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int32]:
    """Labels of a path where they are observed; ended: tell of a span, if so, that it has ended."""
    tags = np.where(observed, path, UNOBSERVED).astype(np.int32)
    after = ended & ~observed & ~lattice.continued[path]
    after[1:] &= observed[:-1]
    tags[after] = ENDED
    return tags


def random_path(generator: np.random.Generator, lattice: Lattice, length: int) -> list[int]:
    """Labels of a random legal path."""
    while True:
        labels, label = [], lattice.start
        for _ in range(length):
            label = int(generator.choice(lattice.target[lattice.source == label]))
            labels.append(label)
        if not labels or lattice.final[label]:
            return labels


def random_chain(
    generator: np.random.Generator,
    lattice: Lattice,
    length: int,
    missing: float = 0.3,
    size: float = 1.0,
) -> Chain:
    """A chain with normal scores of a size and unequal costs, some tags missing."""
    path = np.array(random_path(generator, lattice, length), dtype=np.int32)
    observed = generator.random(length) >= missing
    tags = partly_observed(lattice, path, observed, generator.random(length) < 0.5)
    return Chain(
        lattice=lattice,
        scores=size * generator.normal(size=(length, lattice.n_columns)),
        transitions=size * generator.normal(size=lattice.n_edges),
        costs=generator.random((lattice.n_labels, lattice.n_labels)),
        tags=tags.tolist(),
    )


def together(chains: Sequence[Chain]) -> tuple[Chains, Costs]:
    """Chains under one lattice as kernels take them, and the costs; the first one's count."""
    lattice = chains[0].lattice
    costs = LinearChain(lattice).costs(chains[0].costs)
    scores = np.concatenate([chain.scores for chain in chains])
    tags = np.concatenate([np.array(chain.tags, dtype=np.int32) for chain in chains])
    starts = np.cumsum([0, *map(len, chains)], dtype=np.int64)
    return Chains(lattice, scores, chains[0].transitions, costs.margin, tags, starts), costs


def random_design(generator: np.random.Generator, n_units: int, n_features: int) -> Design:
    """A design of words with features of their own, and of features of units."""
    n_lexemes = max(n_units // 2, 1)
    lexeme_features = generator.random((n_lexemes, n_features)) < 0.3
    unit_lexemes = np.zeros((n_units, n_lexemes), dtype=np.int64)
    for chosen in generator.integers(0, n_lexemes, (2, n_units)):
        unit_lexemes[np.arange(n_units), chosen] += 1
    unit_features = generator.random((n_units, n_features)) < 0.1
    return Design(
        rows_from_dense(lexeme_features.astype(np.int64)),
        rows_from_dense(unit_lexemes),
        rows_from_dense(unit_features.astype(np.int64)),
    )


def random_corpus(
    generator: np.random.Generator,
    lattice: Lattice,
    lengths: Sequence[int],
    costs: npt.NDArray[np.float64],
    sigma: float,
    n_features: int = 6,
    missing: float = 0.2,
) -> tuple[Design, Corpus]:
    """Sequences of the given lengths, with random features and legal tags."""
    design = random_design(generator, sum(lengths), n_features)
    path = [tag for length in lengths for tag in random_path(generator, lattice, length)]
    observed = generator.random(len(path)) >= missing
    ended = generator.random(len(path)) < 0.5
    tags = partly_observed(lattice, np.array(path, dtype=np.int32), observed, ended)
    starts = np.cumsum([0, *lengths], dtype=np.int64)
    return design, Corpus(dense_design(design), lattice, costs, sigma, tags, starts)


@st.composite
def entities(draw: st.DrawFn, n_tokens: int = 8) -> list[tuple[int, int, str]]:
    """Entities of a Doc, in order and without overlap; often many for its length."""
    # One draw, for Hypothesis takes longer to draw than the tests take to run.
    chance = Random(draw(st.integers(0, 2**32)))
    bounds = sorted(chance.sample(range(n_tokens + 1), chance.randint(0, n_tokens + 1)))
    labels = (*LABELS, "cell")
    found = [(start, end, chance.choice(labels)) for start, end in pairwise(bounds)]
    return [entity for entity in found if chance.random() < 0.67]


def wide_design(generator: np.random.Generator, n_units: int) -> Design:
    """A design so large that its work is cut into pieces."""

    def rows(n_rows: int, per_row: int, n_columns: int) -> BinaryCSR:
        starts = np.arange(n_rows + 1, dtype=np.int64) * per_row
        columns = generator.integers(0, n_columns, n_rows * per_row).astype(np.int32)
        return BinaryCSR(starts, columns, n_columns)

    return Design(rows(4000, 4, 3000), rows(n_units, 3, 4000), rows(n_units, 2, 3000))
