"""Workers that are processes of this machine.

Shards, questions and answers stand in files that are mapped into memory, in a folder for temporary
files; pipes carry only their names. A worker that sees its driver gone removes the folder and ends,
so nothing stays behind even if the driver is killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any

from ...files import temporary_files
from ...processes import interrupts_ignored, interrupts_wait
from .failures import Failure, check_deaths
from .messages import Answer, Question
from .packing import Inbox, Outbox, read_value, write_value
from .server import ShardServer
from .shards import Shard

_SECONDS_TO_END = 5.0
"""How long a worker whose pipe is closed may take to end."""
_MOST_REMOVALS = 100


class Processes:
    """The engine `processes`."""

    def start(self, shards: Iterable[Shard]) -> ProcessTeam:
        return ProcessTeam(shards)


@dataclass
class Worker:
    """A process with a shard, if it has been started."""

    shard: Path
    inbox: Inbox = field(default_factory=Inbox)
    process: BaseProcess | None = None
    connection: Connection[Any, Any] | None = None

    def start(self) -> None:
        # Spawned, because the threads of kernels do not survive a fork.
        context = get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(other, self.shard), name="spacy_cascade worker", daemon=True
        )
        with interrupts_wait():
            self.process.start()
        other.close()

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
        if self.connection is not None:
            self.connection.close()
        self.process, self.connection, self.inbox = None, None, Inbox()


class ProcessTeam:
    """Processes, which start at once, because that takes seconds."""

    def __init__(self, shards: Iterable[Shard]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="spacy_cascade-"))
        self._workers: list[Worker] = []
        self._finalizer = weakref.finalize(self, _tidy, self._workers, self._folder, os.getpid())
        with temporary_files():
            for i, shard in enumerate(shards):
                self._workers.append(Worker(self._folder / f"shard.{i}"))
                write_value(self._workers[-1].shard, shard)
                self._workers[-1].start()
        self._outbox = Outbox(self._folder / "question")

    @property
    def process_ids(self) -> list[int | None]:
        """Of the workers; None for one that has not been started."""
        return [worker.process.pid if worker.process else None for worker in self._workers]

    def close(self) -> None:
        """End all workers and remove their files. No question can be asked afterwards."""
        self._finalizer()

    def ask(self, question: Question) -> list[Answer]:
        try:
            return self._ask(question)
        except BaseException:
            with interrupts_ignored():
                _end(self._workers)
            raise

    def _ask(self, question: Question) -> list[Answer]:
        path, answers = self._outbox.put(question), dict[int, Answer]()
        deaths = [0] * len(self._workers)
        for i in range(len(deaths)):
            self._send(i, path, deaths)
        while len(answers) < len(deaths):
            waiting = {
                worker.connection: i
                for i, worker in enumerate(self._workers)
                if i not in answers and worker.connection is not None
            }
            for connection in wait(list(waiting)):
                i = waiting[connection]  # type: ignore[index]
                try:
                    answers[i] = self._received(self._workers[i])
                except (EOFError, OSError):
                    self._died(i, deaths)
                    self._send(i, path, deaths)
        return [answers[i] for i in range(len(deaths))]

    def _received(self, worker: Worker) -> Answer:
        assert worker.connection is not None
        found: Path | Failure = worker.connection.recv()
        if isinstance(found, Path):
            answer: Answer = worker.inbox.get(found)
            return answer
        raise found.as_error()

    def _send(self, i: int, path: Path, deaths: list[int]) -> None:
        worker = self._workers[i]
        while True:
            if worker.connection is None:
                worker.start()
            try:
                worker.connection.send(path)  # type: ignore[union-attr]
                return
            except OSError:
                self._died(i, deaths)

    def _died(self, i: int, deaths: list[int]) -> None:
        """A worker is gone; raises `TrainingError` where that happens again and again."""
        worker = self._workers[i]
        deaths[i] += 1
        assert worker.process is not None
        worker.process.join(_SECONDS_TO_END)
        code = worker.process.exitcode
        worker.end()
        check_deaths(deaths[i], i + 1, len(deaths), f"exit code {code}")


def _tidy(workers: list[Worker], folder: Path, process: int) -> None:
    """Leave nothing behind; not in a fork of the driver, whose workers these are not."""
    if os.getpid() == process:
        _end(workers)
        shutil.rmtree(folder, ignore_errors=True)


def _end(workers: list[Worker]) -> None:
    for worker in workers:
        if worker.process is not None:
            worker.process.kill()
    for worker in workers:
        worker.end()


def _serve(connection: Connection[Any, Any], shard: Path) -> None:
    """The work of a process, until the driver has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_driver, args=(shard.parent,), daemon=True).start()
    inbox, outbox = Inbox(), Outbox(shard.with_name(f"answer.{os.getpid()}"))
    server: ShardServer | None = None
    while True:
        try:
            path = connection.recv()
        except EOFError:
            # The thread may not come to it: it ends with this one.
            _remove(shard.parent)
            return
        try:
            server = server or ShardServer(read_value(shard))
            connection.send(outbox.put(server.answer(inbox.get(path))))
        except BaseException as error:
            connection.send(Failure.of(error))


def _end_with_driver(folder: Path) -> None:
    driver = parent_process()
    assert driver is not None
    wait([driver.sentinel])
    _remove(folder)
    os._exit(1)


def _remove(folder: Path) -> None:
    """Also while another worker removes it, or has just put a file there."""
    for _ in range(_MOST_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.01)
