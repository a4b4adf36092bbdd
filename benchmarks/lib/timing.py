"""Clocks, and timings of several systems that take turns."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time
from typing import Any


class Stopwatch:
    """Wall-clock time and processor time while it runs.

    passed: wall-clock seconds. computed: processor seconds of all threads, and of child processes
    that have ended, which are steadier on a machine that has other work to do.
    """

    def __init__(self) -> None:
        self.passed = 0.0
        self.computed = 0.0

    def __enter__(self) -> Stopwatch:
        self._begin = (perf_counter(), _computed())
        return self

    def __exit__(self, *_: object) -> None:
        self.passed += perf_counter() - self._begin[0]
        self.computed += _computed() - self._begin[1]

    def elapsed(self) -> float:
        """Wall-clock seconds until now, while it runs."""
        return self.passed + perf_counter() - self._begin[0]

    def elapsed_computed(self) -> float:
        """Processor seconds until now, while it runs."""
        return self.computed + _computed() - self._begin[1]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop for a while within a block that is timed."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()


def _computed() -> float:
    of_children = os.times()
    return process_time() + of_children.children_user + of_children.children_system


class Timings:
    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.computed: dict[str, list[float]] = {}

    def add(self, name: str, work: Callable[[], Iterable[object]], passes: int = 1) -> None:
        """Time the median of some passes and keep it as the next round of a system.

        work: does what is not timed and returns an iterable that does the rest.
        """
        watches = []
        for _ in range(passes):
            results = work()
            gc.collect()
            with Stopwatch() as watch:
                for _ in results:
                    pass
            watches.append(watch)
        self.seconds.setdefault(name, []).append(median(w.passed for w in watches))
        self.computed.setdefault(name, []).append(median(w.computed for w in watches))

    def rates(self, n_tokens: int) -> dict[str, Any]:
        """Median tokens per second, and the seconds of each round."""
        return {
            "tokens": n_tokens,
            "tokens_per_second": {k: n_tokens / median(v) for k, v in self.seconds.items()},
            "seconds": self.seconds,
            "computed_seconds": self.computed,
        }


def median_ratio(seconds: Mapping[str, Sequence[float]], slow: str, fast: str) -> float:
    """Seconds of one system divided by those of another; median over rounds."""
    return median(a / b for a, b in zip(seconds[slow], seconds[fast], strict=True))


def speed_ups(slow: Sequence[float], fast: Sequence[float]) -> list[float]:
    """Seconds of one training divided by those of another, update by update.

    The first two entries do not count: `initialize`, and the update that encodes the corpus.
    """
    return [a / b for a, b in zip(slow[2:], fast[2:], strict=True)]
