"""Calls in processes of their own, which end at once with Ctrl-C and leave no files behind."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import RLock, Thread, current_thread, main_thread
from typing import Any, TypeVar

from tqdm import tqdm

from .errors import TrainingError
from .files import temporary_folder

Result = TypeVar("Result")


class ProcessEnded(TrainingError):
    """A process ended by itself: it was killed, or crashed."""


_TICK_SECONDS = 1.0
_ENDING_SECONDS = 1.0
"""Longest time that processes may take to end, before they are killed."""
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
    temporary files is removed. Raises `ProcessEnded` if one does by itself.
    """
    with _pool(min(processes, len(arguments))) as pool:
        with interrupts_wait():
            waiting = {pool.submit(function, *one) for one in arguments}
        while waiting:
            try:
                done, _ = wait(waiting, _TICK_SECONDS, FIRST_COMPLETED)
                tick()
            except KeyboardInterrupt:
                yield from (one.result() for one in waiting if _has_result(one))
                raise
            waiting -= done
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
            with interrupts_wait():
                waiting.append(pool.submit(function, *one))
            if len(waiting) > _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end at once with an error, and leave no files behind."""
    before = set(active_children())
    with temporary_folder() as folder:
        # Spawned, because the threads of kernels do not survive a fork.
        pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (folder,))
        try:
            yield pool
        except BaseException as error:
            with interrupts_ignored():
                pool.shutdown(wait=False, cancel_futures=True)
                _end(set(active_children()) - before)
                pool.shutdown()
            if isinstance(error, BrokenProcessPool):
                raise ProcessEnded(
                    "A process ended before its work was done, perhaps for want of memory. Try it "
                    "with --processes 1."
                ) from error
            raise
        pool.shutdown()


def _has_result(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _end(children: set[BaseProcess]) -> None:
    """End processes, within little more than a second whatever they do."""
    for child in children:
        child.terminate()
    until = time.monotonic() + _ENDING_SECONDS
    for child in children:
        child.join(max(0.0, until - time.monotonic()))
        if child.is_alive():
            child.kill()
            child.join()
    # A thread of the pool waits for them, too: what it has seen to end is noted a little later.
    until = time.monotonic() + _ENDING_SECONDS
    while children.intersection(active_children()) and time.monotonic() < until:
        time.sleep(0.001)


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """A second Ctrl-C does not disturb what the first one began."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(folder: Path) -> None:
    """Nothing of this process stays behind if it is ended, nor itself if its parent is killed."""
    Thread(target=_end_with_parent, daemon=True).start()
    tempfile.tempdir = str(folder)
    tqdm.set_lock(RLock())  # its own lock is one of the system, which would stay


def _end_with_parent() -> None:
    """Otherwise this process would wait for ever for work of a process that was killed."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


@contextmanager
def interrupts_wait() -> Iterator[None]:
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
