"""Long vectors in blocks of fixed size, so that sums do not depend on the threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ..jit import helper
from ..lanes import doubles, filled, load, one_of, plus, store, times
from ..parallel import Workers
from ..types import Floats1d, Reals1d

Copy = TypeVar("Copy", bound=Reals1d)
_BLOCK = 1 << 18


@helper
def _dot(x, y, begin, end):  # type: ignore[no-untyped-def]
    # Four sums side by side, because one would wait for itself at every step.
    sums, fours = filled(0.0, 4), end - (end - begin) % 4
    for i in range(begin, fours, 4):
        sums = plus(sums, times(doubles(load(x, (i,), 4)), load(y, (i,), 4)))
    first = one_of(sums, 0)
    for i in range(fours, end):
        first += np.float64(x[i]) * y[i]
    return (first + one_of(sums, 1)) + (one_of(sums, 2) + one_of(sums, 3))


@helper
def _add_scaled(factor, x, y, begin, end):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        y[i] += factor * np.float64(x[i])


@helper
def _move_and_dot(factor, x, scale, y, z, begin, end):  # type: ignore[no-untyped-def]
    """As `move_and_dot` and `_dot`, of what has just been written."""
    sums, fours = filled(0.0, 4), end - (end - begin) % 4
    factors, scales = filled(factor, 4), filled(scale, 4)
    for i in range(begin, fours, 4):
        moved = times(plus(load(y, (i,), 4), times(factors, load(x, (i,), 4))), scales)
        store(y, (i,), moved)
        sums = plus(sums, times(moved, load(z, (i,), 4)))
    first = one_of(sums, 0)
    for i in range(fours, end):
        y[i] = (y[i] + factor * np.float64(x[i])) * scale
        first += y[i] * z[i]
    return (first + one_of(sums, 1)) + (one_of(sums, 2) + one_of(sums, 3))


def _blocks(n: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + _BLOCK, n)) for begin in range(0, n, _BLOCK)]


def in_blocks(function: Callable[[slice], object], n: int, workers: Workers) -> None:
    """Call `function` for slices of vectors of length `n`, which it is to work on one by one."""
    workers.map(lambda begin, end: function(slice(begin, end)), _blocks(n))


def copied(x: Reals1d, copy: Copy, workers: Workers) -> Copy:
    """The vector, written to `copy`; numbers that are too large for it become infinite."""

    def block(part: slice) -> None:
        with np.errstate(over="ignore"):
            copy[part] = x[part]

    in_blocks(block, len(x), workers)
    return copy


def dot(x: Reals1d, y: Reals1d, workers: Workers) -> float:
    """`Σ x[i]·y[i]` in double precision, the same bits for any number of threads."""
    return _sum(lambda begin, end: _dot(x, y, begin, end), len(x), workers)


def move_and_dot(
    factor: float, x: Reals1d, scale: float, y: Floats1d, z: Reals1d, workers: Workers
) -> float:
    """`y = scale·(y + factor·x)` in place, and then `Σ y[i]·z[i]`, as `dot` has it.

    One pass through memory, where the directions of L-BFGS spend their time.
    """
    return _sum(
        lambda begin, end: _move_and_dot(factor, x, scale, y, z, begin, end), len(y), workers
    )


def _sum(of_block: Callable[[int, int], float], n: int, workers: Workers) -> float:
    sums = np.zeros((n - 1) // _BLOCK + 1)

    def block(begin: int, end: int) -> None:
        sums[begin // _BLOCK] = of_block(begin, end)

    workers.map(block, _blocks(n))
    return float(sums.sum())


def add_scaled(factor: float, x: Reals1d, y: Floats1d, workers: Workers) -> None:
    """`y += factor·x` in place."""
    workers.map(lambda begin, end: _add_scaled(factor, x, y, begin, end), _blocks(len(x)))
