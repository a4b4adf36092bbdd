"""Axes hold all data, begin and end at round numbers, and are no longer than they must be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.tools.reports.axes import MOST, axis_around

SHARES = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(SHARES, min_size=1, max_size=20))
def test_axes_hold_the_data(values: list[float]) -> None:
    axis = axis_around(values)
    steps = [after - before for before, after in zip(axis.ticks, axis.ticks[1:], strict=False)]
    assert 1 <= len(steps) <= MOST
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert f"{steps[0]:e}"[0] in "125"
    assert all(-1e-6 <= axis.place(value) <= 1 + 1e-6 for value in values)
    assert axis.ticks[0] >= 0
    assert axis.ticks[-1] <= 1 + 1e-9
    # Less than one step is empty at either end, except around a single point.
    if max(values) - min(values) > 0.02:
        assert min(values) - axis.ticks[0] < steps[0] + 1e-6
        assert axis.ticks[-1] - max(values) < steps[0] + 1e-6


def test_axes_by_hand() -> None:
    assert axis_around([0.776, 0.99]).ticks == [0.75, 0.8, 0.85, 0.9, 0.95, 1.0]
    assert axis_around([]).ticks == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert axis_around([1.0]).ticks == [0.99, 0.992, 0.994, 0.996, 0.998, 1.0]
