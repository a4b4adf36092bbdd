"""What the network computes, against loops; its gradient against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.systems.word_window.layer import (
    NetworkWeights,
    Window,
    add_to_tabulated,
    hidden,
    tabulated,
)
from spacy_cascade.systems.word_window.training import (
    Dropout,
    NetworkTraining,
    Schedule,
    Words,
    first_weights,
    loss_and_gradient,
)

N_WORDS, N_FEATURES, WIDTH, HIDDEN, N_LABELS, N_NUMBERS = 6, 9, 5, 4, 3, 2


def words(generator: np.random.Generator) -> Words:
    counts = generator.integers(0, 4, N_WORDS)
    indptr = np.append(0, np.cumsum(counts))
    indices = generator.integers(0, N_FEATURES, indptr[-1]).astype(np.int32)
    vectors = generator.standard_normal((N_WORDS, N_NUMBERS)).astype(np.float32)
    return Words(BinaryCSR(indptr, indices, N_FEATURES), vectors)


def window(generator: np.random.Generator, are_spans: bool, n_units: int = 7) -> Window:
    around = generator.integers(0, N_WORDS, (n_units, 3)).astype(np.int32)
    if not are_spans:
        return Window(around, np.zeros(0, np.int32), np.zeros(0, np.int64))
    first = np.append(0, np.cumsum(generator.integers(1, 4, n_units)))
    return Window(around, generator.integers(0, N_WORDS, first[-1]).astype(np.int32), first)


def n_places(are_spans: bool) -> int:
    return 4 if are_spans else 3


def made(seed: int, are_spans: bool) -> tuple[Words, Window, NetworkWeights, Any]:
    generator = np.random.default_rng(seed)
    known = words(generator)
    weights = first_weights(known, n_places(are_spans), N_LABELS, (WIDTH, HIDDEN), seed)
    weights.bias[:] = generator.standard_normal(HIDDEN)
    labels = generator.integers(0, N_LABELS, 7).astype(np.int32)
    return known, window(generator, are_spans), weights, labels


def naive_hidden(known: Words, units: Window, weights: NetworkWeights) -> Any:
    """`h` before the non-linearity, word by word."""
    sums = []
    for word in range(N_WORDS):
        begin, end = known.features.indptr[word : word + 2]
        own = sum((weights.of_features[j] for j in known.features.indices[begin:end]),
                  start=np.zeros(WIDTH))  # fmt: skip
        sums.append(own + known.vectors[word] @ weights.of_vectors)
    found = []
    for unit, around in enumerate(units.around):
        value = weights.bias.astype(np.float64)
        for place, word in enumerate(around):
            value = value + sums[word] @ weights.of_window[:, place * HIDDEN : (place + 1) * HIDDEN]
        if len(units.first):
            inside = units.inside[units.first[unit] : units.first[unit + 1]]
            mean = np.mean([sums[word] for word in inside], axis=0)
            value = value + mean @ weights.of_window[:, -HIDDEN:]
        found.append(value)
    return np.array(found)


@pytest.mark.parametrize("are_spans", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_sum_of_rows_is_what_the_layers_give(seed: int, are_spans: bool) -> None:
    known, units, weights, _ = made(seed, are_spans)
    table = tabulated(known.features, known.vectors, weights)
    expected = naive_hidden(known, units, weights)
    assert np.allclose(hidden(table, units, weights.bias), expected, atol=1e-5)


@pytest.mark.parametrize("are_spans", [False, True])
def test_the_way_back_is_the_transpose(are_spans: bool) -> None:
    generator = np.random.default_rng(4)
    units = window(generator, are_spans)
    table = generator.standard_normal((N_WORDS, n_places(are_spans) * HIDDEN)).astype(np.float32)
    slopes = generator.standard_normal((7, HIDDEN)).astype(np.float32)
    forth = hidden(table, units, np.zeros(HIDDEN, np.float32))
    back = np.zeros_like(table)
    add_to_tabulated(slopes, *units, back)
    assert np.vdot(forth, slopes) == pytest.approx(np.vdot(table, back), rel=1e-4)


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


def test_a_window_of_some_units() -> None:
    units = window(np.random.default_rng(0), are_spans=True)
    taken = units.take(np.array([4, 1]))
    assert np.array_equal(taken.around, units.around[[4, 1]])
    expected = [units.inside[units.first[i] : units.first[i + 1]] for i in (4, 1)]
    assert np.array_equal(taken.inside, np.concatenate(expected))
    assert taken.first.tolist() == [0, len(expected[0]), sum(map(len, expected))]
    tokens = window(np.random.default_rng(0), are_spans=False)
    assert len(tokens.take(np.array([2])).around) == 1
