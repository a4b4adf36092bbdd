"""What the network computes, against loops, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.systems.word_window.layer import add_to_tabulated, hidden, tabulated
from window_layers import HIDDEN, N_WORDS, made, n_places, naive_hidden, window


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


def test_a_window_of_some_units() -> None:
    units = window(np.random.default_rng(0), are_spans=True)
    taken = units.take(np.array([4, 1]))
    assert np.array_equal(taken.around, units.around[[4, 1]])
    expected = [units.inside[units.first[i] : units.first[i + 1]] for i in (4, 1)]
    assert np.array_equal(taken.inside, np.concatenate(expected))
    assert taken.first.tolist() == [0, len(expected[0]), sum(map(len, expected))]
    tokens = window(np.random.default_rng(0), are_spans=False)
    assert len(tokens.take(np.array([2])).around) == 1
