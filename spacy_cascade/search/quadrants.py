"""Coarse-to-fine search on a grid: keep the best quadrant of a box, and look closer.

The box is cut in two along every axis, the function is tried at the centre of each of the `2^d`
parts, and the best part is the next box; until a box brings no gain over those before
(METHOD.md, MEMB: for σ and κ four quadrants of a square).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from ..errors import ConfigError
from .axes import Axis, Box, Found, Point, Scores

MOST_AXES = 4


def quadrants(box: Box) -> list[Box]:
    """The `2^d` parts of a box that is cut in two along every axis."""
    return list(product(*(axis.halves() for axis in box)))


def centre(box: Box) -> Point:
    """The middle of a box."""
    return tuple(axis.setting(axis.centre) for axis in box)


def search(axes: Sequence[Axis], scores_of: Scores, rounds: int) -> Found:
    """The best point of the box that the axes span; a `Searcher` but for the rounds.

    scores_of: gets all points of a round at once. rounds: the most boxes to cut. Raises
    `ConfigError` for no axis or for too many.
    """
    if not 1 <= len(axes) <= MOST_AXES or rounds < 1:
        raise ConfigError(
            f"A search needs 1 to {MOST_AXES} settings and 1 round or more, not {len(axes)} and "
            f"{rounds}. Search the others after these, or all at once with --backend optuna."
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
