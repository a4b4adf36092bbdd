"""Online training: passive-aggressive updates, averaged."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import check_counts, configured
from ..errors import ConfigError
from ..inference.online_prior import OnlinePrior, no_prior
from ..inference.structure import Averaged, Online, OnlineStep, Structure, Weights
from ..losses.base import LabelledSequences
from ..penalties.gaussian import of_transitions
from ..types import Floats1d, Floats2d
from .base import (
    BYTES_OF_WEIGHT,
    Fit,
    Progress,
    Room,
    Shape,
    Source,
    State,
    Task,
    array_like,
    check_needs,
)
from .online_curvature import OnlineCurvature
from .states import count_in, generator_in, number_in


@configured
@dataclass(frozen=True)
class PassiveAggressive:
    """Settings of PA-I; registered as `spacy_cascade.PassiveAggressive.v1`.

    C: the largest step. cost_augmented: look for the path that violates the margin most, instead
    of the best one. average: annotate with the mean of all weights so far, instead of the last
    ones. average_power: the weights after the `i`-th update count `i ** average_power` in the mean,
    as the first ones are bad. passes: over each batch. cut_after: learn from pieces of sequences,
    cut outside of spans when they are at least so long; 0 for whole sequences. seed: of the order
    of sequences within a batch. curvature: find out how surely the data determine each weight, so
    that later adaptation keeps it.

    Raises `ConfigError` for a setting out of range.
    """

    C: float = 0.01
    cost_augmented: bool = True
    average: bool = True
    average_power: int = 0
    passes: int = 1
    cut_after: int = 0
    seed: int = 0
    curvature: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.C) and self.C > 0) or self.passes < 1:
            raise ConfigError(
                "The passive-aggressive trainer needs a finite C > 0 and passes >= 1, not "
                f"{self}. Change the [trainer] block."
            )
        check_counts(
            "trainer", average_power=self.average_power, passes=self.passes,
            cut_after=self.cut_after, seed=self.seed,
        )  # fmt: skip

    sees_all: ClassVar[bool] = False
    reads_corpus: ClassVar[bool] = False

    @property
    def iterations(self) -> int:
        return self.passes

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_needs(
            self, loss, penalty, structure, loss_has="margin_costs", takes_penalty=False,
            advice='Put @misc = "spacy_cascade.Hinge.v2" into the [loss] block, and write '
            "penalty = null into the component's block.",
        )  # fmt: skip

    def room(self, shape: Shape) -> Room:
        return Room(shape.n_features * shape.n_columns * BYTES_OF_WEIGHT, 0)

    def begin(self, source: Source) -> "OnlineFit":
        return OnlineFit(self, source.task())


class OnlineFit(Fit[LabelledSequences]):
    """Weights under training, with the sum that their average is made of."""

    def __init__(self, settings: PassiveAggressive, task: Task) -> None:
        self.settings, self._loss, start = settings, task.loss, task.start
        structure = task.data.structure
        self._prior = _prior_of(structure, task.known, settings)
        self._curvature: OnlineCurvature | None = None
        if settings.curvature:
            shape = start.features.shape
            self._curvature = OnlineCurvature(task.loss, structure, shape, task.known)
        self._averaged = Averaged(
            start.features.astype(np.float64), np.zeros(start.features.shape),
            start.transitions.astype(np.float64), np.zeros(start.transitions.shape),
        )  # fmt: skip
        self._generator = np.random.default_rng(settings.seed)
        self._n_sequences, self._n_counted = 0, 0.0

    def _step(self, data: LabelledSequences, progress: Progress) -> float:
        """Pass over the sequences of a batch; the mean of their losses."""
        settings, structure = self.settings, data.structure
        assert isinstance(structure, Online)
        costs = structure.costs(self._loss.margin_costs(structure.n_labels))
        starts = data.starts
        if settings.cut_after > 0:
            starts = structure.cut(data.observed, starts, settings.cut_after)
        learn = structure.learn_online(data.encoded, data.observed, starts)
        n_sequences = len(starts) - 1
        loss = 0.0

        for _ in range(settings.passes):
            order, before = self._generator.permutation(n_sequences), self._counted(n_sequences)
            step = OnlineStep(
                costs, settings.cost_augmented, settings.C, order, before, self._averaged,
                self._prior,
            )  # fmt: skip
            loss += learn(step)
        if self._curvature is not None:
            now = self._averaged
            self._curvature.add(data, Weights(now.weights, now.transitions))
        return loss / settings.passes

    def hessian_diagonal(self) -> Floats2d | None:
        return None if self._curvature is None else self._curvature.diagonal()

    def _counted(self, n_sequences: int) -> Floats1d:
        """`A_{i-1}` of each of so many more sequences (`inference.passive_aggressive`)."""
        numbers = np.arange(self._n_sequences, self._n_sequences + n_sequences)
        # Huge powers give nothing finite; the model finds out when it takes the weights over.
        with np.errstate(over="ignore"):
            counts = np.power(numbers + 1.0, self.settings.average_power)
            sums: Floats1d = self._n_counted + np.append(0.0, np.cumsum(counts))
        self._n_sequences += n_sequences
        self._n_counted = float(sums[-1])
        return sums[:-1]

    def weights(self) -> Weights:
        now = self._averaged
        if not self.settings.average or self._n_sequences == 0:
            return Weights(now.weights, now.transitions)
        n = self._n_counted
        with np.errstate(over="ignore", invalid="ignore"):
            features, transitions = now.weights_drift / n, now.transitions_drift / n
            # In place: these are the largest arrays that there are.
            np.subtract(now.weights, features, out=features)
            return Weights(features, now.transitions - transitions)

    def state(self) -> State:
        return {
            **self._averaged._asdict(),
            "generator": self._generator.bit_generator.state,
            "n_sequences": self._n_sequences,
            "n_counted": self._n_counted,
            **({} if self._curvature is None else self._curvature.state()),
        }

    def _restore(self, state: State) -> None:
        now = self._averaged._asdict()
        averaged = Averaged(**{name: array_like(now[name], state[name]) for name in now})
        n_sequences, n_counted = count_in(state["n_sequences"]), state["n_counted"]
        self._generator, self._n_counted = generator_in(state["generator"]), number_in(n_counted, 0)
        self._n_sequences = n_sequences
        if self._curvature is not None:
            self._curvature.restore(state)
        self._averaged = averaged


def _prior_of(
    structure: Structure, known: Floats2d | None, settings: PassiveAggressive
) -> OnlinePrior:
    """The prior of updates; known: the diagonal of the Hessian `[K, S]` that earlier data gave.

    An update that goes all the way, `C`, minimises `ℓ + ½ Σ (1/C + passes·known)·(change)²`. What
    is learnt several times counts as often, and so does what is known.
    """
    if known is None:
        return no_prior(structure.n_columns, structure.n_transitions)
    weight = settings.C * settings.passes
    moves = of_transitions(known, structure.columns.of_transition)
    mixing = structure.columns.mixing
    inverse = np.linalg.inv(mixing).astype(np.float64)
    return OnlinePrior(weight * known, 1.0 + weight * moves, mixing, inverse)
