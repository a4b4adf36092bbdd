"""What the machine itself gains by a second thread."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, fastmath=True)  # type: ignore[untyped-decorator]
def _multiply_and_add(x, y, rounds):  # type: ignore[no-untyped-def]
    total = 0.0
    for _ in range(rounds):
        for i in range(len(x)):
            total += x[i] * y[i]
    return total


def scale_arithmetic(rounds: int) -> dict[str, Any]:
    """Seconds of one thread over those of two that share its work, which is arithmetic alone.

    Two cores give two; two threads of one core, which some machines show as cores, give little
    more than one.
    """
    ratios = []
    _seconds(1, 1)
    for _ in range(rounds):
        ratios.append(_seconds(1, 2_000_000) / _seconds(2, 1_000_000))
    return {"ratios": ratios, "median": median(ratios)}


def _seconds(n_threads: int, rounds: int) -> float:
    vectors: Sequence[Any] = np.random.default_rng(0).random((2 * n_threads, 1000))
    threads = [
        Thread(target=_multiply_and_add, args=(vectors[2 * i], vectors[2 * i + 1], rounds))
        for i in range(n_threads)
    ]
    begin = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return perf_counter() - begin
