"""What can be asked of a family of labellings, whichever kernels answer.

A structure says which labellings a sequence can have, and how their scores are made of potentials:
scores of units `[T, S]` and of transitions `[E]`, both linear in the weights. Only a structure
chooses a kernel. A labelling is the number of one label a unit, int32 `[T]`; numbers below zero
stand for what is not known (`inference.schemes`). Only the structure reads labels as spans.

A structure offers as many of the operations below as it can. Who needs one that a structure does
not offer is refused early (`require`). All of them have `compose` and `normalised`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..caching import cached_property
from ..errors import ConfigError
from ..numeric.encoded import Encoded
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d, RealsXd
from .lattice import LossTerms
from .online_prior import OnlinePrior
from .schemes import Spans


@dataclass(frozen=True)
class Potentials:
    """What the labellings of a batch are scored with.

    scores: float64 `[T, S]`, of units. transitions: float64 `[E]`. starts: `[N + 1]`; sequence `i`
    is the units from `starts[i]` to before `starts[i + 1]`. A structure that scores more than units
    has potentials of its own.
    """

    scores: Floats2d
    transitions: Floats1d
    starts: Pointers1d

    @property
    def scored(self) -> tuple[Floats2d, ...]:
        """The arrays that scorers fill, in the order of `Columns.blocks`."""
        return (self.scores,)

    def with_scored(self, scored: Sequence[Floats2d], transitions: Floats1d) -> Potentials:
        """The same sequences with other scores."""
        (scores,) = scored
        return self.replace(scores=scores, transitions=transitions)

    def replace(self, **fields: Any) -> Potentials:
        """With some other fields."""
        return replace(self, **fields)

    def at_temperature(self, temperature: float) -> Potentials:
        """Potentials of flatter probabilities where the temperature is above 1."""
        if temperature == 1.0:
            return self
        scored = [scores / temperature for scores in self.scored]
        return self.with_scored(scored, self.transitions / temperature)

    def of_sequence(self, begin: int, end: int) -> Potentials:
        """Those of the sequence from unit `begin` to before `end`."""
        return self.replace(scores=self.scores[begin:end], starts=np.array([0, end - begin]))


class Weights(NamedTuple):
    """Weights of features, `[K, S]`, and of transitions, float64 `[E]`."""

    features: RealsXd
    transitions: Floats1d


class Whole(NamedTuple):
    """A span whose score is not only that of its units.

    start, end: units of its sequence. column: of the weights of its features. of_length: what its
    length adds to the score.
    """

    start: int
    end: int
    column: int
    of_length: float


class Labelling(NamedTuple):
    """Labels of one sequence, and what adds up to their score.

    labels, columns, transitions: int32 `[T]`. wholes: spans that are scored as such.
    """

    labels: Ints1d
    columns: Ints1d
    transitions: Ints1d
    wholes: Sequence[Whole] = ()


class Contrast(NamedTuple):
    """The best labelling of a sequence with something, and the best without it."""

    having: Labelling
    lacking: Labelling


class Part(NamedTuple):
    """The sequences from `first` to before `last`, whose losses are asked for.

    observed: int32 `[T]`, labels, or numbers below zero (`inference.schemes`). losses: float64
    `[N]`, written for these sequences.
    """

    potentials: Potentials
    observed: Ints1d
    first: int
    last: int
    losses: Floats1d

    def terms(self, costs: Costs, shares: Shares | None) -> LossTerms:
        """As kernels take it."""
        ones = np.ones(len(self.losses))
        return LossTerms(costs.clamp, shares or (ones, ones), self.first, self.last, self.losses)


class Averaged(NamedTuple):
    """Weights under online training, `w` and `v` of `inference.passive_aggressive`, in place."""

    weights: Floats2d
    weights_drift: Floats2d
    transitions: Floats1d
    transitions_drift: Floats1d


Shares: TypeAlias = tuple[Floats1d, Floats1d]
"""Factors `[N]` of the gradients of both terms of a loss."""


class Costs(NamedTuple):
    """What an observation adds to the score of each label, `[Y + 2, Y]` (`inference.chain`).

    margin: costs of wrong labels. clamp: 0 for labels that agree with it, else `-inf`.
    """

    margin: Floats2d
    clamp: Floats2d


class OnlineStep(NamedTuple):
    """A pass of passive-aggressive updates (`inference.passive_aggressive`).

    is_cost_augmented: whether the costs count in the search for `ŷ`. largest_step: `C`. order: of
    sequences `[n]`. before: `A_{i-1}` of each `[n]`. averaged: what changes. prior: holds it back.
    """

    costs: Costs
    is_cost_augmented: bool
    largest_step: float
    order: Pointers1d
    before: Floats1d
    averaged: Averaged
    prior: OnlinePrior


Names: TypeAlias = tuple[list[tuple[str, ...]], list[tuple[str, str]]]
"""What score columns and transitions are known by: labels, the one of the unit last."""


@dataclass(frozen=True)
class Columns:
    """What the weights of a structure stand for.

    seen: int32 `[S', m]`, the labels that features of each score column see, that of the unit last.
    runs: int32 `[E', m]`, the same of transitions. of_transition: int32 `[E]`, the column that goes
    with each. n_bound: how many transitions, the first ones, have no weights besides those in the
    columns. shared: int `[G + 1]`, columns `shared[g]:shared[g + 1]` share weight; None where none
    do. more_columns, more_transitions: names of those after the first `S'` and `E'`. blocks: the
    columns of the weights that belong to each array of scores (`Potentials.scored`).
    """

    seen: Ints2d
    runs: Ints2d
    of_transition: Ints1d
    n_bound: int = 0
    shared: Ints1d | None = None
    more_columns: Sequence[tuple[str, ...]] = ()
    more_transitions: Sequence[tuple[str, str]] = ()
    blocks: Sequence[slice] = field(default_factory=lambda: [slice(None)])

    @property
    def n_columns(self) -> int:
        """`S`."""
        return len(self.seen) + len(self.more_columns)

    @property
    def n_transitions(self) -> int:
        """`E`."""
        return len(self.runs) + len(self.more_transitions)

    @property
    def free(self) -> slice:
        """Transitions that have weights of their own."""
        return slice(self.n_bound, self.n_transitions)

    @cached_property
    def mixing(self) -> Floats2d:
        """Symmetric `M` `[S, S]` that turns free parameters into score columns, `v = z M`.

        The penalty is on the parameters. `M² = I + 1·1ᵀ` within each group of columns that share
        weight, so that `E` parameters do the work of `Y + E` (docs/method.md, section 4.2).
        """
        mixing = np.eye(self.n_columns)
        groups = () if self.shared is None else pairwise(self.shared.tolist())
        for first, last in groups:
            if n := last - first:
                mixing[first:last, first:last] += (np.sqrt(1.0 + n) - 1.0) / n
        return mixing

    def of_label(self, label: int) -> tuple[Ints1d, Ints1d | None]:
        """Columns that add to the score of a label, and the label before each of them.

        None where features do not see the label before, and where they see others besides.
        """
        own = np.flatnonzero(self.seen[:, -1] == label).astype(np.int32)
        return own, self.seen[own, 0] if self.seen.shape[1] == 2 else None

    def names(self, labels: Sequence[str]) -> Names:
        """What columns and transitions are known by when labels change; labels: of all `Y`."""
        seen = [tuple(labels[label] for label in run) for run in self.seen.tolist()]
        runs = [[labels[label] for label in run] for run in self.runs.tolist()]
        transitions = [(" ".join(before), label) for *before, label in runs]
        return [*seen, *self.more_columns], [*transitions, *self.more_transitions]


class Structure:
    """Base of all structures: each operation that one does not define is not offered.

    n_labels: `Y`. columns: what weights stand for. is_local: whether `normalised` changes
    potentials. transitions_at_once: how many take a loss as long as one does elsewhere, about.
    """

    n_labels: int
    columns: Columns
    is_local: bool = False
    transitions_at_once: int = 1

    @property
    def n_columns(self) -> int:
        """`S`, scores of a unit."""
        return self.columns.n_columns

    @property
    def n_transitions(self) -> int:
        """`E`."""
        return self.columns.n_transitions

    def compose(
        self,
        scored: Sequence[Floats2d],
        encoded: Sequence[Encoded],
        transitions: Floats1d,
        starts: Pointers1d,
    ) -> Potentials:
        """Potentials of what scorers give.

        scored: an array for each block of columns. encoded: what scorers keep, those of the
        features of units may be missing.
        """
        (scores,) = scored
        return Potentials(scores, transitions, starts)

    # What labels mean, for structures of spans

    def observed(self, spans: Spans, known: Bools1d) -> Ints1d:
        """What is known of labels, int32 `[T]`, below zero where that is not one label.

        spans: those of a batch, without overlap. known: bool `[T]`, units that are in these spans,
        or in none.
        """
        raise self._not_offered("observed")

    def spans(self, labels: Ints1d, starts: Pointers1d) -> Spans:
        """The spans that labels of a batch stand for."""
        raise self._not_offered("spans")

    # What trained models are asked

    def normalised(self, potentials: Potentials) -> Potentials:
        """Potentials as the operations on trained models take them, of those that weights give."""
        return potentials

    def best(self, potentials: Potentials) -> tuple[Ints1d, Floats1d]:
        """The best labelling, int32 `[T]`, and its score for each sequence, float64 `[N]`."""
        raise self._not_offered("best")

    def k_best(self, potentials: Potentials, k: int) -> tuple[Ints2d, Floats2d]:
        """The `k` best labellings `[k, T]` and their scores `[k, N]`, best first.

        Label 0 and `-inf` stand where a sequence has fewer.
        """
        raise self._not_offered("k_best")

    def log_partitions(
        self, potentials: Potentials, costs: Costs | None = None, observed: Ints1d | None = None
    ) -> Floats1d:
        """Logarithm of the sum over all labellings of `exp(score + cost)`, float64 `[N]`.

        costs: of labels other than those observed, int32 `[T]`; none for plain scores.
        """
        raise self._not_offered("log_partitions")

    def span_posteriors(self, potentials: Potentials, labels: Ints1d, spans: Spans) -> Floats1d:
        """Probability of each span, float64 `[P]`; labels: a labelling that has them all."""
        raise self._not_offered("span_posteriors")

    def likely_spans(self, potentials: Potentials, least: float) -> tuple[Spans, Floats1d]:
        """All spans of a probability of at least `least`, overlapping or not, in no order."""
        raise self._not_offered("likely_spans")

    def contrast(self, potentials: Potentials, labels: Ints1d, start: int) -> Contrast | None:
        """The best labellings of one sequence with and without a span.

        labels: int32 `[P]`, those of the span, which begins at unit `start`. None where every
        labelling has the span, or none has.
        """
        raise self._not_offered("contrast")

    def clamp(self, potentials: Potentials, observed: Ints1d) -> None:
        """Give all labellings that disagree with what is observed `[T]` `-inf`, in place."""
        raise self._not_offered("clamp")

    # What losses and trainers ask

    def costs(self, of_labels: Floats2d) -> Costs:
        """The costs `[Y, Y]` of wrong labels, as the operations here take them."""
        raise self._not_offered("costs")

    def losses(self, part: Part, costs: Costs, shares: Shares | None = None) -> Floats1d:
        """Write the losses of some sequences; the gradient of the transitions, float64 `[E]`.

            log Σ_y exp(score(y) + cost(y)) - log Σ_{y agrees with observed} exp(score(y))

        The scores of these sequences are OVERWRITTEN by the gradient with respect to them. shares:
        of both terms in the gradients; None for all of it.
        """
        raise self._not_offered("losses")

    def _not_offered(self, operation: str) -> ConfigError:
        return ConfigError(f"{type(self).__name__} does not offer '{operation}'.")


class Paths(Structure):
    """A structure in which the second term of a loss is the score of what is observed."""

    def path_scores(self, potentials: Potentials, labels: Ints1d) -> Floats1d:
        """Score of a labelling of every sequence, float64 `[N]`."""
        raise self._not_offered("path_scores")


class Online(Structure):
    """A structure whose weights can be learnt sequence by sequence."""

    def cut(self, observed: Ints1d, starts: Pointers1d, least: int) -> Pointers1d:
        """Starts of pieces of at least so many units, cut where that changes no score."""
        raise self._not_offered("cut")

    def learn_online(
        self, encoded: Sequence[Encoded], observed: Ints1d, starts: Pointers1d
    ) -> Callable[[OnlineStep], float]:
        """What makes passive-aggressive updates, sequence by sequence; the sum of their losses."""
        raise self._not_offered("learn_online")


OPERATIONS = {
    name: kind
    for kind in (Structure, Paths, Online)
    for name, member in vars(kind).items()
    if callable(member) and not name.startswith(("_", "normalised", "compose"))
}
"""Where each operation is stated."""


def offered(structure: type[Structure]) -> frozenset[str]:
    """The operations that a structure offers."""
    return frozenset(
        name
        for name, kind in OPERATIONS.items()
        if getattr(structure, name, None) not in (None, getattr(kind, name))
    )


def require(structure: type[Structure], operations: Iterable[str], who: str) -> None:
    """Raise `ConfigError` where a structure does not offer all operations that `who` needs."""
    missing = sorted(set(operations) - offered(structure))
    if missing:
        raise ConfigError(
            f"{who} needs {', '.join(missing)}, which {structure.__name__} does not offer. "
            "Choose another model under @architectures, or another loss, trainer or option."
        )
