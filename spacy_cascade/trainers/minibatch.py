"""Training by gradient, a batch at a time, for models with an encoder.

Of a batch only those rows of the weights change that it uses: their gradient is computed as if
there were no others. Weights of features and transitions follow Adagrad, with `G` the sum of all
squared gradients so far, and the penalty's curvature `p` as a proximal step:

    z ← (z - r/√G · g) / (1 + r/√G · s p)          s: the share of the corpus since its last step

on the deviation `z` of the weights `w = w₀ + z M` from the penalty's centre, as in
`trainers.objective`. Weights of vectors follow Adam in the same way (docs/method.md, section 5.9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Protocol, cast

import numpy as np

from ..checks import check_counts, check_positive, configured
from ..errors import ConfigError
from ..inference.structure import Structure, Weights
from ..losses.base import CorpusLoss, LabelledSequences
from ..numeric.dense import DenseRows
from ..numeric.design import Design
from ..numeric.encoded import Encoded
from ..parallel import Workers
from ..types import Floats1d, Floats2d, Ints1d
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
from .states import count_in, generator_in, number_in

_BYTES_OF_SQUARES = 8
_SMALLEST = 1e-8
_ARRAYS = (
    "deviation", "of_transitions", "squares", "transition_squares", "last", "curvature",
)  # fmt: skip
"""What training goes on from, as attributes of the fit."""
_MOMENT, _SQUARES = 0.9, 0.999
"""How much of the means of gradients, and of their squares, a step of Adam keeps."""


class OfBatch(Encoded, Protocol):
    """What a scorer keeps of a batch, and can keep for the rows alone that the batch uses."""

    def used_rows(self) -> Ints1d:
        """Ascending."""

    def on_rows(self, rows: Ints1d) -> OfBatch:
        """For weights of these rows only; rows: ascending, all that are used among them."""


@configured
@dataclass(frozen=True)
class Minibatch:
    """Settings of training by gradient; registered as `spacy_cascade.Minibatch.v1`.

    rate: of weights of features and transitions. dense_rate: of those of an encoder's vectors; what
    is inside the encoder follows the optimizer of [training]. steps: after which rates are zero,
    falling all the time; 0 for rates that stay. feature_drop: the share of features that a batch
    leaves out; null for `dropout` of [training]. seed: of what is left out.

    Raises `ConfigError` for a setting out of range.
    """

    rate: float = 0.1
    dense_rate: float = 0.001
    steps: int = 0
    feature_drop: float | None = None
    seed: int = 0

    sees_all: ClassVar[bool] = False
    reads_corpus: ClassVar[bool] = False
    trains_encoders: ClassVar[bool] = True
    iterations: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_positive("trainer", rate=self.rate, dense_rate=self.dense_rate)
        check_counts("trainer", steps=self.steps, seed=self.seed)
        if not 0 <= (self.feature_drop or 0.0) < 1:
            raise ConfigError(
                f"feature_drop of Minibatch is a share from 0 to below 1, not {self.feature_drop}. "
                "Change it in the [trainer] block."
            )

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_needs(
            self, loss, penalty, structure, loss_has="on", takes_penalty=penalty is not None,
            advice='Put @misc = "spacy_cascade.SoftmaxMargin.v2" into the [loss] block.',
        )  # fmt: skip

    def room(self, shape: Shape) -> Room:
        size = shape.n_features * shape.n_columns
        return Room(size * (BYTES_OF_WEIGHT + _BYTES_OF_SQUARES), 0)

    def begin(self, source: Source) -> MinibatchFit:
        return MinibatchFit(self, source.task())


class _Adam:
    """Steps of Adam for one array, `[n, S]` or `[n]`."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean, self.squares, self.n_steps = np.zeros(shape), np.zeros(shape), 0

    def step(self, gradient: Floats2d, rate: float) -> tuple[Floats2d, Floats2d]:
        """What to add to the array, and the rates of this step, of each number in it."""
        self.n_steps += 1
        self.mean += (1.0 - _MOMENT) * (gradient - self.mean)
        self.squares += (1.0 - _SQUARES) * (gradient**2 - self.squares)
        mean = self.mean / (1.0 - _MOMENT**self.n_steps)
        squares = self.squares / (1.0 - _SQUARES**self.n_steps)
        rates: Floats2d = rate / (np.sqrt(squares) + _SMALLEST)
        return -rates * mean, rates


class MinibatchFit(Fit[LabelledSequences]):
    """Weights under training, as deviations from the penalty's centre."""

    def __init__(self, settings: Minibatch, task: Task) -> None:
        self.settings, self._loss, self._penalty = settings, task.loss, task.penalty
        structure, start = task.data.structure, task.start
        self._mixing = structure.columns.mixing
        shape, n_transitions = start.features.shape, structure.n_transitions
        self._centre = Weights(np.zeros(shape), np.zeros(n_transitions))
        self._precision = np.zeros(shape), np.zeros(n_transitions)
        self._known, self._curvature = task.known, np.zeros((0, 0))
        if task.penalty is not None:
            self._centre, self._curvature = task.penalty.centre, np.zeros(shape)
            # The slope of a parabola at 1 is its curvature.
            _, of_features = task.penalty.of_features(slice(0, shape[0]), np.ones(shape))
            _, of_transitions = task.penalty.of_transitions(np.ones(n_transitions))
            self._precision = of_features, of_transitions
        deviation = start.features.astype(np.float64) - self._centre.features
        self._deviation = np.linalg.solve(self._mixing, deviation.T).T.copy()
        self._of_transitions = start.transitions - self._centre.transitions
        self._squares, self._transition_squares = np.zeros(shape), np.zeros(n_transitions)
        self._last, self._n_steps, self._passed = np.zeros(shape[0]), 0, 0.0
        dense = [each.rows for each in task.data.encoded if isinstance(each, DenseRows)]
        self._dense = dense[0] if dense else slice(0, 0)
        self._adam = _Adam(self._deviation[self._dense].shape)
        self._generator = np.random.default_rng(settings.seed)
        self._free = structure.columns.free

    @property
    def _factor(self) -> float:
        """What rates are multiplied with now."""
        steps = self.settings.steps
        return max(0.0, 1.0 - self._n_steps / steps) if steps else 1.0

    def _step(self, data: LabelledSequences, progress: Progress) -> float:
        """A step on a batch; the sum of its losses."""
        factor, of_features = self._factor, self.settings.feature_drop
        share = data.drop if of_features is None else of_features
        rows, encoded = of_used_rows(data.encoded)
        kept = tuple(self._thinned(each, share, data.drop) for each in encoded)
        is_dense = (rows >= self._dense.start) & (rows < self._dense.stop)
        # What is left of the features counts for what is not, by larger weights.
        scale = np.where(is_dense, 1.0, 1.0 / (1.0 - share))[:, None]
        value, gradient, of_transitions = self._gradient(replace(data, encoded=kept), rows, scale)
        for whole, each in zip(data.encoded, kept, strict=True):
            if isinstance(whole, DenseRows) and isinstance(each, DenseRows):
                whole.slopes = each.slopes
        self._passed += data.share
        self._change_features(rows[~is_dense], gradient[~is_dense], factor)
        if is_dense.any():
            self._change_vectors(gradient[is_dense], data.share, factor)
        self._change_transitions(of_transitions, data.share, factor)
        self._n_steps += 1
        progress()
        return value

    def _gradient(
        self, batch: LabelledSequences, rows: Ints1d, scale: Floats2d
    ) -> tuple[float, Floats2d, Floats1d]:
        """The loss of a batch, and its gradients: of the deviation of rows, and of transitions.

        scale: `[n, 1]`, factors of the weights of these rows.
        """
        loss = CorpusLoss(batch, self._loss, Workers(1))
        own = (self._centre.features[rows] + self._deviation[rows] @ self._mixing) * scale
        gradient = np.empty(own.shape)
        potentials = loss.potentials(Weights(own, self._transitions()))
        losses, of_transitions = loss.losses(potentials)
        loss.gradient(potentials, gradient)
        if self._penalty is not None:
            self._curvature[rows] += loss.curvature_at(potentials, own.shape) @ self._mixing**2
        return float(losses.sum()), (gradient * scale) @ self._mixing, of_transitions

    def _thinned(self, encoded: Encoded, of_features: float, of_vectors: float) -> Encoded:
        """With shares left out at random: features of each word and unit, numbers of vectors."""
        if isinstance(encoded, Design) and of_features:
            parts = encoded.lexeme_features, encoded.unit_features
            of_lexemes, of_units = (
                part.without(self._generator.random(len(part.indices)) < of_features)
                for part in parts
            )
            return Design(of_lexemes, encoded.unit_lexemes, of_units)
        if isinstance(encoded, DenseRows) and of_vectors:
            return encoded.without(self._generator.random(encoded.values.shape) < of_vectors)
        return encoded

    def _transitions(self) -> Floats1d:
        found: Floats1d = self._centre.transitions + self._of_transitions
        return found

    def _change_features(self, rows: Ints1d, gradient: Floats2d, factor: float) -> None:
        self._squares[rows] += gradient**2
        rates = factor * self.settings.rate / (np.sqrt(self._squares[rows]) + _SMALLEST)
        shares = (self._passed - self._last[rows])[:, None] * self._precision[0][rows]
        moved = self._deviation[rows] - rates * gradient
        self._deviation[rows] = moved / (1.0 + rates * shares)
        self._last[rows] = self._passed

    def _change_vectors(self, gradient: Floats2d, share: float, factor: float) -> None:
        change, rates = self._adam.step(gradient, factor * self.settings.dense_rate)
        held = 1.0 + rates * share * self._precision[0][self._dense]
        self._deviation[self._dense] = (self._deviation[self._dense] + change) / held

    def _change_transitions(self, gradient: Floats1d, share: float, factor: float) -> None:
        free = self._free
        self._transition_squares[free] += gradient[free] ** 2
        rates = np.sqrt(self._transition_squares[free]) + _SMALLEST
        rates = factor * self.settings.rate / rates
        moved = self._of_transitions[free] - rates * gradient[free]
        self._of_transitions[free] = moved / (1.0 + rates * share * self._precision[1][free])

    def weights(self) -> Weights:
        """Those of now, with the penalty brought up to date."""
        rates = self._factor * self.settings.rate / (np.sqrt(self._squares) + _SMALLEST)
        shares = (self._passed - self._last)[:, None] * self._precision[0]
        # What no batch has used has no gradient, and stays where it is.
        used = self._last > 0
        used[self._dense] = False
        self._deviation[used] /= 1.0 + rates[used] * shares[used]
        self._last[used] = self._passed
        return Weights(self._centre.features + self._deviation @ self._mixing, self._transitions())

    def hessian_diagonal(self) -> Floats2d | None:
        """That of a pass over the corpus, and of earlier data; None without a penalty."""
        if self._penalty is None or self._passed == 0.0:
            return self._known
        own: Floats2d = self._curvature / self._passed
        return own if self._known is None else own + self._known

    def state(self) -> State:
        """Raises `ConfigError` where an encoder learns with it, whose optimizer is one of spaCy."""
        if self._adam.mean.size:
            raise ConfigError(
                "No checkpoint can hold this training: a tok2vec learns with it, by an optimizer "
                "of spaCy that cannot be saved. Remove the checkpoints from "
                "[training.before_update]."
            )
        return {
            **{name: getattr(self, f"_{name}") for name in _ARRAYS},
            "passed": self._passed,
            "n_steps": self._n_steps,
            "generator": self._generator.bit_generator.state,
        }

    def _restore(self, state: State) -> None:
        own = {name: getattr(self, f"_{name}") for name in _ARRAYS}
        found = {name: array_like(own[name], state[name]) for name in _ARRAYS}
        n_steps, passed = count_in(state["n_steps"]), number_in(state["passed"], 0.0)
        self._generator = generator_in(state["generator"])
        self._n_steps, self._passed = n_steps, passed
        for name, values in found.items():
            setattr(self, f"_{name}", values)


def of_used_rows(encoded: Sequence[Encoded]) -> tuple[Ints1d, tuple[OfBatch, ...]]:
    """The rows of weights that a batch uses, ascending, and what it keeps for these alone."""
    of_batch = cast(Sequence[OfBatch], encoded)
    rows: Ints1d = reduce(np.union1d, (each.used_rows() for each in of_batch))
    return rows, tuple(each.on_rows(rows) for each in of_batch)
