"""What a worker's process does, here without one: answers, failures, and that nothing stays."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest

from sharding import task
from spacy_cascade.errors import ConfigError, TrainingError
from spacy_cascade.losses.base import CorpusLoss
from spacy_cascade.parallel import Workers
from spacy_cascade.tools.scale import processes
from spacy_cascade.tools.scale.failures import Failure, check_deaths
from spacy_cascade.tools.scale.messages import Answer, Question, Wanted
from spacy_cascade.tools.scale.packing import Inbox, Outbox, write_value
from spacy_cascade.tools.scale.server import ShardServer
from spacy_cascade.tools.scale.shards import Shard, cut


@pytest.fixture
def shard() -> Shard:
    given = task("pairs")
    return next(cut(CorpusLoss(given.data, given.loss, Workers(1)), 1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "team").mkdir()
    return tmp_path / "team"


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Its end of a pipe that is closed when it goes."""
    ours, theirs = Pipe()
    monkeypatch.setattr(processes, "parent_process", lambda: SimpleNamespace(sentinel=theirs))
    yield ours
    ours.close()
    theirs.close()


@pytest.fixture
def interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def question(wanted: Wanted, shard: Shard, generator: np.random.Generator) -> Question:
    data = task("pairs").data
    n_features, width = data.design.unit_features.n_columns, data.structure.n_columns
    return Question(
        wanted, generator.normal(size=(data.design.lexeme_features.n_rows, width)),
        generator.normal(size=(n_features, width)), np.zeros(data.structure.n_transitions),
    )  # fmt: skip


@pytest.mark.usefixtures("interrupts")
def test_a_worker_answers_until_its_driver_has_gone(
    folder: Path, shard: Shard, generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one file, which grows; a question that cannot be read is a failure, and not the end."""
    watching: list[dict[str, Any]] = []

    class Watch:
        def __init__(self, **settings: Any) -> None:
            watching.append(settings)

        def start(self) -> None:
            watching[-1]["is_started"] = True

    made: list[Shard] = []

    def make(own: Shard) -> ShardServer:
        made.append(own)
        return ShardServer(own)

    monkeypatch.setattr(processes, "Thread", Watch)
    monkeypatch.setattr(processes, "ShardServer", make)
    write_value(folder / "shard.0", shard)
    ours, theirs = Pipe()
    questions = [question(wanted, shard, generator) for wanted in Wanted]
    received: list[Any] = []

    def ask() -> None:
        inbox, outbox = Inbox(), Outbox(folder / "question")
        for each in questions:
            ours.send(outbox.put(each))
            path = ours.recv()
            assert path.name.startswith(f"answer.{os.getpid()}.")
            answer: Answer = inbox.get(path)
            received.append({name: np.array(array) for name, array in vars(answer).items()})
        ours.send(folder / "nothing")
        received.append(ours.recv())
        ours.close()

    thread = Thread(target=ask)
    thread.start()
    processes._serve(theirs, folder / "shard.0")
    thread.join()
    server = ShardServer(shard)
    for each, found in zip(questions, received[:-1], strict=True):
        for name, expected in vars(server.answer(each)).items():
            np.testing.assert_array_equal(found[name], expected)
    assert len(made) == 1
    assert isinstance(received[-1], Failure)
    assert "FileNotFoundError" in received[-1].text
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN, "the driver ends its workers"
    assert not folder.exists()
    watch = {"target": processes._end_with_driver, "args": (folder,), "daemon": True}
    assert watching == [{**watch, "is_started": True}]


def test_a_worker_ends_with_its_driver(
    folder: Path, driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even while it computes."""
    codes: list[tuple[int, bool]] = []
    monkeypatch.setattr(os, "_exit", lambda code: codes.append((code, folder.exists())))
    thread = Thread(target=processes._end_with_driver, args=(folder,))
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    assert folder.exists()
    driver.close()
    thread.join(10.0)
    assert codes == [(1, False)]


@pytest.mark.parametrize(("n_refused", "is_gone"), [(0, True), (2, True), (3, False)])
def test_a_folder_is_removed_though_others_write_to_it(
    n_refused: int, is_gone: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, calls = shutil.rmtree, []

    def refuse(path: Path, ignore_errors: bool = False) -> None:
        calls.append(ignore_errors)
        if len(calls) > n_refused:
            remove(path)

    monkeypatch.setattr(shutil, "rmtree", refuse)
    monkeypatch.setattr(processes, "_MOST_REMOVALS", 3)
    processes._remove(folder)
    assert folder.exists() is not is_gone
    assert calls == [True] * min(3, n_refused + 1)


def test_a_fork_of_the_driver_leaves_all_as_it_is(folder: Path) -> None:
    workers = [SimpleNamespace(process=None, end=lambda: ended.append(1))]
    ended: list[int] = []
    processes._tidy(workers, folder, os.getpid() + 1)
    assert folder.exists()
    assert not ended
    processes._tidy(workers, folder, os.getpid())
    assert not folder.exists()
    assert ended == [1]


def test_how_a_worker_ended_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its exit code is known when it has been waited for."""

    class Process:
        exitcode = None

        def join(self, seconds: float | None = None) -> None:
            self.exitcode = -9

        def kill(self) -> None:
            pass

    monkeypatch.setattr(processes.Worker, "start", lambda worker: None)
    team = processes.ProcessTeam([])
    team._workers += [processes.Worker(folder), processes.Worker(folder, process=Process())]
    deaths = [0, 1]
    team._died(1, deaths)
    assert deaths == [0, 2]
    assert team.process_ids == [None, None]
    team._workers[1].process = Process()
    with pytest.raises(TrainingError, match=r"Worker 2 of 2 ended 3 times .*\(exit code -9\)"):
        team._died(1, deaths)
    team.close()


def test_a_question_goes_to_a_new_worker_where_the_old_one_has_gone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Path] = []

    def refuse(path: Path) -> NoReturn:
        raise BrokenPipeError

    def start(worker: Any) -> None:
        worker.connection = SimpleNamespace(send=sent.append, close=lambda: None)

    gone = SimpleNamespace(join=lambda *_: None, kill=lambda: None, exitcode=1)
    monkeypatch.setattr(processes.Worker, "start", start)
    team = processes.ProcessTeam([])
    old: Any = SimpleNamespace(send=refuse, close=lambda: None)
    team._workers.append(processes.Worker(folder, process=gone, connection=old))
    deaths = [0]
    team._send(0, folder, deaths)
    assert (sent, deaths) == ([folder], [1])
    team.close()


def failure_of(error: Exception) -> Failure:
    try:
        raise error
    except Exception as caught:
        return Failure.of(caught)


def test_errors_of_the_package_come_as_they_are() -> None:
    own = ConfigError("Mend it.")
    assert failure_of(own).as_error() is own
    other = failure_of(ZeroDivisionError("by this")).as_error()
    assert isinstance(other, TrainingError)
    text = str(other)
    assert text.startswith("A worker failed with ZeroDivisionError: by this. To find the cause")
    assert "Where it happened:\nTraceback" in text


def test_a_worker_may_end_twice() -> None:
    for n in range(3):
        check_deaths(n, 1, 2, "exit code 7")
    for n in (3, 4):
        with pytest.raises(TrainingError, match=rf"Worker 1 of 2 ended {n} times .*exit code 7"):
            check_deaths(n, 1, 2, "exit code 7")
