"""What a search is given and gives, whichever way it goes about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..errors import ConfigError

Point = tuple[float, ...]
"""A value on each axis."""
_DIGITS = 4


@dataclass(frozen=True)
class Axis:
    """A setting and its range.

    name: dotted, as in a config. low, high: the range. is_log: cut at geometric means, for
    settings whose order of magnitude matters. is_integer: whole numbers only. Raises
    `ConfigError` for a range that is none.
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
                f"'{self.name}' cannot be searched from {self.low} to {self.high}. Give a lower "
                "and a higher number."
            )
        if self.is_log and self.low <= 0:
            raise ConfigError(
                f"'{self.name}' cannot be searched on a logarithmic scale from {self.low}: its "
                "range has to begin above 0."
            )

    @property
    def centre(self) -> float:
        """The middle of the range, on its scale."""
        if self.is_log:
            return math.sqrt(self.low * self.high)
        return (self.low + self.high) / 2

    def halves(self) -> tuple[Axis, Axis]:
        """The lower and the upper half."""
        return replace(self, high=self.centre), replace(self, low=self.centre)

    def setting(self, value: float) -> float | int:
        """A value as a config should have it: few digits, or none after the point."""
        return round(value) if self.is_integer else float(f"{value:.{_DIGITS}g}")


Box = tuple[Axis, ...]


@dataclass(frozen=True)
class Found:
    """The best point, its score, and the boxes that were looked at, the whole one first."""

    point: Point
    score: float
    boxes: list[Box]


Scores = Callable[[list[Point]], list[float]]
"""Tries points, all of them at once, and gives the score of each; higher is better."""
Searcher = Callable[[Sequence[Axis], Scores], Found]
"""Finds the best point of the box that the axes span; of equal scores the first counts."""
