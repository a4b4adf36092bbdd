"""Work cut into pieces, and threads that do them."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade import parallel
from spacy_cascade.parallel import LEXEME_LOCK, Workers, available_cores, split


def starts_of(sizes: list[int], begin: int = 0) -> np.ndarray:
    return begin + np.cumsum([0, *sizes], dtype=np.int64)


@given(st.lists(st.integers(0, 5000), max_size=50), st.integers(0, 9), st.integers(1, 300))
def test_pieces_cover_all_rows_in_order(sizes, begin, cost):
    pieces = split(starts_of(sizes, begin), cost)
    assert [row for first, last in pieces for row in range(first, last)] == list(range(len(sizes)))
    assert all(first < last for first, last in pieces)


def test_no_rows_are_no_work():
    assert split(starts_of([])) == []


@pytest.mark.parametrize("sizes", [[1] * 200_000, [1000] * 200, [10_000] + [10] * 10_000])
def test_pieces_are_about_equal(sizes):
    starts = starts_of(sizes)
    work = [starts[last] - starts[first] + last - first for first, last in split(starts)]
    assert len(work) > 4
    # A piece ends with the row that fills it.
    assert max(work) <= sum(work) / len(work) + max(sizes) + 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_piece_is_done_once(threads):
    done: list[tuple[int, int]] = []
    bounds = [(n, n + 1) for n in range(20)]
    Workers(threads).map(lambda begin, end: done.append((begin, end)), bounds)
    assert sorted(done) == bounds


def test_one_thread_works_in_the_calling_one():
    names = set()
    bounds = [(0, 1), (1, 2)]
    Workers(1).map(lambda *_: names.add(threading.current_thread().name), bounds)
    assert names == {threading.current_thread().name}
    Workers(2).map(lambda *_: names.add(threading.current_thread().name), bounds)
    assert any(name.startswith("spacy_cascade") for name in names)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_error_is_raised(threads):
    def fail(begin: int, _: int) -> None:
        raise ValueError(f"piece {begin}")

    with pytest.raises(ValueError, match="piece 3"):
        Workers(threads).map(fail, [(3, 4), (4, 5)])


def test_no_piece_is_at_work_after_an_error():
    at_work = []

    def piece(begin: int, _: int) -> None:
        if begin == 0:
            raise ValueError("piece 0")
        at_work.append(begin)
        time.sleep(0.05)
        at_work.remove(begin)

    with pytest.raises(ValueError, match="piece 0"):
        Workers(2).map(piece, [(n, n + 1) for n in range(4)])
    assert not at_work


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda w: pickle.loads(pickle.dumps(w))])
def test_copies_have_threads_of_their_own(copied):
    workers = Workers(2)
    seen = []
    workers.map(lambda *bounds: seen.append(bounds), [(0, 1), (1, 2)])
    other = copied(workers)
    assert other.n_threads == 2
    other.map(lambda *bounds: seen.append(bounds), [(2, 3), (3, 4)])
    assert sorted(seen) == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    workers, bounds = Workers(2), [(0, 1), (1, 2)]

    def meet() -> None:
        both = threading.Barrier(2)
        workers.map(lambda *_: both.wait(30.0), bounds)

    meet()
    forked = get_context("fork").Process(target=meet)
    forked.start()
    forked.join(30.0)
    forked.kill()
    assert forked.exitcode == 0


def test_no_number_means_all_cores():
    assert Workers(0).n_threads == available_cores() >= 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_waits_until_no_thread_writes_to_a_table():
    written = []

    def write() -> None:
        with LEXEME_LOCK:
            held.set()
            time.sleep(0.3)
            written.append(True)

    held = threading.Event()
    thread = threading.Thread(target=write)
    thread.start()
    held.wait()
    process = os.fork()
    if process == 0:
        os._exit(0 if written and LEXEME_LOCK.acquire(timeout=1.0) else 1)
    assert os.waitpid(process, 0)[1] == 0
    thread.join()
    assert LEXEME_LOCK.acquire(timeout=1.0)
    LEXEME_LOCK.release()


def test_rows_behind_others_are_divided_like_those_at_the_beginning():
    starts = np.arange(0, 10**6, 7)
    assert split(starts + 10**7) == split(starts)
    assert len(split(starts)) > 10


def test_after_an_error_no_more_pieces_are_begun():
    begun = []

    def piece(begin: int, _: int) -> None:
        begun.append(begin)
        if begin == 0:
            raise ValueError("piece 0")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="piece 0"):
        Workers(2).map(piece, [(n, n + 1) for n in range(100)])
    assert len(begun) < 50


def test_threads_are_kept_and_one_piece_needs_none():
    workers, threads = Workers(2), set()
    bounds = [(0, 1), (1, 2), (2, 3)]
    workers.map(lambda *_: threads.add(threading.current_thread()), bounds[:1])
    assert threads == {threading.current_thread()}
    for _ in range(3):
        workers.map(lambda *_: threads.add(threading.current_thread()), bounds)
    assert len(threads - {threading.current_thread()}) <= 2


@pytest.mark.parametrize(("counted", "cores"), [(3, 3), (None, 1)])
def test_cores_where_the_system_does_not_say_which_may_be_used(counted, cores, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert available_cores() == cores
    assert Workers(0).n_threads == cores


@pytest.mark.parametrize(
    ("thousandths", "n_pieces"),
    [(1, 1), (1000, 1), (1999, 1), (2000, 2), (5000, 5), (32_000, 32), (100_000, 32)],
)
def test_as_many_pieces_as_the_work_is_worth(thousandths, n_pieces):
    """One for each 16,384 entries and rows, up to 32."""
    n_rows = thousandths * 4096 // 1000
    assert len(split(range(0, 3 * n_rows + 1, 3))) == n_pieces
    assert len(split(range(n_rows // 2 + 1), 4)) == n_pieces


def test_very_much_work_has_more_pieces():
    """One for each 2,097,152 entries and rows."""
    assert len(split(range(0, 3 * 40 * 2**19 + 1, 3))) == 40


def test_an_interrupt_waits_for_what_is_under_way(monkeypatch):
    """It comes before the errors of pieces, and no more of them are begun."""
    wait, calls, begun, ended = parallel.wait, [], [], []

    def interrupted(futures):
        calls.append(len(futures))
        if len(calls) == 1:
            raise KeyboardInterrupt
        return wait(futures)

    def piece(begin: int, _: int) -> None:
        begun.append(begin)
        time.sleep(0.05)
        ended.append(begin)
        if begin == 0:
            raise ValueError("piece 0")

    monkeypatch.setattr(parallel, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Workers(2).map(piece, [(n, n + 1) for n in range(50)])
    assert calls == [2, 2]
    assert sorted(begun) == sorted(ended)
    assert len(begun) <= 4


def test_no_more_threads_than_pieces(monkeypatch):
    submitted = []

    class Pool(ThreadPoolExecutor):
        def submit(self, work):
            submitted.append(work)
            return super().submit(work)

    monkeypatch.setattr(parallel, "ThreadPoolExecutor", Pool)
    Workers(4).map(lambda *_: None, [(0, 1), (1, 2)])
    assert len(submitted) == 2
    Workers(2).map(lambda *_: None, [(n, n + 1) for n in range(9)])
    assert len(submitted) == 4
