"""Long vectors in blocks of fixed size, so that sums do not depend on the threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ..jit import helper
from ..parallel import Workers
from ..types import Floats1d, Reals1d

Copy = TypeVar("Copy", bound=Reals1d)
_BLOCK = 1 << 18


@helper
def _dot(x, y, begin, end):  # type: ignore[no-untyped-def]
    # Four sums side by side, because one would wait for itself at every step.
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    fours = end - (end - begin) % 4
    for i in range(begin, fours, 4):
        a += np.float64(x[i]) * y[i]
        b += np.float64(x[i + 1]) * y[i + 1]
        c += np.float64(x[i + 2]) * y[i + 2]
        d += np.float64(x[i + 3]) * y[i + 3]
    for i in range(fours, end):
        a += np.float64(x[i]) * y[i]
    return (a + b) + (c + d)


@helper
def _add_scaled(factor, x, y, begin, end):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        y[i] += factor * x[i]


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
    sums = np.zeros((len(x) - 1) // _BLOCK + 1)

    def block(begin: int, end: int) -> None:
        sums[begin // _BLOCK] = _dot(x, y, begin, end)

    workers.map(block, _blocks(len(x)))
    return float(sums.sum())


def add_scaled(factor: float, x: Reals1d, y: Floats1d, workers: Workers) -> None:
    """`y += factor·x` in place."""
    workers.map(lambda begin, end: _add_scaled(factor, x, y, begin, end), _blocks(len(x)))
