"""The linear chain of a higher order: a tag depends on the `L` tags before it.

It is the linear chain over *histories*, the last `L` tags at each token. A history is followed by
those that drop its first tag and add a tag at the end, so a tag sequence is one sequence of
histories, and an edge is a run of `L + 1` tags, with a weight of its own.

Features see runs of `M` tags: the last ones of a history, or all of an edge where `M = L + 1`. So
the score columns are these runs `[S]`, and histories that end alike share one. With `L = 1` this
*is* the linear chain, with label pairs where `M = 2`. (docs/method.md, section 2.12)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import Any, ClassVar, TypeAlias

import numpy as np
from thinc.api import Model

from ...checks import configured
from ...errors import ConfigError
from ...features.templates import Templates
from ...features.units import Units
from ...inference.chain_kernels import ChainKernels
from ...inference.contrast import contrast, having_span
from ...inference.lattice import Chains, Lattice, free_lattice
from ...inference.linear_chain import ChainFamily, LinearChain
from ...inference.schemes import UNOBSERVED, Spans, TagSet
from ...inference.spans import gather_posteriors
from ...inference.structure import Contrast, Costs, Online, Part, Potentials, Shares
from ...scorers.linear import make_linear_model
from ...types import Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d

Run: TypeAlias = tuple[int, ...]
"""Tags one after the other."""


def histories(tags: Lattice, order: int) -> list[Run]:
    """The runs of `order` tags that sequences can have, in the order of their last tags.

    The first one has the label that stands before a sequence, as often as needed.
    """
    found = {(tags.start,) * order}
    waiting = list(found)
    followers = _followers(tags)
    while waiting:
        history = waiting.pop()
        after = {_next(history, tag) for tag in followers[history[-1]]}
        waiting += after - found
        found |= after
    return sorted(found, key=lambda history: history[::-1])


def _next(history: Run, tag: int) -> Run:
    """The history after one more tag."""
    return *history[1:], tag


def _followers(tags: Lattice) -> dict[int, dict[int, bool]]:
    """For each tag those that may follow it, and whether they stay inside its span."""
    found: dict[int, dict[int, bool]] = {tag: {} for tag in range(tags.n_labels)}
    edges = zip(tags.source.tolist(), tags.target.tolist(), tags.continues.tolist(), strict=True)
    for source, target, continues in edges:
        found[source][target] = continues
    return found


def history_lattice(tags: Lattice, known: Sequence[Run], sees_edges: bool) -> Lattice:
    """The lattice whose labels are histories; sees_edges: whether every edge has its column."""
    number = {history: h for h, history in enumerate(known)}
    followers = _followers(tags)
    edges = sorted(
        (number[_next(history, tag)], h, continues)
        for h, history in enumerate(known)
        for tag, continues in followers[history[-1]].items()
    )
    target, source, continues = (np.array(each) for each in zip(*edges, strict=True))
    column = np.arange(len(edges)) if sees_edges else target - target.min()
    return Lattice(
        source=source.astype(np.int32),
        target=target.astype(np.int32),
        column=column.astype(np.int32),
        first_edge=np.searchsorted(target, np.arange(len(known) + 1)).astype(np.int32),
        continues=continues,
        final=tags.final[[history[-1] for history in known]],
        start=0,
    )


def n_runs(scheme: str, n_labels: int, size: int) -> int:
    """How many runs of `size` tags are legal, without making them.

    Which ones are depends on prefixes and on which labels are the same, so their number is a
    polynomial of degree `size` in the number of labels, and differences at 0 tell it.
    """
    differences = [
        _count_runs(TagSet(scheme, tuple(map(str, range(n)))).lattice(False), size)
        for n in range(size + 1)
    ]
    total = 0
    for degree in range(size + 1):
        total += comb(n_labels, degree) * differences[0]
        differences = [after - before for before, after in pairwise(differences)]
    return total


def _count_runs(tags: Lattice, size: int) -> int:
    """Legal runs of tags, counted by their last tags."""
    by_last = np.ones(tags.n_labels, dtype=np.int64)
    for _ in range(size - 1):
        longer = np.zeros_like(by_last)
        np.add.at(longer, tags.target, by_last[tags.source])
        by_last = longer
    return int(by_last.sum())


class HigherOrderChain(LinearChain):
    """Tags that depend on several tags before; all sums and searches are exact.

    tags: which tag may follow which; tag 0 stands before every sequence. order: `L`. tags_seen:
    `M`, from 1 to `L + 1`.
    """

    learn_online = Online.learn_online

    def __init__(
        self, tags: Lattice, order: int, tags_seen: int, tag_set: TagSet | None = None
    ) -> None:
        known = histories(tags, order)
        super().__init__(history_lattice(tags, known, tags_seen > order), tag_set)
        self._of_tags, self._order, self._histories = LinearChain(tags), order, known
        self._tags = np.array([history[-1] for history in known], dtype=np.int32)
        self._codes = np.array(known, dtype=np.int64) @ tags.n_labels ** np.arange(order)
        seen = [run[-tags_seen:] for run in self._runs_of_columns()]
        distinct = list(dict.fromkeys(seen))
        number = {run: column for column, run in enumerate(distinct)}
        self._column = np.array([number[run] for run in seen])
        self._first = np.searchsorted(self._column, np.arange(len(number)))
        self.n_labels = tags.n_labels
        before, last = np.array(known)[self.lattice.source], self._tags[self.lattice.target]
        # Runs of tags share nothing, unless they are edges.
        self.columns = replace(
            self.columns,
            seen=np.array(distinct, dtype=np.int32),
            runs=np.column_stack([before, last]).astype(np.int32),
            of_transition=self._column[self.lattice.column].astype(np.int32),
        )

    def _choose_kernels(self) -> ChainKernels:
        """Few histories follow one, so these transitions are far from a matrix."""
        return ChainKernels(self.lattice)

    def _runs_of_columns(self) -> list[Run]:
        """The tags of each column of the lattice; columns that end alike stand together."""
        lattice = self.lattice
        if not lattice.label_pairs:
            return self._histories[lattice.target.min() :]
        edges = zip(lattice.source.tolist(), self._tags[lattice.target].tolist(), strict=True)
        return [(*self._histories[source], tag) for source, tag in edges]

    # What trained models are asked

    def k_best(self, potentials: Potentials, k: int) -> tuple[Ints2d, Floats2d]:
        paths, scores = super().k_best(potentials, k)
        return self._tags[paths], scores

    def span_posteriors(self, potentials: Potentials, labels: Ints1d, spans: Spans) -> Floats1d:
        """Each is a sum over all sequences that have the span, divided by that over all."""
        everything = self.log_partitions(potentials)

        def write(sequences: Ints1d, found: Floats1d) -> None:
            for p, i in enumerate(sequences.tolist()):
                begin, end = potentials.starts[i : i + 2].tolist()
                of_span = labels[spans.start[p] : spans.end[p]]
                start = int(spans.start[p]) - begin
                tags, cost = having_span(self._of_tags.lattice, of_span, start, end - begin)
                chains = self._of_histories(potentials.of_sequence(begin, end), cost, tags)
                having = self._kernels.margin_partitions(chains)[0]
                found[p] = np.exp(min(0.0, having - everything[i]))

        return gather_posteriors(potentials.starts, spans, write)

    def contrast(self, potentials: Potentials, labels: Ints1d, start: int) -> Contrast | None:
        def best_of(chains: Chains) -> tuple[Ints1d, Floats1d]:
            own = potentials.replace(scores=chains.scores, starts=chains.starts)
            return self._best_labels(self._of_histories(own, chains.cost, chains.tags))

        tags = self._of_tags.lattice
        paths = contrast(tags, potentials.scores, potentials.transitions, labels, start, best_of)
        return self._contrast(paths)

    def clamp(self, potentials: Potentials, observed: Ints1d) -> None:
        """Each sequence has to have a legal labelling that agrees."""
        no_costs = np.zeros((self.n_labels, self.n_labels))
        clamp = self._of_tags.costs(no_costs).clamp[:, self.columns.seen[:, -1]]
        known = np.flatnonzero(observed != UNOBSERVED)
        potentials.scores[known] += clamp[observed[known] + 1]

    def _uses(self, labels: Ints1d) -> tuple[Ints1d, Ints1d]:
        starts = np.array([0, len(labels)])
        columns, edges = super()._uses(self._as_histories(labels, starts))
        return self._column[columns].astype(np.int32), edges

    # What losses and trainers ask

    def costs(self, of_labels: Floats2d) -> Costs:
        """Rows are those of `inference.chain` for histories, with one for each tag before the last.

        They stand for tags before which something is not known (`_as_histories`).
        """
        n = self.n_labels
        rows = np.concatenate([[0], 1 + self._tags, 1 + np.arange(n), [n + 1]])
        of_tags = self._of_tags.costs(of_labels)
        margin, clamp = (each[np.ix_(rows, self._tags)] for each in of_tags)
        return Costs(margin, clamp)

    def losses(self, part: Part, costs: Costs, shares: Shares | None = None) -> Floats1d:
        potentials, observed, first, last, losses = part
        starts = potentials.starts[first : last + 1]
        these = slice(starts[0], starts[-1])
        own = potentials.replace(scores=potentials.scores[these], starts=starts - starts[0])
        chains = self._chains(own, costs.margin, observed[these])
        if shares is not None:
            shares = shares[0][first:last], shares[1][first:last]
        alone = Part(own, observed[these], 0, last - first, losses[first:last])
        counts = self._kernels.losses(chains, alone.terms(costs, shares))
        own.scores[:] = self._summed(chains.scores)
        return counts

    def cut(self, observed: Ints1d, starts: Pointers1d, least: int) -> Pointers1d:
        """A piece starts after the history that stands before every sequence."""
        return super().cut(self._as_histories(observed, starts), starts, least)

    # For kernels

    def _spread(self, scores: Floats2d) -> Floats2d:
        """Scores of the lattice's columns, of those of runs that are seen."""
        return np.take(scores, self._column, axis=1)

    def _summed(self, of_columns: Floats2d) -> Floats2d:
        """The way back: sums over the lattice's columns of each run that is seen."""
        sums: Floats2d = np.add.reduceat(of_columns, self._first, axis=1)
        return sums

    def _as_histories(self, observed: Ints1d, starts: Pointers1d) -> Ints1d:
        """Numbers of the histories that tags are the ends of.

        Where a tag of the history is not known, the last one alone is told, by its number after
        those of all histories; where that is not known, what is observed stays as it is.
        """
        place = np.arange(len(observed)) - np.repeat(starts[:-1], np.diff(starts))
        codes, is_known = np.zeros(len(observed), dtype=np.int64), np.ones(len(observed), np.bool_)
        for back in range(self._order):
            before = np.roll(observed, back)
            before[place < back] = self._of_tags.lattice.start
            is_known &= before >= 0
            codes += before.astype(np.int64) * self.n_labels ** (self._order - 1 - back)
        numbers = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        alone = np.where(observed >= 0, len(self._codes) + observed, observed)
        return np.where(is_known, numbers, alone).astype(np.int32)

    def _best_labels(self, chains: Chains) -> tuple[Ints1d, Floats1d]:
        path, scores = super()._best_labels(chains)
        return self._tags[path], scores

    def _chains(
        self, potentials: Potentials, costs: Floats2d | None = None, observed: Ints1d | None = None
    ) -> Chains:
        """Sequences of histories; observed: tags."""
        if observed is not None:
            observed = self._as_histories(observed, potentials.starts)
        spread = potentials.replace(scores=self._spread(potentials.scores))
        return super()._chains(spread, costs, observed)

    def _of_histories(self, potentials: Potentials, cost: Floats2d, tags: Ints1d) -> Chains:
        """Sequences under costs of tags, `[n, Y]`; tags: numbers of what is observed."""
        spread = potentials.replace(scores=self._spread(potentials.scores))
        return super()._chains(spread, np.take(cost, self._tags, axis=1), tags)


@dataclass(frozen=True)
class HigherOrderFamily(ChainFamily):
    """The chains of a higher order that a model can be, whatever its labels.

    order: `L`. tags_seen: `M`. Raises `ConfigError` where a run of tags has no tag, or where
    features see more of them than a transition has.
    """

    label_pairs: bool = False
    order: int = 2
    tags_seen: int = 1

    structure: ClassVar[type[LinearChain]] = HigherOrderChain

    def __post_init__(self) -> None:
        if self.order < 1:
            raise ConfigError(f"The order of a chain is 1 or more, not {self.order}. Mend [model].")
        if not 1 <= self.tags_seen <= self.order + 1:
            raise ConfigError(
                f"Features of a chain of order {self.order} see 1 to {self.order + 1} tags, not "
                f"{self.tags_seen}. Mend 'tags_seen' in the [model] block."
            )

    def of_spans(self, tag_set: TagSet) -> HigherOrderChain:
        return HigherOrderChain(tag_set.lattice(False), self.order, self.tags_seen, tag_set)

    def of_labels(self, n_labels: int) -> HigherOrderChain:
        return HigherOrderChain(free_lattice(n_labels, False), self.order, self.tags_seen)

    def size_of_spans(self, scheme: str, n_labels: int) -> tuple[int, int]:
        n_edges, n_columns = (
            n_runs(scheme, n_labels, size) for size in (self.order + 1, self.tags_seen)
        )
        return n_edges, n_columns

    def size_of_labels(self, n_labels: int) -> tuple[int, int]:
        """Runs can begin with the label before the sequence, but features see no such run alone."""
        n_edges = sum(n_labels**size for size in range(1, self.order + 2))
        return n_edges, sum(n_labels**size for size in range(1, self.tags_seen + 1))

    def identity(self) -> dict[str, Any]:
        return {"order": self.order, "tags_seen": self.tags_seen}


@configured
def make_higher_order_chain(
    templates: Templates, min_count: int = 5, order: int = 2, tags_seen: int = 1
) -> Model[Units, Floats2d]:
    """A linear chain in which a tag depends on several tags before it.

    templates: what features look at. min_count: features in fewer tokens are dropped. order: how
    many tags before. tags_seen: features are combined with runs of so many tags, the last one being
    that of the token; up to `order + 1`.
    """
    family = HigherOrderFamily(order=order, tags_seen=tags_seen)
    return make_linear_model("cascade_higher_order_chain", templates, min_count, family)
