"""Calls in processes of their own, which end at once with Ctrl-C and leave no files behind."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from tqdm import tqdm

from ..errors import TrainingError
from ..files import temporary_folder

Result = TypeVar("Result")

_TICK_SECONDS = 1.0


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
    before = set(active_children())
    with (
        temporary_folder() as folder,
        # Spawned, because the threads of kernels do not survive a fork.
        ProcessPoolExecutor(
            min(processes, len(arguments)), get_context("spawn"), _begin, (folder,)
        ) as pool,
    ):
        try:
            with _interrupts_wait():
                waiting = {pool.submit(function, *one) for one in arguments}
            while waiting:
                done, waiting = wait(waiting, _TICK_SECONDS, FIRST_COMPLETED)
                tick()
                for future in done:
                    yield future.result()
        except BrokenProcessPool as error:
            raise TrainingError(
                "A process ended before its training did, perhaps for want of memory. Try it with "
                "--processes 1."
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - before:
                child.terminate()
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
