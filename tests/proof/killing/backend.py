"""The backend of Label Studio, killed while it is told of annotation and learns it."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np

from tests.proof.killing.chains import kill_often, prepared
from tests.proof.killing.kinds import Kind, is_half_written
from tests.proof.part import Came
from tests.support.forked import Call, Forked, spacy_command
from tests.support.studio import event

RECORDS = "annotated.jsonl"
N_EVENTS = 20
EVENTS = [event(f"HIV infects cells of kind {i} .", task=i, id=i) for i in range(N_EVENTS)]
_GONE = (OSError, HTTPException)
"""What a request comes to whose server was killed."""
_APART = 0.02
"""Seconds from one annotation to the next."""
_LONGEST = 120.0
"""Seconds until it answers, and until it has learnt."""


def serve(model: Path, output: Path, port: int) -> Call:
    """The backend itself."""
    files = (model, "--output", output)
    return spacy_command("cascade", "label-studio", *files, "--port", port)


KIND = Kind(
    "label-studio",
    lambda i, o: Call("tests.proof.killing.inputs:import_backend", ()),
    ("pipelines",),
    wholes=("model",),
)


class Ended(Exception):
    """The process has ended."""


class Served:
    """A backend in a process of its own, and what it answers."""

    def __init__(self, forked: Forked, model: Path, output: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._forked, self._url = forked, f"http://127.0.0.1:{port}"
        self._number = forked.begin(serve(model, output, port))

    def kill(self) -> None:
        """Kill it, if it still lives."""
        with suppress(ProcessLookupError):
            os.kill(self._number, signal.SIGKILL)

    def ask(self, path: str, body: object = None) -> Any:
        """What it answers. Raises `Ended` where it does not live."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._url}/{path}", data, {"Content-Type": "application/json"})
        try:
            with urlopen(request, timeout=_LONGEST) as answer:
                return json.load(answer)
        except HTTPError:
            raise
        except (*_GONE, ValueError) as error:
            raise Ended from error

    def wait_for(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first status that is so. Raises `Ended` where the process ends before."""
        until = time.monotonic() + _LONGEST
        while time.monotonic() < until:
            with suppress(Ended):
                status = self.ask("health")
                if is_so(status):
                    return dict(status)
            if self._forked.has_ended(_APART):
                raise Ended
        raise AssertionError(f"it does not answer: {self._forked.said()}")


class Backend:
    """A backend that is killed, and begun again until it has learnt all annotation.

    came, problems: as `chains.Chain` has them.
    """

    def __init__(self, folder: Path, whole: Forked, forked: Forked) -> None:
        self._model, self._output, self._forked = folder / "inputs/new", folder / "output", whole
        self.came: Counter[str] = Counter()
        self.problems: list[str] = []
        self._begin()
        begin = time.monotonic()
        served = self._start()
        self._annotate(served)
        self.seconds = time.monotonic() - begin
        self._end = self._kept(served)
        self._forked = forked
        self._begin()

    def kill(self, generator: np.random.Generator) -> None:
        """Kill it at a random moment, from its start until it has learnt all annotation."""
        while True:
            served = self._start()
            timer = Timer(self.seconds * float(generator.random()), served.kill)
            timer.start()
            try:
                self._annotate(served)
            except Ended:
                self._has_ended()
                break
            finally:
                timer.cancel()
            self._finished(served)
        self._is_killed = True
        self.came["kills"] += 1
        self.came["within"] += is_half_written(self._output)
        self._look()

    def finish(self) -> None:
        """Let it learn all."""
        served = self._start()
        try:
            self._annotate(served)
        except Ended:
            self._has_ended()
        else:
            self._finished(served)

    def _has_ended(self) -> None:
        if self._forked.wait() != -signal.SIGKILL:
            self.problems.append(f"it has ended by itself: {self._forked.said()}")

    def _begin(self) -> None:
        KIND.begin(self._model, self._output)
        self._confirmed, self._is_killed = 0, False

    def _start(self) -> Served:
        return Served(self._forked, self._model, self._output)

    def _annotate(self, served: Served) -> None:
        """Tell it of all that it has not confirmed, and wait until that is learnt."""
        found = served.wait_for(lambda status: status["status"] == "UP")["annotated"]
        if found not in (self._confirmed, self._confirmed + 1):
            self.problems.append(f"of {self._confirmed} confirmed annotations it has {found}")
        for each in EVENTS[self._confirmed :]:
            served.ask("webhook", each)
            self._confirmed += 1
            time.sleep(_APART)
        status = served.wait_for(lambda status: not status["is_training"])
        if status["annotated"] != N_EVENTS or status["error"]:
            self.problems.append(f"told of {N_EVENTS} annotations, it says {status}")

    def _finished(self, served: Served) -> None:
        self.came["ends"] += self._is_killed
        if (now := self._kept(served)) != self._end:
            names = sorted(dict(now.items() ^ self._end.items()))
            self.problems.append(f"at its end there are other bytes in {', '.join(names)}")
        self._begin()

    def _kept(self, served: Served) -> dict[str, str]:
        """Its files when all is learnt; then it is ended."""
        served.kill()
        self._forked.wait()
        return {**KIND.contents(self._output, (RECORDS,)), RECORDS: str(self._texts())}

    def _look(self) -> None:
        """What is on the disk after a kill: all that was confirmed, and at most one more."""
        numbers = [one["annotation"] for one in self._texts()]
        if not self._confirmed <= len(numbers) <= self._confirmed + 1:
            self.problems.append(f"of {self._confirmed} confirmed annotations {numbers} are kept")

    def _texts(self) -> list[dict[str, Any]]:
        """The annotation on the disk, the newest of each number."""
        path = self._output / RECORDS
        lines = path.read_text(encoding="utf8").splitlines(keepends=True) if path.exists() else []
        whole = [json.loads(line) for line in lines if line.endswith("\n")]
        return list({one["annotation"]: one for one in whole}.values())


def kill(n: int, seed: int, folder: Path) -> Came:
    """Kill a backend so many times."""
    with prepared(KIND, folder) as forked:
        return kill_often(Backend(folder, forked, forked), n, seed)
