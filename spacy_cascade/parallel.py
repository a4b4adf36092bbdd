"""Threads that run kernels in parallel, and a lock for the threads of a caller."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from threading import RLock

from .types import Pointers1d

PIECES = 32
_SMALLEST_PIECE = 1 << 14
LARGEST_PIECE = 1 << 21
"""Entries of one kernel call, about a tenth of a second, so Ctrl-C takes effect soon."""

LEXEME_LOCK = RLock()
"""Protects the tables that components extend while they annotate.

One lock for all is enough: it is held for a short time, its holders wait for no other lock of this
package, and objects that are copied and pickled need none of their own.
"""

if hasattr(os, "register_at_fork"):
    # A forked process must not inherit a table that another thread is writing to.
    os.register_at_fork(
        before=LEXEME_LOCK.acquire,
        after_in_parent=LEXEME_LOCK.release,
        after_in_child=LEXEME_LOCK.release,
    )


def available_cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def split(starts: Pointers1d | range, cost: int = 1, most: int = PIECES) -> list[tuple[int, int]]:
    """Ranges of rows with about equal numbers of entries; they do not depend on the threads.

    starts: int64 `[n + 1]`; row `i` has `starts[i + 1] - starts[i]` entries. cost: work per entry
    and per empty row; a larger cost makes it worth sharing fewer rows. most: how many there are
    unless that makes them too large; 1 for one thread.
    """
    n_rows, before = len(starts) - 1, int(starts[0])

    def work(row: int) -> int:
        """Of the rows before; even an empty row costs something."""
        return (int(starts[row]) - before + row) * cost

    total = work(n_rows)
    n_pieces = max(min(most, total // _SMALLEST_PIECE), total // LARGEST_PIECE, 1)
    rows, targets = range(n_rows + 1), (piece * (total / n_pieces) for piece in range(1, n_pieces))
    cuts = sorted({0, *(bisect_left(rows, target, key=work) for target in targets), n_rows})
    return list(pairwise(cuts))


class Workers:
    """A pool of threads, which start on first use; it can be pickled.

    n_threads: 0 for all cores. Results do not depend on the number, because `split` ignores it
    and each piece of work writes to a separate place.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads or available_cores()
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def __reduce__(self) -> tuple[type[Workers], tuple[int]]:
        return Workers, (self.n_threads,)

    def map(
        self, function: Callable[[int, int], object], bounds: Sequence[tuple[int, int]]
    ) -> None:
        """Call `function(begin, end)` for all ranges, wait, and raise the first error.

        After an error no further ranges are started.
        """
        if self.n_threads == 1 or len(bounds) <= 1:
            for begin, end in bounds:
                function(begin, end)
            return
        if self._pool is None or self._process != os.getpid():
            # A forked process inherits the pool object, but not its threads.
            self._pool = ThreadPoolExecutor(self.n_threads, thread_name_prefix="spacy_cascade")
            self._process = os.getpid()
        waiting = iter(bounds)
        errors: list[tuple[int, BaseException]] = []

        def work() -> None:
            # One task per thread: a task costs as much time as a small range.
            for begin, end in waiting:
                if errors:
                    return
                try:
                    function(begin, end)
                except BaseException as error:
                    errors.append((begin, error))

        futures = [self._pool.submit(work) for _ in range(min(self.n_threads, len(bounds)))]
        try:
            wait(futures)
        except BaseException as error:
            # After Ctrl-C, too, no thread may write to the caller's arrays when this returns.
            errors.append((-1, error))
            wait(futures)
        if errors:
            raise min(errors, key=lambda found: found[0])[1]
