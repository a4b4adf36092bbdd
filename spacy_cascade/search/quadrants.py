"""Coarse-to-fine search on a grid: keep the best quadrant of a box, and look closer.

The box is cut in two along every axis, the function is tried at the centre of each of the `2^d`
parts, and the best part is the next box; until a box brings no gain over those before
(METHOD.md, MEMB: for σ and κ four quadrants of a square).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ..errors import ConfigError

Point = tuple[float, ...]
"""A value on each axis."""
MOST_AXES = 4
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


def quadrants(box: Box) -> list[Box]:
    """The `2^d` parts of a box that is cut in two along every axis."""
    return list(product(*(axis.halves() for axis in box)))


def centre(box: Box) -> Point:
    """The middle of a box."""
    return tuple(axis.setting(axis.centre) for axis in box)


def search(
    axes: Sequence[Axis], scores_of: Callable[[list[Point]], list[float]], rounds: int
) -> Found:
    """The best point of the box that the axes span; higher scores are better.

    scores_of: tries points, all those of a round at once. rounds: the most boxes to cut. Of equal
    scores the first counts. Raises `ConfigError` for no axis or for too many.
    """
    if not 1 <= len(axes) <= MOST_AXES or rounds < 1:
        raise ConfigError(
            f"A search needs 1 to {MOST_AXES} settings and 1 round or more, not {len(axes)} and "
            f"{rounds}. Search the others after these."
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
