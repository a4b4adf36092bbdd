"""Calls in processes of their own, which end at once with Ctrl-C and leave no files behind."""

from __future__ import annotations

import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from tqdm import tqdm

from .errors import TrainingError
from .files import temporary_folder

Result = TypeVar("Result")

_TICK_SECONDS = 1.0
_ENDING_SECONDS = 5.0
"""Longest time that a process may take to end, before its folder is removed."""
_AHEAD = 3
"""Calls that wait for each process, so that none is idle."""


def run_in_processes(
    function: Callable[..., Result],
    arguments: Sequence[tuple[Any, ...]],
    processes: int,
    tick: Callable[[], object],
) -> Iterator[Result]:
    """Results of the calls with each of the arguments, as they come.

    function, arguments: can be pickled. tick: called about once a second while there is nothing
    new. An error, Ctrl-C too, ends all processes at once; what they had written to the folder for
    temporary files is removed. Raises `TrainingError` if a process ends by itself.
    """
    with _pool(min(processes, len(arguments))) as pool:
        with _interrupts_wait():
            waiting = {pool.submit(function, *one) for one in arguments}
        while waiting:
            done, waiting = wait(waiting, _TICK_SECONDS, FIRST_COMPLETED)
            tick()
            for future in done:
                yield future.result()


def stream_through_processes(
    function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], processes: int
) -> Iterator[Result]:
    """Results of the calls with each of the arguments, in their order, with bounded memory.

    arguments: read as they are needed, no more than three for each process ahead. All else is as
    with `run_in_processes`.
    """
    waiting: deque[Future[Result]] = deque()
    with _pool(processes) as pool:
        for one in arguments:
            with _interrupts_wait():
                waiting.append(pool.submit(function, *one))
            if len(waiting) > _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end at once with an error, and leave no files behind."""
    before = set(active_children())
    with (
        temporary_folder() as folder,
        # Spawned, because the threads of kernels do not survive a fork.
        ProcessPoolExecutor(processes, get_context("spawn"), _begin, (folder,)) as pool,
    ):
        try:
            yield pool
        except BrokenProcessPool as error:
            raise TrainingError(
                "A process ended before its work was done, perhaps for want of memory. Try it with "
                "--processes 1."
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            children = set(active_children()) - before
            for child in children:
                child.terminate()
            for child in children:
                child.join(_ENDING_SECONDS)
            raise


def _begin(folder: Path) -> None:
    """Nothing of this process stays behind if it is ended."""
    tempfile.tempdir = str(folder)
    tqdm.set_lock(RLock())  # its own lock is one of the system, which would stay


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Ctrl-C takes effect afterwards, and never in processes that start meanwhile.

    They inherit that it is blocked: the process that starts them ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
