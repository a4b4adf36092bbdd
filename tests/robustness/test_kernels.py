"""Kernels against slow twins: random lattices by enumeration; large weights and long chains."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from reference import (
    Chain,
    best_disjoint_gain,
    chain_lattice,
    edge_potentials,
    log_sum,
    span_probabilities,
    sum_columns,
    weighted_counts,
)
from spacy_cascade.inference import k_best as nbest
from spacy_cascade.inference.chain import log_partitions, path_scores
from spacy_cascade.inference.chain_losses import chain_losses
from spacy_cascade.inference.contrast import contrast
from spacy_cascade.inference.dense_losses import dense_log_partitions, dense_losses
from spacy_cascade.inference.lattice import (
    Chains,
    Lattice,
    LossTerms,
    choice_lattice,
    free_lattice,
)
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import SCHEMES, UNOBSERVED, Spans, TagSet
from spacy_cascade.inference.spans import best_disjoint, likely_spans, span_posteriors
from spacy_cascade.inference.viterbi import best_paths, dense_viterbi, viterbi
from strategies import LABELS, partly_observed, random_path

pytestmark = pytest.mark.slow

CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}
SIZES = ("ordinary", "large", "extreme", "equal", "tied")
LEAST, THRESHOLD = 0.05, 0.3


# Random lattices, weights and observations


def random_lattice(generator: np.random.Generator) -> tuple[Lattice, TagSet | None, int]:
    """A lattice, its tags if it has spans, and the length of its longest sequence."""
    label_pairs = bool(generator.integers(2))
    kind = generator.choice(["tags", "any", "free", "choice"], p=[0.6, 0.2, 0.15, 0.05])
    if kind == "tags":
        n_labels = int(generator.integers(1, len(LABELS) + 1))
        tag_set = TagSet(str(generator.choice(sorted(SCHEMES))), LABELS[:n_labels])
        return tag_set.lattice(label_pairs), tag_set, 5 - n_labels
    if kind == "free":
        return free_lattice(int(generator.integers(1, 5)), label_pairs), None, 4
    if kind == "choice":
        return choice_lattice(int(generator.integers(1, 6))), None, 1
    n = int(generator.integers(1, 5))
    may_follow = generator.random((n, n)) < 0.6
    may_end = generator.random(n) < 0.5
    names = [str(y) for y in range(n)]
    lattice = chain_lattice(
        names,
        # The first label, where a sequence may end, leads to all labels, and all lead to it.
        follows=lambda p, c: "0" in (p, c) or bool(may_follow[int(p), int(c)]),
        continues=lambda p, c: False,
        ends=lambda label: int(label) == 0 or bool(may_end[int(label)]),
        start="0",
        label_pairs=label_pairs,
    )
    return lattice, None, 4


def random_weights(generator: np.random.Generator, size: str, shape: tuple[int, ...]) -> np.ndarray:
    """Weights up to 1,000 in size."""
    if size == "equal":
        return np.full(shape, generator.choice([-1e3, 0.0, 1e3]))
    if size == "tied":
        return generator.integers(-1, 2, shape).astype(np.float64)
    if size == "extreme":
        return generator.choice([-1e3, 0.0, 1e3], shape)
    return generator.uniform(-1, 1, shape) * {"ordinary": 3.0, "large": 1e3}[size]


def random_chains(generator: np.random.Generator) -> tuple[list[Chain], TagSet | None]:
    """Sequences under one lattice and its transitions; in some of them nothing is observed."""
    lattice, tag_set, longest = random_lattice(generator)
    size = str(generator.choice(SIZES))
    transitions = random_weights(generator, size, (lattice.n_edges,))
    costs = generator.choice([0.0, 1.0, 7.5]) * generator.random((lattice.n_labels,) * 2)
    missing = generator.choice([0.0, 0.4, 1.0])
    chains = []
    for length in generator.integers(0, longest + 1, generator.integers(1, 4)).tolist():
        path = np.array(random_path(generator, lattice, length), dtype=np.int32)
        observed, ended = generator.random((2, length)) >= [[missing], [0.5]]
        if tag_set is not None:  # under the scheme IO nobody knows that a span has ended
            ended &= SCHEMES[tag_set.scheme].separates
        tags = partly_observed(lattice, path, observed, ended).tolist()
        scores = random_weights(generator, size, (length, lattice.n_columns))
        chains.append(Chain(lattice, scores, transitions, costs, tags))
    return chains, tag_set


def constrained(generator: np.random.Generator, chain: Chain, path: list[int]) -> Chain:
    """Nothing observed, and scores of `-inf` off a legal path at some positions."""
    scores = chain.scores.copy()
    labels = np.empty(chain.lattice.n_columns, dtype=np.int32)
    labels[chain.lattice.column] = chain.lattice.target
    for t in np.flatnonzero(generator.random(len(chain)) < 0.5):
        scores[t, labels != path[t]] = -np.inf
    return replace(chain, scores=scores, tags=[UNOBSERVED] * len(chain))


# All paths


@dataclass(frozen=True)
class Paths:
    """All legal paths of a chain: edges int `[P, T]`, scores without and with costs `[P]`."""

    edges: np.ndarray
    plain: np.ndarray
    total: np.ndarray
    agrees: np.ndarray


def all_paths(chain: Chain) -> Paths:
    found = list(chain.paths())
    edges = np.array(found, dtype=np.int64).reshape(len(found), len(chain))
    additions = np.zeros((len(chain), chain.lattice.n_labels))
    potentials = edge_potentials(chain, additions)
    for addition, tag in zip(additions, chain.tags, strict=True):
        addition[:] = chain.costs[tag] if tag >= 0 else 0.0
    with_costs = edge_potentials(chain, additions)
    steps = np.arange(len(chain))
    return Paths(
        edges,
        potentials[steps, edges].sum(axis=1),
        with_costs[steps, edges].sum(axis=1),
        np.array([chain.agrees(path) for path in found], dtype=np.bool_),
    )


# Kernels on several sequences at once


@dataclass(frozen=True)
class Batch:
    """What kernels take of chains under one lattice."""

    chains: list[Chain]

    @property
    def lattice(self) -> Lattice:
        return self.chains[0].lattice

    @property
    def has_columns_of_labels(self) -> bool:
        return self.lattice.n_columns < self.lattice.n_edges

    @property
    def starts(self) -> np.ndarray:
        return np.cumsum([0, *map(len, self.chains)], dtype=np.int64)

    def taken(self) -> Chains:
        """As kernels take them; a new array of scores each time."""
        return Chains(
            self.lattice,
            np.concatenate([chain.scores for chain in self.chains]),
            self.chains[0].transitions,
            self.costs().margin,
            np.array([tag for chain in self.chains for tag in chain.tags], dtype=np.int32),
            self.starts,
        )

    def costs(self) -> Any:
        return LinearChain(self.lattice).costs(self.chains[0].costs)

    def partitions(self, kernel: Any) -> np.ndarray:
        values = np.full(len(self.chains), np.nan)
        kernel(self.taken(), values)
        return values

    def losses(self, kernel: Any, observed: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Losses and gradients, the second sum so many times."""
        n = len(self.chains)
        taken = self.taken()
        losses, moves = np.full(n, np.nan), np.zeros(self.lattice.n_edges)
        signs = np.ones(n), np.full(n, observed)
        kernel(taken, LossTerms(self.costs().clamp, signs, 0, n, losses), moves)
        return losses, taken.scores, moves

    def best(self, kernel: Any) -> tuple[np.ndarray, np.ndarray]:
        path = np.full(self.starts[-1], -9, dtype=np.int32)
        values = np.full(len(self.chains), np.nan)
        kernel(self.taken(), path, values)
        return path, values

    def best_n(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        paths = np.full((n, self.starts[-1]), -9, dtype=np.int32)
        values = np.full((len(self.chains), n), np.nan)
        n_paths = np.full(len(self.chains), -9, dtype=np.int32)
        nbest.best_paths(self.taken(), paths, values, n_paths)
        return paths, values, n_paths

    def posteriors(self, path: np.ndarray, spans: Spans) -> np.ndarray:
        """Of spans of a path, positions of the batch."""
        found = np.full(len(spans.start), np.nan)
        sequence = (np.searchsorted(self.starts, spans.start, side="right") - 1).astype(np.int32)
        span_posteriors(self.taken(), path, spans, sequence, found)
        return found

    def likely(self, tag_set: TagSet, least: float) -> dict[tuple[int, int, str], float]:
        start, end = np.zeros((2, 400), dtype=np.int64)
        spans, found = Spans(start, end, np.zeros(400, dtype=np.int32)), np.full(400, np.nan)
        n = likely_spans(self.taken(), tag_set.span_labels, least, spans, found)
        names = [tag_set.labels[number] for number in spans.label[:n].tolist()]
        keys = zip(start[:n].tolist(), end[:n].tolist(), names, strict=True)
        return dict(zip(keys, found[:n].tolist(), strict=True))


# What is compared


def log_sums(batch: Batch, paths: list[Paths]) -> list[float]:
    """Log-partitions; a sequence without positions has one path, of nothing."""
    pairs = zip(batch.chains, paths, strict=True)
    return [float(logsumexp(p.total)) if len(chain) else 0.0 for chain, p in pairs]


def check_sums(batch: Batch, paths: list[Paths]) -> None:
    """Partitions and probabilities of edges."""
    kernels: list[tuple[Any, Any]] = [(log_partitions, chain_losses)]
    if batch.has_columns_of_labels:
        kernels.append((dense_log_partitions, dense_losses))
    expected = log_sums(batch, paths)
    for partitions, losses in kernels:
        np.testing.assert_allclose(batch.partitions(partitions), expected, **CLOSE)
        check_losses(batch, paths, losses)


def check_losses(batch: Batch, paths: list[Paths], kernel: Any) -> None:
    """Losses and gradients, and probabilities alone, which sum to one at each position."""
    values, by_scores, moves = batch.losses(kernel, observed=1.0)
    _, marginals, _ = batch.losses(kernel, observed=0.0)
    all_moves = np.zeros_like(moves)
    for i, (chain, p) in enumerate(zip(batch.chains, paths, strict=True)):
        here = slice(*batch.starts[i : i + 2])
        if not any(tag >= 0 for tag in chain.tags):
            assert values[i] == 0.0
            assert not by_scores[here].any()
            continue
        everything = weighted_counts(chain, p.edges, p.total)
        agreeing = weighted_counts(chain, p.edges[p.agrees], p.plain[p.agrees])
        loss = logsumexp(p.total) - logsumexp(p.plain[p.agrees])
        np.testing.assert_allclose(values[i], loss, **CLOSE)
        counts = everything - agreeing
        np.testing.assert_allclose(by_scores[here], sum_columns(chain.lattice, counts), **CLOSE)
        np.testing.assert_allclose(marginals[here], sum_columns(chain.lattice, everything), **CLOSE)
        np.testing.assert_allclose(marginals[here].sum(axis=1), 1.0, **CLOSE)
        all_moves += counts.sum(axis=0)
    np.testing.assert_allclose(moves, all_moves, **CLOSE)


def check_best(batch: Batch, paths: list[Paths]) -> None:
    """Viterbi: as good as the best of all, and a path that is as good as it says."""
    kernels = [viterbi, best_paths]
    if batch.has_columns_of_labels:
        kernels.append(dense_viterbi)
    target = batch.lattice.target
    for kernel in kernels:
        path, values = batch.best(kernel)
        for i, (begin, end) in enumerate(pairwise(batch.starts)):
            if begin < end:
                p = paths[i]
                (same,) = np.flatnonzero((target[p.edges] == path[begin:end]).all(axis=1))
                expected = [p.total.max()] * 2
                np.testing.assert_allclose([values[i], p.total[same]], expected, **CLOSE)


def check_best_n(batch: Batch, paths: list[Paths], n: int) -> None:
    """The N best: their scores, and different paths that have these scores."""
    found, values, n_paths = batch.best_n(n)
    for i, (begin, end) in enumerate(pairwise(batch.starts)):
        if begin == end:
            continue
        ranked = np.sort(paths[i].plain[np.isfinite(paths[i].plain)])[::-1][:n]
        assert n_paths[i] == len(ranked)
        np.testing.assert_allclose(values[i, : len(ranked)], ranked, **CLOSE)
        labels = map(tuple, batch.lattice.target[paths[i].edges].tolist())
        score = dict(zip(labels, paths[i].plain.tolist(), strict=True))
        rows = [tuple(row) for row in found[: len(ranked), begin:end].tolist()]
        assert len(set(rows)) == len(rows)
        np.testing.assert_allclose([score[row] for row in rows], ranked, **CLOSE)
    if not batch.has_columns_of_labels or not len(found[0]):
        return
    tags = found[0]
    scores = np.full(len(batch.chains), np.nan)
    path_scores(batch.taken()._replace(tags=tags), scores)
    is_there = np.diff(batch.starts) > 0
    np.testing.assert_allclose(scores[is_there], values[is_there, 0], **CLOSE)


def check_spans(batch: Batch, tag_set: TagSet) -> None:
    """Spans of the best path, and all likely ones with the best of them without overlap."""
    expected = {
        (start + int(offset), end + int(offset), label): p
        for chain, offset in zip(batch.chains, batch.starts, strict=False)
        if len(chain)
        for (start, end, label), p in span_probabilities(chain, tag_set).items()
    }
    path, _ = batch.best(viterbi)
    spans = tag_set.spans(path, np.unique(batch.starts))
    keys = zip(spans.start.tolist(), spans.end.tolist(), spans.label.tolist(), strict=True)
    wanted = [expected[start, end, tag_set.labels[label]] for start, end, label in keys]
    found = batch.posteriors(path, spans)
    np.testing.assert_allclose(found, wanted, **CLOSE)
    likely = batch.likely(tag_set, LEAST)
    for span, p in expected.items():
        if p > LEAST + 1e-9:
            np.testing.assert_allclose(likely[span], p, **CLOSE)
        elif p < LEAST - 1e-9:
            assert span not in likely
    assert likely.keys() <= expected.keys()
    check_disjoint({span[:2]: p for span, p in likely.items()})


def check_disjoint(likely: dict[tuple[int, int], float]) -> None:
    spans = sorted(likely, key=lambda span: span[1])[:10]
    gains = np.array([likely[span] - THRESHOLD for span in spans])
    start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T.copy()
    chosen = np.zeros(len(spans), dtype=np.bool_)
    best_disjoint(start, end, gains, chosen)
    assert gains[chosen].sum() == pytest.approx(best_disjoint_gain(spans, gains.tolist()))


def check_contrast(generator: np.random.Generator, chain: Chain, paths: Paths) -> None:
    """The best path with a label at a position, begun and ended there, and the best without."""
    position = int(generator.integers(len(chain)))
    label = int(generator.integers(chain.lattice.n_labels))
    targets = chain.lattice.target[paths.edges]
    has = targets[:, position] == label
    if position:
        has &= ~chain.lattice.continues[paths.edges[:, position]]
    if position + 1 < len(chain):
        has &= ~chain.lattice.continues[paths.edges[:, position + 1]]
    found = contrast(
        chain.lattice, chain.scores, chain.transitions, np.array([label], dtype=np.int32), position
    )
    possible = np.isfinite(paths.plain)
    if not (has & possible).any() or not (~has & possible).any():
        assert found is None
        return
    assert found is not None
    for path, those in zip(found, (has, ~has), strict=True):
        (same,) = np.flatnonzero((targets == path).all(axis=1))
        assert those[same]
        np.testing.assert_allclose(paths.plain[same], paths.plain[those].max(), **CLOSE)


def test_random_lattices(cases, figure, generator):
    n, n_sequences, n_paths = cases(10_000), 0, 0
    for _ in range(n):
        chains, tag_set = random_chains(generator)
        plain = Batch(chains)
        paths = [all_paths(chain) for chain in chains]
        check_sums(plain, paths)
        legal = [random_path(generator, chain.lattice, len(chain)) for chain in chains]
        clamped = [constrained(generator, *pair) for pair in zip(chains, legal, strict=True)]
        for batch in (plain, Batch(clamped)):
            paths = paths if batch is plain else [all_paths(chain) for chain in batch.chains]
            check_best(batch, paths)
            check_best_n(batch, paths, int(generator.integers(1, 9)))
            if tag_set is not None and batch.starts[-1]:
                check_spans(batch, tag_set)
                for chain, p in zip(batch.chains, paths, strict=True):
                    if len(chain):
                        check_contrast(generator, chain, p)
            if batch is not plain:
                sums = log_sums(batch, paths)
                np.testing.assert_allclose(batch.partitions(log_partitions), sums, **CLOSE)
                if batch.has_columns_of_labels:
                    found = batch.partitions(dense_log_partitions)
                    np.testing.assert_allclose(found, sums, **CLOSE)
        n_sequences += len(chains)
        n_paths += sum(len(p.plain) for p in paths)
    figure(
        f"{n:,} random lattices, {n_sequences:,} sequences with {n_paths:,} paths, by enumeration",
        "partition, marginals, losses, Viterbi, N best, span posteriors, likely spans, contrasts "
        "within 1e-9",
    )


# Long chains


Reduce = Callable[[np.ndarray, int], np.ndarray]
"""Joins what ways over the labels in between weigh, along an axis: all of them, or the best."""


def by_products(lattice: Lattice, potentials: np.ndarray, reduce: Reduce) -> float:
    """What all paths weigh, potentials `[T, E]`, by products of matrices that halve their number.

    No position is computed from the one before it, so nothing is shared with the kernels.
    """
    n_labels = lattice.n_labels
    matrices = np.full((1, n_labels, n_labels), -np.inf)
    matrices[0][np.diag_indices(n_labels)] = 0.0
    for part in np.array_split(potentials, max(1, len(potentials) // 4096)):
        rows = np.full((len(part), n_labels, n_labels), -np.inf)
        rows[:, lattice.source, lattice.target] = part
        while len(rows) > 1:
            pairs = rows[: len(rows) // 2 * 2]
            products = reduce(pairs[::2, :, :, None] + pairs[1::2, None, :, :], 2)
            rows = np.concatenate([products, rows[len(pairs) :]])
        matrices = reduce(matrices[:, :, :, None] + rows[:, None, :, :], 2)
    return float(reduce(matrices[0, lattice.start][lattice.final], 0))


def every_way(values: np.ndarray, axis: int) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.asarray(log_sum(values, axis))


def best_way(values: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(values.max(axis=axis))


LONG = [
    (TagSet("IOB2", LABELS[:1]), True),
    (TagSet("BILOU", LABELS[:1]), False),
]


@pytest.mark.parametrize("size", ["large", "extreme", "equal", "constrained"])
@pytest.mark.parametrize(("tag_set", "label_pairs"), LONG)
def test_long_chains(tag_set, label_pairs, size, cases, figure, generator):
    length = cases(1_000_000)
    lattice = tag_set.lattice(label_pairs)
    weights = "large" if size == "constrained" else size
    path_of_part = random_path(generator, lattice, 1000)
    labels = np.resize(path_of_part, length).tolist()
    chain = Chain(
        lattice,
        random_weights(generator, weights, (length, lattice.n_columns)),
        random_weights(generator, weights, (lattice.n_edges,)),
        np.zeros((lattice.n_labels, lattice.n_labels)),
        labels,
    )
    if size == "constrained":
        chain = constrained(generator, chain, labels)
    batch = Batch([chain])
    potentials = edge_potentials(chain, np.zeros((length, lattice.n_labels)))
    partition = by_products(lattice, potentials, every_way)
    best = by_products(lattice, potentials, best_way)
    kernels: list[tuple[Any, Any]] = [(log_partitions, chain_losses)]
    if batch.has_columns_of_labels:
        kernels.append((dense_log_partitions, dense_losses))
    begin = time.perf_counter()
    for partitions, losses in kernels:
        np.testing.assert_allclose(batch.partitions(partitions), partition, rtol=1e-9)
        if size != "constrained":
            _, marginals, moves = batch.losses(losses, observed=0.0)
            assert marginals.min() >= 0.0
            np.testing.assert_allclose(marginals.sum(axis=1), 1.0, atol=1e-9)
            np.testing.assert_allclose(moves.sum(), length, rtol=1e-9)
    open_batch = Batch([replace(chain, tags=[UNOBSERVED] * length)])
    paths, values, _ = open_batch.best_n(3)
    path, value = open_batch.best(best_paths)
    np.testing.assert_array_equal(paths[0], path)
    np.testing.assert_allclose([value[0], values[0, 0]], best, rtol=1e-9)
    assert (np.diff(values[0]) <= 0.0).all()
    spans = tag_set.spans(path, open_batch.starts)
    posteriors = open_batch.posteriors(path, spans)
    assert ((posteriors >= 0.0) & (posteriors <= 1.0)).all()
    figure(
        f"chains of {length:,} tokens: no overflow, log-partition and best path within 1e-9",
        f"{tag_set.scheme} {'with' if label_pairs else 'without'} label pairs, {size} weights: "
        f"{time.perf_counter() - begin:.1f} s",
    )
