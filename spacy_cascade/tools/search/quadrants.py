"""Coarse-to-fine search on a grid: choose the best quadrant of a box, and search it more closely.

The box is cut in two along every axis. The centre of each of the `2^d` parts is tried, and the
best part is the next box. The search ends when a box brings no gain. (docs/method.md describes it
for MEMB, maximum entropy with a margin: σ and κ span a square, which has four quadrants.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ...errors import ConfigError

Point = tuple[float, ...]
"""One value for each axis."""
_DIGITS = 4
MOST_AXES = 4


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


def quadrants(box: Box) -> list[Box]:
    """The `2^d` parts of a box that is cut in two along every axis."""
    return list(product(*(axis.halves() for axis in box)))


def centre(box: Box) -> Point:
    """The middle of the quadrant."""
    return tuple(axis.setting(axis.centre) for axis in box)


def search(
    axes: Sequence[Axis], scores_of: Callable[[list[Point]], list[float]], rounds: int
) -> Found:
    """The best point of the box that the axes span; the first one wins a tie.

    scores_of: tries all points of a round, and returns the score of each; higher is better.
    rounds: the largest number of boxes to cut.
    Raises `ConfigError` without an axis and for too many axes.
    """
    if not 1 <= len(axes) <= MOST_AXES or rounds < 1:
        raise ConfigError(
            f"A search by quadrants needs 1 to {MOST_AXES} settings and at least 1 round, not "
            f"{len(axes)} and {rounds}. Search other settings in a second run."
        )
    boxes: list[Box] = [tuple(axes)]
    best: tuple[float, Point] = (-math.inf, centre(boxes[0]))
    for _ in range(rounds):
        parts = quadrants(boxes[-1])
        points = [centre(part) for part in parts]
        scores = scores_of(points)
        i = max(range(len(points)), key=scores.__getitem__)
        if not scores[i] > best[0]:
            break
        best = (scores[i], points[i])
        boxes.append(parts[i])
    return Found(best[1], best[0], boxes)
