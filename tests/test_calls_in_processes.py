"""What processes are asked and told, tried in this one; `test_child_processes.py` starts some."""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tqdm import tqdm

from spacy_cascade import processes
from spacy_cascade.processes import (
    ProcessEnded,
    interrupts_ignored,
    interrupts_wait,
    run_in_processes,
    stream_through_processes,
)


class Pool:
    """Stands for processes: a call is done at once, or never."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.is_blocked: list[bool] = []
        self.futures: list[Future[Any]] = []

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        if hasattr(signal, "pthread_sigmask"):
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
            self.is_blocked.append(signal.SIGINT in blocked)
        future: Future[Any] = Future()
        self.futures.append(future)
        with suppress(NotImplementedError):  # of a call that is never done (`root_of`)
            try:
                future.set_result(function(*arguments))
            except ValueError as error:
                future.set_exception(error)
        return future


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    found = Pool()

    @contextmanager
    def of_size(size: int) -> Iterator[Pool]:
        found.sizes.append(size)
        yield found

    monkeypatch.setattr(processes, "_pool", of_size)
    return found


def root_of(number: int) -> float:
    """Nothing comes of 0, and an error of what is below."""
    if number == 0:
        raise NotImplementedError  # the pool leaves its result open for ever
    if number < 0:
        raise ValueError(f"no {number}")
    return float(number**0.5)


@pytest.mark.parametrize(("n_processes", "size"), [(1, 1), (2, 2), (3, 3), (9, 3)])
def test_no_more_processes_than_calls(n_processes: int, size: int, pool: Pool) -> None:
    """And none of them can be interrupted as it starts."""
    ticks: list[int] = []
    calls = [(4,), (9,), (16,)]
    found = list(run_in_processes(root_of, calls, n_processes, lambda: ticks.append(1)))
    assert (sorted(found), pool.sizes, ticks) == ([2.0, 3.0, 4.0], [size], [1])
    assert list(stream_through_processes(root_of, calls, n_processes)) == [2.0, 3.0, 4.0]
    assert pool.sizes == [size, n_processes]
    assert all(pool.is_blocked)


def test_results_that_are_there_come_before_an_interrupt(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(*_: object) -> None:
        pool.futures[0].cancel()
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "wait", wait)
    results = run_in_processes(root_of, [(0,), (0,), (-1,), (4,), (9,)], 2, lambda: None)
    assert sorted([next(results), next(results)]) == [2.0, 3.0]
    with pytest.raises(KeyboardInterrupt):
        next(results)


def test_so_they_do_where_the_tick_is_interrupted(pool: Pool) -> None:
    def tick() -> None:
        raise KeyboardInterrupt

    results = run_in_processes(root_of, [(4,), (9,)], 2, tick)
    assert sorted([next(results), next(results)]) == [2.0, 3.0]
    with pytest.raises(KeyboardInterrupt):
        next(results)


@pytest.mark.parametrize("n_processes", [1, 2, 4])
def test_three_calls_wait_for_each_process(n_processes: int, pool: Pool) -> None:
    results = stream_through_processes(root_of, ((n * n,) for n in range(1, 40)), n_processes)
    for n in range(1, 5):
        assert next(results) == n
        assert len(pool.futures) == 3 * n_processes + n
    assert list(results) == list(range(5, 40))


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand for processes."""
    monkeypatch.setattr(processes, "ProcessPoolExecutor", lambda size, *_: ThreadPoolExecutor(size))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (BrokenProcessPool("gone"), ProcessEnded, "ended before its work was done.* 1.$"),
        (ValueError("no -1"), ValueError, "^no -1$"),
        (KeyboardInterrupt("now"), KeyboardInterrupt, "^now$"),
    ],
)
def test_after_an_error_what_is_at_work_ends_and_nothing_else_begins(
    error: BaseException,
    expected: type[BaseException],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No other interrupt disturbs that."""
    ended, begun = threading.Event(), threading.Event()
    handlers: list[object] = []

    def work() -> bool:
        begun.set()
        is_told = ended.wait(30)
        time.sleep(0.02)
        return is_told

    def end(children: object) -> None:
        handlers.append(signal.getsignal(signal.SIGINT))
        ended.set()

    monkeypatch.setattr(processes, "_end", end)
    futures: list[Future[bool]] = []

    def fail() -> None:
        with processes._pool(1) as pool:
            futures.extend([pool.submit(work), pool.submit(work)])
            assert begun.wait(30)
            raise error

    with pytest.raises(expected, match=message):
        fail()
    assert futures[0].result(0)
    assert futures[1].cancelled()
    assert handlers == [signal.SIG_IGN]


@pytest.mark.usefixtures("threads")
def test_without_an_error_all_work_is_done_at_the_end() -> None:
    with processes._pool(1) as pool:
        futures = [pool.submit(time.sleep, 0.02) for _ in range(2)]
    assert all(future.done() and not future.cancelled() for future in futures)


def test_further_interrupts_are_ignored_in_the_thread_that_gets_them() -> None:
    def handler() -> object:
        with interrupts_ignored():
            return signal.getsignal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert handler() is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with ThreadPoolExecutor(1) as other:
            assert other.submit(handler).result() is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


class Clock:
    def __init__(self) -> None:
        self.now, self.pauses = 0.0, 0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses += 1


class Child:
    """Stands for a process that ends some seconds after it is told to, by a clock of its own."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.clock, self.seconds, self.end = clock, seconds, float("inf")
        self.told: list[str] = []

    def terminate(self) -> None:
        self.told.append("terminate")
        self.end = self.clock.now + self.seconds

    def kill(self) -> None:
        self.told.append("kill")
        self.end = self.clock.now + 0.01

    def is_alive(self) -> bool:
        return self.clock.now < self.end

    def join(self, seconds: float = float("inf")) -> None:
        assert seconds >= 0.0
        self.clock.now = max(self.clock.now, min(self.end, self.clock.now + seconds))


@pytest.mark.parametrize(
    ("seconds", "told", "end"),
    [
        ((0.25, 0.5), ["terminate"], 0.5),
        ((0.0, 1.0), ["terminate"], 1.0),
        ((1.5, 2.0), ["terminate", "kill"], 1.02),
    ],
)
@pytest.mark.parametrize("n_noted_late", [0, 5, 9999])
def test_processes_end_within_a_second_together(
    seconds: tuple[float, ...],
    told: list[str],
    end: float,
    n_noted_late: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are noted a little later, which is waited for, but no longer than a second more."""
    clock = Clock()
    children: Any = {Child(clock, each) for each in seconds}
    n_asked = 0

    def active_children() -> list[Any]:
        nonlocal n_asked
        n_asked += 1
        assert n_asked < 2000, "this takes time of the processor"
        return list(children) if n_asked <= n_noted_late else []

    monkeypatch.setattr(processes, "time", clock)
    monkeypatch.setattr(processes, "active_children", active_children)
    processes._end(children)
    assert not any(child.is_alive() for child in children)
    assert [child.told for child in children] == [told, told]
    assert clock.now == pytest.approx(end + min(0.001 * n_noted_late, 1.0), abs=0.002)
    assert clock.pauses == pytest.approx(min(n_noted_late, 1000), abs=1)


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Codes that this process would have ended with."""
    found: list[int] = []
    monkeypatch.setattr(processes, "os", SimpleNamespace(_exit=found.append))
    return found


def test_a_process_ends_when_its_parent_does(
    ends: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe stands for the parent: who has its other end is told when that is closed."""
    here, there = Pipe(duplex=False)
    parent = SimpleNamespace(sentinel=here)
    monkeypatch.setattr(processes, "parent_process", lambda: parent)
    watcher = threading.Thread(target=processes._end_with_parent)
    watcher.start()
    watcher.join(0.1)
    assert (ends, watcher.is_alive()) == ([], True)
    there.close()
    watcher.join(30)
    assert (ends, watcher.is_alive()) == ([1], False)
    here.close()


def test_a_process_without_a_parent_does_not_end(ends: list[int]) -> None:
    processes._end_with_parent()
    assert not ends


def test_a_process_begins_with_a_folder_of_its_own_and_watches_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may end while the parent goes on."""
    watchers: list[bool] = []
    watched = threading.Event()

    def watch() -> None:
        watchers.append(threading.current_thread().daemon)
        watched.set()

    monkeypatch.setattr(processes, "_end_with_parent", watch)
    monkeypatch.setattr(tempfile, "tempdir", None)
    lock = tqdm.get_lock()
    try:
        processes._begin(tmp_path)
        assert isinstance(tqdm.get_lock(), type(threading.RLock()))
    finally:
        tqdm.set_lock(lock)
    assert watched.wait(30)
    assert (watchers, tempfile.gettempdir()) == ([True], str(tmp_path))


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signal can wait")
def test_interrupts_wait_where_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    mask = signal.pthread_sigmask
    with interrupts_wait():
        assert signal.SIGINT in mask(signal.SIG_BLOCK, [])
    assert signal.SIGINT not in mask(signal.SIG_BLOCK, [])
    monkeypatch.delattr(signal, "pthread_sigmask")
    with interrupts_wait():
        assert signal.SIGINT not in mask(signal.SIG_BLOCK, [])
