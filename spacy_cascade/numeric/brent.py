"""The least point of a function of one variable, without its derivative."""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = (3 - math.sqrt(5)) / 2
"""The smaller part of a golden section."""


def least_point(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """Where a function is least between two bounds, to within three times the tolerance.

    A parabola through the three best points gives the next one, or a golden section where it leads
    nowhere (Brent 1973, Algorithms for Minimization without Derivatives, chapter 5). function: has
    one minimum between the bounds, which may be a bound; it is asked about a dozen times where it
    is smooth, and never at the bounds.
    """
    x = low + _GOLDEN * (high - low)
    best = second = third = (function(x), x)
    step = before = 0.0
    while True:
        x, middle = best[1], (low + high) / 2
        if abs(x - middle) + (high - low) / 2 <= 2 * tolerance:
            return x
        over = _step_of_parabola(best, second, third)
        if abs(over) < abs(before) / 2 and low < x + over < high:
            before, step = step, over
            if min(x + step - low, high - x - step) < 2 * tolerance:
                step = math.copysign(tolerance, middle - x)
        else:
            before = (high if x < middle else low) - x
            step = _GOLDEN * before
        at = x + (step if abs(step) >= tolerance else math.copysign(tolerance, step))
        new = (function(at), at)
        if new[0] <= best[0]:
            low, high = (x, high) if at >= x else (low, x)
            best, second, third = new, best, second
            continue
        low, high = (at, high) if at < x else (low, at)
        if new[0] <= second[0] or second is best:
            second, third = new, second
        elif new[0] <= third[0] or third is best or third is second:
            third = new


def _step_of_parabola(
    best: tuple[float, float], second: tuple[float, float], third: tuple[float, float]
) -> float:
    """From the best point to the vertex of the parabola through three; infinite without one."""
    x = best[1]
    r = (x - second[1]) * (best[0] - third[0])
    q = (x - third[1]) * (best[0] - second[0])
    divisor = 2 * (r - q)
    return ((x - third[1]) * q - (x - second[1]) * r) / divisor if divisor else math.inf
