"""Coarse-to-fine search on a grid: choose the best quadrant of a box, and search it more closely.

The box is cut in two along every axis. The centre of each of the `2^d` parts is tried, and the
best part is the next box. The search ends when a box brings no gain. (docs/method.md describes it
for MEMB, maximum entropy with a margin: σ and κ span a square, which has four quadrants.)
"""

import math
from collections.abc import Sequence
from itertools import product

from ...errors import ConfigError
from .axes import Axis, Box, Found, Point, Scores

MOST_AXES = 4


def quadrants(box: Box) -> list[Box]:
    """The `2^d` parts of a box that is cut in two along every axis."""
    return list(product(*(axis.halves() for axis in box)))


def centre(box: Box) -> Point:
    return tuple(axis.setting(axis.centre) for axis in box)


def search(axes: Sequence[Axis], scores_of: Scores, rounds: int) -> Found:
    """The best point of the box that the axes span; a `Searcher` once `rounds` is bound.

    scores_of: gets all points of a round at once. rounds: the largest number of boxes to cut.
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
