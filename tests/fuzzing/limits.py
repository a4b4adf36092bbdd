"""Bounds of time and memory for an input."""

from __future__ import annotations

import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

LONGEST = 5.0
"""Seconds of processor time that an input may take; by the clock it may take twelve times that.

So a machine with other work makes no hangs, and a lock that nobody releases is one.
"""
LARGEST = 1 << 16
"""Bytes of an input."""
MOST_MEMORY = 64 << 20
"""Bytes by which an input may raise the most memory that the process ever had: 1,000 for each."""
_ROOM = 2 << 30
"""Bytes of addresses that the process may have beyond those at the begin, to save the machine."""
_UNIT = 1 if sys.platform == "darwin" else 1024


class Hang(Exception):
    """An input took too long."""


class Bloat(Exception):
    """An input took too much memory."""


def _stop(signum: int, frame: FrameType | None) -> None:
    raise Hang(f"it took over {LONGEST} s")


def _limit(seconds: float) -> None:
    """Have `_stop` called after so many seconds; 0 for never."""
    for timer, number, factor in (
        (signal.ITIMER_PROF, signal.SIGPROF, 1),
        (signal.ITIMER_REAL, signal.SIGALRM, 12),
    ):
        signal.signal(number, _stop)
        signal.setitimer(timer, factor * seconds)


def most_memory() -> int:
    """The most bytes that the process had, since `_forget` where the system can forget it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _forget() -> None:
    """Let the most memory be that of now."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


class Used:
    """The processor time and memory that an input took."""

    seconds = 0.0
    memory = 0


@contextmanager
def limited() -> Iterator[Used]:
    """Raise `Hang` or `Bloat` for what takes more than it may; other errors get through."""
    used, before, begin = Used(), most_memory(), time.process_time()
    try:
        _limit(LONGEST)
        yield used
    finally:
        _limit(0)
        used.seconds = time.process_time() - begin
        used.memory = most_memory() - before
        if used.memory > MOST_MEMORY // 8:
            _forget()
    if used.seconds > LONGEST:
        _stop(0, None)  # What was raised in a destructor is lost.
    if used.memory > MOST_MEMORY:
        raise Bloat(f"it took {used.memory >> 20} MB")


@contextmanager
def limited_addresses() -> Iterator[None]:
    """A bomb becomes a `MemoryError`, before the machine has no memory left.

    What the process had before is no measure of what an input takes.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    present = _addresses()
    wanted = present + _ROOM if present and soft == resource.RLIM_INFINITY else soft
    _forget()
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _addresses() -> int:
    """Bytes of addresses that the process has; 0 where the system does not say."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0
