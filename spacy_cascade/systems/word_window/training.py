"""Training of the network: minibatches of units, each label for itself.

The loss is the mean of `-log softmax(z)[y]`. Adam follows it with a rate that falls to zero; of
the rows of features only those change that a batch uses. Parts of what is known of words are left
out at random, as new words lack them: whole words, features, numbers of vectors and of `e`, `h`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...jit import kernel
from ...numeric.csr import BinaryCSR, add_to_columns
from ...types import Floats1d, Ints1d, Pointers1d, Reals2d, RealsXd
from .layer import NetworkWeights, Window, add_to_tabulated, hidden, product, summed

_MOMENT, _SQUARES, _SMALLEST = 0.9, 0.99, 1e-8
"""How much of the means of gradients, and of their squares, a step of Adam keeps."""
_LONGEST_GRADIENT = 5.0


@dataclass(frozen=True)
class Schedule:
    """epochs: passes over the units. batch: units of a step. rate: of the first step.

    drop_words, drop_features, drop_vectors, drop_sums, drop_hidden: shares that are left out.
    """

    epochs: int
    batch: int
    rate: float = 0.004
    drop_words: float = 0.1
    drop_features: float = 0.6
    drop_vectors: float = 0.2
    drop_sums: float = 0.4
    drop_hidden: float = 0.5


@dataclass(frozen=True)
class Words:
    """What is known of the words of a corpus: features `[n, K]`, and vectors, float32 `[n, d]`."""

    features: BinaryCSR
    vectors: Reals2d

    def take(self, words: Ints1d) -> Words:
        """Some of the words."""
        return Words(self.features.take(words), self.vectors[words])


def first_weights(
    words: Words, n_places: int, n_labels: int, sizes: tuple[int, int], seed: int
) -> NetworkWeights:
    """Random weights before training; sizes: `D` and `H`."""
    generator, (width, n_hidden) = np.random.default_rng(seed), sizes
    n_known = max(1.0, len(words.features.indices) / max(1, words.features.n_rows))
    n_numbers = words.vectors.shape[1]

    def normal(n_rows: int, n_columns: int, scale: float) -> Reals2d:
        found = generator.standard_normal((n_rows, n_columns), dtype=np.float32)
        scaled: Reals2d = found * np.float32(scale)
        return scaled

    return NetworkWeights(
        normal(words.features.n_columns, width, 0.5 / n_known**0.5),
        normal(n_numbers, width, 0.5 / max(1, n_numbers) ** 0.5),
        normal(width, n_places * n_hidden, (4.0 / (3.0 * width)) ** 0.5),
        np.zeros(n_hidden, dtype=np.float32),
        normal(n_hidden, n_labels, (1.0 / n_hidden) ** 0.5),
        np.zeros(n_labels, dtype=np.float32),
    )


@kernel
def _adam(
    values: Reals2d, mean: Reals2d, squares: Reals2d, rows: Ints1d, gradient: Reals2d,
    share: float, rate: float,
) -> None:  # fmt: skip
    """`m ← m + (1 - β₁)(g - m)`, `s ← s + (1 - β₂)(g² - s)`, `v ← v - r m / (√s + ε)`.

    values `v`, mean `m`, squares `s`: float32 `[n, d]`, changed in these rows. gradient: `[m, d]`,
    times `share` it is `g`. rate `r`: with the bias of both means in it.
    """
    one, factor, step = np.float32(1.0), np.float32(share), np.float32(rate)
    kept, kept_squares = np.float32(_MOMENT), np.float32(_SQUARES)
    for i, row in enumerate(rows):
        for k in range(values.shape[1]):
            g = factor * gradient[i, k]
            mean[row, k] += (one - kept) * (g - mean[row, k])
            squares[row, k] += (one - kept_squares) * (g * g - squares[row, k])
            scale = np.sqrt(squares[row, k]) + np.float32(_SMALLEST)
            values[row, k] -= step * mean[row, k] / scale


class _Adam:
    """Adam for one array, which it changes."""

    def __init__(self, values: RealsXd) -> None:
        self._values = _as_table(values)
        self._n_steps = 0
        self._mean, self._squares = np.zeros_like(self._values), np.zeros_like(self._values)
        self.rows = np.arange(len(self._values), dtype=np.int32)

    def step(self, gradient: RealsXd, share: float, rate: float, rows: Ints1d) -> None:
        """A step along `share` of the gradient of these rows."""
        self._n_steps += 1
        unbiased = (1.0 - _SQUARES**self._n_steps) ** 0.5 / (1.0 - _MOMENT**self._n_steps)
        arrays = self._values, self._mean, self._squares
        _adam(*arrays, rows, _as_table(gradient), share, rate * unbiased)


def _as_table(values: RealsXd) -> Reals2d:
    """A vector as a table of one row, the same memory."""
    return values.reshape(-1, values.shape[-1])


class NetworkTraining:
    """Weights under training, which change in place."""

    def __init__(self, weights: NetworkWeights, words: Words, schedule: Schedule) -> None:
        self.weights, self.words, self.schedule = weights, words, schedule
        self._adams = [_Adam(each) for each in weights]
        self._place = np.zeros(words.features.n_rows, dtype=np.int32)
        self._row = np.zeros(words.features.n_columns, dtype=np.int32)

    def run(
        self, window: Window, labels: Ints1d, seed: int, progress: Callable[[], object]
    ) -> float:
        """All epochs over units with labels `[U]`; the mean loss in the last one."""
        generator, schedule = np.random.default_rng(seed), self.schedule
        n, loss = len(labels), 0.0
        n_steps = schedule.epochs * -(-n // schedule.batch)
        step = 0
        for _ in range(schedule.epochs):
            order, loss = generator.permutation(n), 0.0
            for begin in range(0, n, schedule.batch):
                units = order[begin : begin + schedule.batch]
                rate = schedule.rate * (1.0 - step / n_steps)
                loss += self._step(window.take(units), labels[units], rate, generator)
                step += 1
            progress()
        return loss / max(1, n)

    def _step(
        self, window: Window, labels: Ints1d, rate: float, generator: np.random.Generator
    ) -> float:
        """A step on units; the sum of their losses."""
        used = window.words()
        self._place[used] = np.arange(len(used))
        dropout = Dropout.draw(self.words.take(used), len(labels), self.schedule, self.weights,
                               generator)  # fmt: skip
        loss, gradient = loss_and_gradient(
            self.weights, dropout, window.renumbered(self._place), labels, self._row
        )
        norm = sum(float(np.vdot(each, each)) for each in gradient) ** 0.5
        share = min(1.0, _LONGEST_GRADIENT / max(norm, _SMALLEST))
        of_features, *others = self._adams
        of_features.step(gradient[0], share, rate, np.unique(dropout.features.indices))
        for adam, each in zip(others, gradient[1:], strict=True):
            adam.step(each, share, rate, adam.rows)
        return loss


@dataclass(frozen=True)
class Dropout:
    """The words of a batch with parts left out, and factors of what is computed of them.

    vectors: those of words, scaled. of_features: factor of their sum. of_sums: float32 `[n, D]`.
    of_hidden: float32 `[U, H]`. The factors make up for what is left out.
    """

    features: BinaryCSR
    vectors: Reals2d
    of_features: np.float32
    of_sums: Reals2d
    of_hidden: Reals2d

    @classmethod
    def draw(
        cls,
        words: Words,
        n_units: int,
        schedule: Schedule,
        weights: NetworkWeights,
        generator: np.random.Generator,
    ) -> Dropout:
        def kept(shape: tuple[int, int], share: float) -> Reals2d:
            is_kept = generator.random(shape, dtype=np.float32) >= share
            factors: Reals2d = is_kept * np.float32(1.0 / (1.0 - share))
            return factors

        n, width = len(words.vectors), weights.of_features.shape[1]
        is_dropped = generator.random(len(words.features.indices)) < schedule.drop_features
        return cls(
            words.features.without(is_dropped),
            words.vectors * kept(words.vectors.shape, schedule.drop_vectors),
            np.float32(1.0 / (1.0 - schedule.drop_features)),
            kept((n, 1), schedule.drop_words) * kept((n, width), schedule.drop_sums),
            kept((n_units, len(weights.bias)), schedule.drop_hidden),
        )


def loss_and_gradient(
    weights: NetworkWeights, words: Dropout, window: Window, labels: Ints1d, row: Ints1d
) -> tuple[float, list[RealsXd]]:
    """The sum of the losses of units, and the gradient of their mean, in the order of the weights.

    Of the features it has the rows that the words use, ascending. window: numbers of `words`. row:
    int32 `[K]`, room for numbers of these rows.
    """
    n, width = len(labels), weights.of_features.shape[1]
    sums = summed(words.features, weights.of_features) * words.of_features
    sums += product(words.vectors, weights.of_vectors)
    sums *= words.of_sums
    table = product(sums, weights.of_window)
    before = hidden(table, window, weights.bias)
    is_on = (before > 0) * words.of_hidden
    after = before * is_on
    losses, slopes = _softmax(product(after, weights.of_hidden) + weights.of_labels, labels)
    slopes /= np.float32(n)
    of_hidden = product(slopes, weights.of_hidden, second_transposed=True) * is_on
    of_table = np.zeros_like(table)
    add_to_tabulated(of_hidden, *window, of_table)
    of_sums: Reals2d = product(of_table, weights.of_window, second_transposed=True) * words.of_sums
    rows = np.unique(words.features.indices)
    row[rows] = np.arange(len(rows))
    of_features = np.zeros((len(rows), width), dtype=np.float32)
    of_words: Reals2d = of_sums * words.of_features
    numbers = row[words.features.indices]
    bounds = (0, len(of_words)), (0, width)
    add_to_columns(words.features.indptr, numbers, of_words, of_features, *bounds)  # type: ignore[arg-type]
    return float(losses.sum()), [
        of_features,
        product(words.vectors, of_sums, first_transposed=True),
        product(sums, of_table, first_transposed=True),
        of_hidden.sum(axis=0),
        product(after, slopes, first_transposed=True),
        slopes.sum(axis=0),
    ]


def _softmax(scores: Reals2d, labels: Ints1d) -> tuple[Floats1d, Reals2d]:
    """Losses `[U]`, and their slopes with respect to the scores `[U, Y]`."""
    units: Pointers1d = np.arange(len(labels))
    scores -= scores.max(axis=1, keepdims=True)
    slopes = np.exp(scores)
    sums = slopes.sum(axis=1, keepdims=True)
    losses = np.log(sums[:, 0].astype(np.float64)) - scores[units, labels]
    slopes /= sums
    slopes[units, labels] -= np.float32(1.0)
    return losses, slopes
