"""Threads: those of kernels that release the interpreter lock, and those of a caller."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import RLock

import numpy as np

from .types import Pointers1d

_PIECES = 32
_SMALLEST_PIECE = 1 << 14
_LARGEST_PIECE = 1 << 21
"""Entries of one kernel call: about a tenth of a second, so that Ctrl-C is seen."""

LEXEME_LOCK = RLock()
"""Held while a table is read or written that components add to while they annotate.

One for all tables: it is held for a short time only, nothing that holds it waits for another
lock of ours, and objects that are copied and pickled need not hold one.
"""

if hasattr(os, "register_at_fork"):
    # No process begins with a table that another thread of its parent was writing to.
    os.register_at_fork(
        before=LEXEME_LOCK.acquire,
        after_in_parent=LEXEME_LOCK.release,
        after_in_child=LEXEME_LOCK.release,
    )


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def split(starts: Pointers1d, cost: int = 1) -> list[tuple[int, int]]:
    """Ranges of rows with about equal numbers of entries, whatever the number of threads.

    starts: int64 `[n + 1]`, ascending; row `i` has `starts[i + 1] - starts[i]` entries. cost:
    of an entry and of an empty row, for work that is worth sharing though its rows are few.
    """
    n_rows = len(starts) - 1
    # A row costs something even when it is empty.
    work = (starts - starts[0] + np.arange(n_rows + 1)) * cost
    total = int(work[-1])
    n_pieces = max(min(_PIECES, total // _SMALLEST_PIECE), total // _LARGEST_PIECE, 1)
    targets = np.arange(1, n_pieces) * (total / n_pieces)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(work, targets), [n_rows]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


class Workers:
    """A number of threads.

    n_threads: 0 for all cores. Pieces of work are cut by `split` and write to separate
    places, so results do not depend on the number. Picklable; threads start on first use.
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
        """Call `function(begin, end)` for all ranges and wait for all; then raise the first error.

        Pieces that no thread has begun when one fails are left out.
        """
        if self.n_threads == 1 or len(bounds) <= 1:
            for begin, end in bounds:
                function(begin, end)
            return
        if self._pool is None or self._process != os.getpid():
            # A forked process has the pool of its parent, but not the threads.
            self._pool = ThreadPoolExecutor(self.n_threads, thread_name_prefix="spacy_cascade")
            self._process = os.getpid()
        waiting = iter(bounds)
        errors: list[tuple[int, BaseException]] = []

        def work() -> None:
            # One call a thread, not one a piece: handing over costs as much as a small piece.
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
            # Ctrl-C: no thread may write to the caller's arrays after the call.
            errors.append((-1, error))
            wait(futures)
        if errors:
            raise min(errors, key=lambda found: found[0])[1]
