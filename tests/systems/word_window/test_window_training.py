"""Training of the network: its loss, gradient and steps, and what is left out at random."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.systems.word_window.layer import NetworkWeights, Window, product, summed
from spacy_cascade.systems.word_window.training import (
    Dropout,
    NetworkTraining,
    Schedule,
    Words,
    first_weights,
    loss_and_gradient,
)
from window_layers import HIDDEN, N_FEATURES, N_LABELS, WIDTH, made, naive_hidden


def in_double(values: Any) -> Any:
    return values.astype(np.float64)


@pytest.mark.parametrize("are_spans", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_gradient_is_that_of_finite_differences(seed: int, are_spans: bool) -> None:
    """With parts left out: factors that dropout drew stay the same."""
    known, units, weights, labels = made(seed, are_spans)
    generator = np.random.default_rng(seed)
    dropout = Dropout.draw(known, 7, Schedule(1, 7), weights, generator)
    row = np.zeros(N_FEATURES, dtype=np.int32)

    def loss() -> float:
        return loss_and_gradient(weights, dropout, units, labels, row)[0] / len(labels)

    _, gradient = loss_and_gradient(weights, dropout, units, labels, row)
    rows = np.unique(dropout.features.indices)
    for name, values, own in zip(NetworkWeights._fields, weights, gradient, strict=True):
        where = rows if name == "of_features" else np.arange(len(values))
        direction = generator.standard_normal(own.shape).astype(np.float32)
        step, kept = np.float32(1e-3), values.copy()
        values[where] = kept[where] + step * direction
        above = loss()
        values[where] = kept[where] - step * direction
        below = loss()
        values[:] = kept
        assert own.dtype == np.float32
        expected = float(np.vdot(in_double(own), in_double(direction)))
        assert (above - below) / (2 * float(step)) == pytest.approx(expected, abs=3e-3), name


def test_training_learns_and_repeats_itself() -> None:
    found = []
    for _ in range(2):
        known, units, weights, labels = made(1, are_spans=True)
        training = NetworkTraining(weights, known, Schedule(60, 3, rate=0.02, drop_words=0.0))
        steps: list[None] = []
        loss = training.run(units, labels, 2, lambda steps=steps: steps.append(None))
        assert len(steps) == 60
        assert loss < 1.0
        found.append(weights)
    assert all(np.array_equal(*pair) for pair in zip(*found, strict=True))
    none_left_out = Schedule(60, 3, 0.02, 0.0, 0.0, 0.0, 0.0, 0.0)
    known, units, weights, labels = made(1, are_spans=True)
    assert NetworkTraining(weights, known, none_left_out).run(units, labels, 2, list) < 0.1


# Against twins


def whole(known: Words, n_units: int) -> Dropout:
    """Nothing is left out."""
    n_words = len(known.vectors)
    ones = [np.ones(shape, np.float32) for shape in ((n_words, WIDTH), (n_units, HIDDEN))]
    return Dropout(known.features, known.vectors, np.float32(1.0), *ones)


def room() -> Any:
    return np.zeros(N_FEATURES, dtype=np.int32)


def naive_loss(known: Words, units: Window, weights: NetworkWeights, labels: Any) -> float:
    scores = np.maximum(0.0, naive_hidden(known, units, weights)) @ in_double(weights.of_hidden)
    scores += weights.of_labels
    return float((logsumexp(scores, axis=1) - scores[np.arange(len(labels)), labels]).sum())


@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.parametrize("are_spans", [False, True])
def test_the_loss_is_that_of_the_layers(are_spans: bool, scale: float) -> None:
    """Also where scores are so large that their exponents are infinite."""
    known, units, weights, labels = made(3, are_spans)
    weights.of_hidden[:] *= scale
    weights.of_labels[:] = 0.5, -0.25, 1.0
    loss, _ = loss_and_gradient(weights, whole(known, 7), units, labels, room())
    expected = naive_loss(known, units, weights, labels)
    assert loss == pytest.approx(expected, rel=1e-5)
    assert expected > scale
    training = NetworkTraining(weights, known, Schedule(3, 2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert training.run(units, labels, 0, list) == pytest.approx(expected / 7, rel=1e-5)
    one = units.take(np.array([4])), labels[[4]]
    expected = naive_loss(known, one[0], weights, one[1])
    assert training.run(*one, 0, list) == pytest.approx(expected, rel=1e-5)


def test_units_of_which_nothing_is_known_teach_how_frequent_labels_are() -> None:
    known, units, weights, labels = made(3, are_spans=True)
    weights.bias[:] = 0.0
    every = whole(known, 7)
    nothing = replace(every, of_sums=np.zeros_like(every.of_sums))
    _, gradient = loss_and_gradient(weights, nothing, units, labels, room())
    assert not any(each.any() for each in gradient[:-1])
    frequencies = np.bincount(labels, minlength=N_LABELS) / 7
    assert gradient[-1] == pytest.approx(1 / N_LABELS - frequencies, abs=1e-6)


Batch = list[int]


def by_hand(
    known: Words, units: Window, weights: NetworkWeights, labels: Any, batches: list[Batch],
    rate: float,
) -> tuple[list[Any], list[float]]:  # fmt: skip
    """Weights after these batches, by Adam as Kingma and Ba (2015) have it, in double precision.

    And the lengths of the gradients. A gradient is 5 long at most; features that no word of a
    batch has are left as they are, with their means.
    """
    values = [in_double(each) for each in weights]
    means, squares = ([np.zeros_like(each) for each in values] for _ in range(2))
    lengths = []
    for t, batch in enumerate(batches):
        window = units.take(np.array(batch))
        used = np.unique(np.concatenate([
            known.features.indices[known.features.indptr[word] : known.features.indptr[word + 1]]
            for word in window.words()
        ]))  # fmt: skip
        now = NetworkWeights(*(each.astype(np.float32) for each in values))
        gradient = loss_and_gradient(now, whole(known, len(batch)), window, labels[batch], room())[
            1
        ]
        of_features = np.zeros_like(values[0])
        of_features[np.unique(known.features.indices)] = gradient[0]
        slopes = [of_features, *map(in_double, gradient[1:])]
        lengths.append(float(np.sqrt(sum((each**2).sum() for each in slopes))))
        for k, slope in enumerate(slopes):
            where = used if k == 0 else slice(None)
            g = slope[where] * min(1.0, 5.0 / lengths[-1])
            means[k][where] = 0.9 * means[k][where] + 0.1 * g
            squares[k][where] = 0.99 * squares[k][where] + 0.01 * g**2
            ratio = np.sqrt(1 - 0.99 ** (t + 1)) / (1 - 0.9 ** (t + 1))
            step = ratio * means[k][where] / (np.sqrt(squares[k][where]) + 1e-8)
            values[k][where] -= rate * (1 - t / len(batches)) * step
    return values, lengths


def distances(weights: NetworkWeights, expected: list[Any]) -> list[float]:
    return [float(np.abs(own - each).max()) for own, each in zip(weights, expected, strict=True)]


@pytest.mark.parametrize("are_spans", [False, True])
def test_steps_are_those_of_adam_with_a_rate_that_falls(are_spans: bool) -> None:
    """All units are the same one, so that their order does not matter; the last batch has one."""
    known, units, weights, labels = made(1, are_spans)
    units, labels = units.take(np.zeros(7, np.int64)), labels[[0] * 7]
    known.vectors[:] *= 1e-7  # whose weights have gradients as small as what Adam adds
    weights.of_hidden[:] *= 3.0
    weights.of_labels[labels[0]] = -2.0
    expected, lengths = by_hand(known, units, weights, labels, 3 * [[0] * 3, [0] * 3, [0]], 0.1)
    assert max(lengths) > 5 > min(lengths)
    before = [each.copy() for each in weights]
    schedule = Schedule(3, 3, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0)
    NetworkTraining(weights, known, schedule).run(units, labels, 0, list)
    assert max(distances(weights, expected)) < 1e-5
    assert min(distances(weights, before)) > 0.1


def test_features_that_a_batch_has_not_stay_as_they_are() -> None:
    """They have no momentum either. The order of the units is drawn."""
    known, units, weights, labels = made(2, are_spans=False)
    units = Window(np.array([[0, 1, 1], [2, 3, 3], [4, 4, 4]], np.int32), units.inside, units.first)
    found = [by_hand(known, units, weights, labels, [[i] for i in order], 0.02)[0]
             for order in permutations(range(3))]  # fmt: skip
    schedule = Schedule(1, 1, 0.02, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert NetworkTraining(weights, known, schedule).run(units, labels[:3], 0, list) > 0
    far = sorted(max(distances(weights, each)) for each in found)
    assert far[0] < 1e-4
    assert far[1] > 1e-3


def test_no_epochs_change_nothing() -> None:
    known, units, weights, labels = made(0, are_spans=True)
    before = [each.copy() for each in weights]
    assert NetworkTraining(weights, known, Schedule(0, 3)).run(units, labels, 0, list) == 0.0
    assert max(distances(weights, before)) == 0.0


# What is random


def many_words(n_words: int, n_known: int, n_numbers: int) -> Words:
    """Words with as many features each, and vectors of random numbers with a variance of 1."""
    generator = np.random.default_rng(n_known)
    indices = generator.integers(0, 500, n_words * n_known).astype(np.int32)
    vectors = generator.standard_normal((n_words, n_numbers)).astype(np.float32)
    return Words(BinaryCSR(np.arange(n_words + 1) * n_known, indices, 500), vectors)


@pytest.mark.parametrize(
    ("n_words", "n_known", "n_numbers", "sizes"),
    [(1, 3, 2, (800, 30)), (200, 1, 1, (300, 50)), (200, 9, 20, (60, 40)), (200, 2, 0, (50, 200))],
)
def test_numbers_are_as_large_whatever_the_sizes(
    n_words: int, n_known: int, n_numbers: int, sizes: tuple[int, int]
) -> None:
    """The deviation of what features and vectors give, and the variance of what layers give."""
    known = many_words(n_words, n_known, n_numbers)
    weights = first_weights(known, 3, 40, sizes, 0)
    assert all(each.dtype == np.float32 for each in weights)
    shapes = [(500, sizes[0]), (n_numbers, sizes[0]), (sizes[0], 3 * sizes[1]), sizes[1:],
              (sizes[1], 40), (40,)]  # fmt: skip
    assert [each.shape for each in weights] == shapes
    assert not weights.bias.any()
    assert not weights.of_labels.any()
    assert summed(known.features, weights.of_features).std() == pytest.approx(0.5, rel=0.15)
    if n_numbers:
        of_vectors = product(known.vectors, weights.of_vectors)
        scale = np.sqrt(np.square(known.vectors).sum(axis=1).mean() / n_numbers)
        assert of_vectors.std() == pytest.approx(0.5 * scale, rel=0.15)
    generator = np.random.default_rng(0)
    for matrix, variance in ((weights.of_window, 4 / 3), (weights.of_hidden, 1.0)):
        given = generator.standard_normal((400, len(matrix))).astype(np.float32)
        assert product(given, matrix).var() == pytest.approx(variance, rel=0.15)


def test_what_is_left_out_is_made_up_for() -> None:
    """Words as wholes, and of each word other numbers than of the next one."""
    known = many_words(600, 6, 5)
    weights = first_weights(known, 3, N_LABELS, (40, 30), 0)
    schedule = Schedule(1, 1, 0.1, 0.1, 0.6, 0.2, 0.4, 0.5)
    drawn = Dropout.draw(known, 500, schedule, weights, np.random.default_rng(0))
    kept = np.diff(drawn.features.indptr)
    assert kept.sum() / (600 * 6) == pytest.approx(0.4, abs=0.03)
    assert kept.std() > 0.5
    assert drawn.of_features == pytest.approx(1 / 0.4)
    factor = drawn.vectors / known.vectors
    is_word = drawn.of_sums.any(axis=1)
    assert 1 - is_word.mean() == pytest.approx(0.1, abs=0.03)
    for factors, share, shape in (
        (factor, 0.2, (600, 5)),
        (drawn.of_sums[is_word] * 0.9, 0.4, (is_word.sum(), 40)),
        (drawn.of_hidden, 0.5, (500, 30)),
    ):
        assert factors.shape == shape
        values = np.unique(np.round(factors, 4))
        assert values == pytest.approx([0, 1 / (1 - share)], abs=1e-4)
        assert (factors == 0).mean(axis=0) == pytest.approx(share, abs=0.1)
        assert (factors == 0).mean() == pytest.approx(share, abs=0.03)
    arrays = drawn.vectors, drawn.of_sums, drawn.of_hidden
    assert all(each.dtype == np.float32 for each in arrays)
