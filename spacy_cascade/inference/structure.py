"""What can be asked of a family of labellings, whichever kernels answer.

A structure says which labellings a sequence can have, and how their scores are made of potentials:
scores of units `[T, S]` and of transitions `[E]`, both linear in the weights. Only a structure
chooses a kernel. A labelling is the number of one label a unit, int32 `[T]`; numbers below zero
stand for what is not known (`inference.schemes`).

A structure offers as many of the operations below as it can. Who needs one that a structure does
not offer is refused early (`require`). All of them have `normalised`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..errors import ConfigError
from ..numeric.design import BinaryCSR, SegmentRows
from ..types import Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d, RealsXd
from .online_prior import OnlinePrior
from .schemes import Spans, TagSet


class SegmentScores(NamedTuple):
    """Scores of segments as wholes, beside those of their units.

    ends: int64 `[T + 1]`; rows `ends[t]:ends[t + 1]` are segments whose last unit is `t`, the
    shortest first. length: int32 `[M]`, their units. scores: float64 `[M, n]`, for each label of a
    segment; those without a row have 0. longest: `L`; there are no longer ones.
    """

    ends: Pointers1d
    length: Ints1d
    scores: Floats2d
    longest: int

    def of_units(self, begin: int, end: int) -> SegmentScores:
        """Those of the sequence from unit `begin` to before `end`."""
        first, last = self.ends[begin], self.ends[end]
        ends = self.ends[begin : end + 1] - first
        return SegmentScores(ends, self.length[first:last], self.scores[first:last], self.longest)


class Potentials(NamedTuple):
    """What the labellings of a batch are scored with, `[T, S]` and `[E]`.

    starts: `[N + 1]`; sequence `i` is the units from `starts[i]` to before `starts[i + 1]`.
    segments: scores of segments, for structures that have them.
    """

    scores: Floats2d
    transitions: Floats1d
    starts: Pointers1d
    segments: SegmentScores | None = None

    def at_temperature(self, temperature: float) -> Potentials:
        """Potentials of flatter probabilities where the temperature is above 1."""
        if temperature == 1.0:
            return self
        if (segments := self.segments) is not None:
            segments = segments._replace(scores=segments.scores / temperature)
        return Potentials(
            self.scores / temperature, self.transitions / temperature, self.starts, segments
        )

    def of_sequence(self, begin: int, end: int) -> Potentials:
        """Those of the sequence from unit `begin` to before `end`."""
        segments = self.segments and self.segments.of_units(begin, end)
        starts = np.array([0, end - begin])
        return Potentials(self.scores[begin:end], self.transitions, starts, segments)


class Weights(NamedTuple):
    """Weights of features, `[K, S]`, and of transitions, float64 `[E]`."""

    features: RealsXd
    transitions: Floats1d


class Contrast(NamedTuple):
    """The best labels of a sequence with something, and the best without it, int32 `[T]`."""

    having: Ints1d
    lacking: Ints1d


class Averaged(NamedTuple):
    """Weights under online training, `w` and `v` of `inference.passive_aggressive`, in place."""

    weights: Floats2d
    weights_drift: Floats2d
    transitions: Floats1d
    transitions_drift: Floats1d


class LabelCosts(NamedTuple):
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

    costs: LabelCosts
    is_cost_augmented: bool
    largest_step: float
    order: Pointers1d
    before: Floats1d
    averaged: Averaged
    prior: OnlinePrior


class Structure:
    """Base of all structures: each operation that one does not define is not offered.

    n_labels: `Y`. n_columns: `S`, scores of a unit. n_transitions: `E`. free_transitions: those
    that have weights besides those in the score columns. segment_columns: columns of the weights of
    features of segments, if there are any. is_local: whether `normalised` changes potentials.
    transitions_at_once: how many take a loss as long as one does elsewhere, about.
    """

    n_labels: int
    n_columns: int
    n_transitions: int
    free_transitions: slice = slice(None)
    segment_columns: slice = slice(0)
    is_local: bool = False
    transitions_at_once: int = 1

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

    def log_partitions(self, potentials: Potentials) -> Floats1d:
        """Logarithm of the sum over all labellings of `exp(score)`, float64 `[N]`."""
        raise self._not_offered("log_partitions")

    def marginals(self, potentials: Potentials) -> Floats2d:
        """Probability that a labelling uses each score, float64 `[T, S]`."""
        raise self._not_offered("marginals")

    def span_posteriors(self, potentials: Potentials, labels: Ints1d, spans: Spans) -> Floats1d:
        """Probability of each span, float64 `[P]`; labels: a labelling that has them all."""
        raise self._not_offered("span_posteriors")

    def likely_spans(
        self, potentials: Potentials, tag_set: TagSet, least: float
    ) -> tuple[Spans, Floats1d]:
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

    def parts(self, labels: Ints1d) -> tuple[Ints1d, Ints1d]:
        """Columns and transitions, int32 `[T]`, in the score of a legal labelling of a sequence."""
        raise self._not_offered("parts")

    def length_scores(self, transitions: Floats1d, longest: int) -> Floats2d:
        """What a segment's length adds to its score, float64 `[L, n]`; transitions `[E]`."""
        raise self._not_offered("length_scores")

    # What losses and trainers ask

    def label_costs(self, costs: Floats2d) -> LabelCosts:
        """The costs `[Y, Y]` of wrong labels, as the operations below take them."""
        raise self._not_offered("label_costs")

    def margin_losses(
        self,
        potentials: Potentials,
        costs: LabelCosts,
        observed: Ints1d,
        first: int,
        last: int,
        losses: Floats1d,
        gradient_weights: tuple[Floats1d, Floats1d],
    ) -> Floats1d:
        """Losses of the sequences from `first` to before `last`, and their gradient.

            log Σ_y exp(score(y) + cost(y)) - log Σ_{y agrees with observed} exp(score(y))

        observed: int32 `[T]`. losses `[N]`: written. The scores are OVERWRITTEN by the gradient
        with respect to them; the gradient with respect to the transitions `[E]` is returned.
        gradient_weights: factors `[N]` of the gradients of the first and the second term.
        """
        raise self._not_offered("margin_losses")

    def margin_partitions(
        self, potentials: Potentials, costs: LabelCosts, observed: Ints1d
    ) -> Floats1d:
        """The first term of `margin_losses` alone, float64 `[N]`; the scores stay as they are."""
        raise self._not_offered("margin_partitions")

    def path_scores(self, potentials: Potentials, labels: Ints1d) -> Floats1d:
        """Score of a labelling of every sequence, float64 `[N]`."""
        raise self._not_offered("path_scores")

    def cut(self, observed: Ints1d, starts: Pointers1d, least: int) -> Pointers1d:
        """Starts of pieces of at least so many units, cut where that changes no score."""
        raise self._not_offered("cut")

    def learn_online(
        self,
        features: BinaryCSR,
        observed: Ints1d,
        starts: Pointers1d,
        step: OnlineStep,
        segments: SegmentRows | None = None,
    ) -> float:
        """Passive-aggressive updates, sequence by sequence; the sum of their losses.

        features: of units `[T, K]`. segments: features of segments, for structures with such.
        """
        raise self._not_offered("learn_online")

    def mixing(self) -> Floats2d:
        """Symmetric `M` `[S, S]` that turns free parameters into score columns.

        The penalty is on the parameters, so `M` says how columns share weight (docs/method.md,
        section 4.2).
        """
        raise self._not_offered("mixing")

    def transition_columns(self) -> Ints1d:
        """Column of the scores that goes with each transition, int32 `[E]`."""
        raise self._not_offered("transition_columns")

    def column_names(self, labels: Sequence[str]) -> list[Hashable]:
        """What each score column is known by when labels change; labels: names of all `Y`."""
        raise self._not_offered("column_names")

    def transition_names(self, labels: Sequence[str]) -> list[tuple[str, str]]:
        """Names of the labels before and after each transition."""
        raise self._not_offered("transition_names")

    def label_columns(self, label: int) -> tuple[Ints1d, Ints1d | None]:
        """Columns that add to the score of a label, and the label before each of them.

        None where the label before makes no difference.
        """
        raise self._not_offered("label_columns")

    def _not_offered(self, operation: str) -> ConfigError:
        return ConfigError(f"{type(self).__name__} does not offer '{operation}'.")


OPERATIONS = frozenset(
    name
    for name, member in vars(Structure).items()
    if callable(member) and not name.startswith(("_", "normalised"))
)


def offered(structure: type[Structure]) -> frozenset[str]:
    """The operations that a structure offers."""
    return frozenset(n for n in OPERATIONS if getattr(structure, n) is not getattr(Structure, n))


def require(structure: type[Structure], operations: Iterable[str], who: str) -> None:
    """Raise `ConfigError` where a structure does not offer all operations that `who` needs."""
    missing = sorted(set(operations) - offered(structure))
    if missing:
        raise ConfigError(
            f"{who} needs {', '.join(missing)}, which {structure.__name__} does not offer. "
            "Choose another model under @architectures, or another loss, trainer or option."
        )
