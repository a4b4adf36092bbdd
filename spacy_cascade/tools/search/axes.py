"""The input and output of every search method."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...errors import ConfigError

Point = tuple[float, ...]
"""One value for each axis."""
_DIGITS = 4


@dataclass(frozen=True)
class Axis:
    """A setting and its range.

    name: dotted, as in a config. low, high: the range. is_log: logarithmic scale, for settings
    whose order of magnitude matters. is_integer: whole numbers only. Raises `ConfigError` for an
    invalid range.
    """

    name: str
    low: float
    high: float
    is_log: bool = False
    is_integer: bool = False

    def __post_init__(self) -> None:
        bounds = (self.low, self.high)
        if not (all(map(math.isfinite, bounds)) and self.low < self.high):
            raise ConfigError(
                f"'{self.name}' cannot be searched from {self.low} to {self.high}. Give the lower "
                "number first."
            )
        if self.is_log and self.low <= 0:
            raise ConfigError(
                f"'{self.name}' cannot be searched on a logarithmic scale from {self.low}. Choose "
                "a range above 0, or leave out ':log'."
            )

    @property
    def centre(self) -> float:
        if self.is_log:
            return math.sqrt(self.low * self.high)
        return (self.low + self.high) / 2

    def halves(self) -> tuple[Axis, Axis]:
        return replace(self, high=self.centre), replace(self, low=self.centre)

    def setting(self, value: float) -> float | int:
        """A value as it is written to the config, with few digits."""
        return round(value) if self.is_integer else float(f"{value:.{_DIGITS}g}")


Box = tuple[Axis, ...]


@dataclass(frozen=True)
class Found:
    """The best point, its score, and the boxes that were searched, from the largest."""

    point: Point
    score: float
    boxes: list[Box]


Scores = Callable[[list[Point]], list[float]]
"""Tries all points in parallel, and returns the score of each; higher is better."""
Searcher = Callable[[Sequence[Axis], Scores], Found]
"""Finds the best point of the box that the axes span; the first one wins a tie."""
