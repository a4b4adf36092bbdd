"""Axes of diagrams, cut to the data."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOST = 6
"""Steps between ticks."""
_SHORTEST = 0.02
_ROUND = (1.0, 2.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True)
class Axis:
    """A piece of the line from 0 to 1 with ticks at round numbers; the ends are ticks, too."""

    ticks: list[float]

    def place(self, value: float) -> float:
        """Where a value is between the ends, from 0 to 1."""
        low, high = self.ticks[0], self.ticks[-1]
        return (value - low) / (high - low)


def axis_around(values: Iterable[float]) -> Axis:
    """The shortest axis with at most `MOST` steps of 1, 2 or 5 tens, hundredths or less.

    values: from 0 to 1; the whole line without any.
    """
    inside = list(values) or [0.0, 1.0]
    low, high = min(inside), max(inside)
    if high - low < _SHORTEST:
        low, high = max(0.0, low - _SHORTEST / 2), min(1.0, high + _SHORTEST / 2)
    power = 10.0 ** math.floor(math.log10((high - low) / MOST))
    for step in (power * factor for factor in _ROUND):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= MOST:
            break
    return Axis([round(number * step, 9) for number in range(first, last + 1)])
