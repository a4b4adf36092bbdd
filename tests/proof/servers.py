"""Servers of the package under load: how they start, what they are asked, what they should say."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import spacy

from benchmarks.experiments.serving import START_SECONDS, free_port, server
from spacy_cascade.tools.annotation.label_studio.journal import RECORDS
from spacy_cascade.tools.annotation.label_studio.learner import MODEL
from tests.proof.client import Request, post
from tests.proof.part import Came

PROJECT = Path(__file__).parents[2]
sys.path[:0] = [str(PROJECT / "tests/support")]

from helpers import add_classifier, blank, sample_examples, train  # noqa: E402
from serving import answered  # noqa: E402
from studio import INTERFACE, event, lines_in  # noqa: E402
from tests.robustness.new_words import texts_of_new_words  # noqa: E402

BUSY = 503
_NEW_WORDS = 5
"""In each text."""
_SIZES, _WEIGHTS = (1, 2, 10, 100), (80, 10, 9, 1)
"""Texts of a request, and how often."""
_BAD, _ANNOTATED = 0.03, 0.2
"""Shares of requests that are no requests, and of annotation."""
_COMPARED = 0.005
"""Share of the answers that are compared with what the pipeline finds here."""
_SHOWN = 5


def make_model(folder: Path) -> None:
    """A cascade that was trained on the sample corpus."""
    nlp = blank()
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("cascade_segmenter")
    add_classifier(nlp)
    train(nlp, sample_examples(nlp), updates=1)
    nlp.to_disk(folder)


class Server(ABC):
    """A server, what it is asked, and what was found wrong with its answers."""

    bad: tuple[tuple[str, bytes, int], ...]
    """Paths, bodies and the statuses of what is no request."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.model, self.folder = model, folder
        self._random = Random(0)
        self._texts = texts_of_new_words(_NEW_WORDS, seed=1)
        self._saved: set[int] = set()
        self._wrong: list[str] = []
        self._n_wrong = 0

    @abstractmethod
    def running(self) -> AbstractContextManager[tuple[int, int]]:
        """The port and the process of the server, which ends with the context."""

    @abstractmethod
    def _request(self, number: int) -> Request: ...

    @abstractmethod
    def _look(self, request: Request, body: bytes) -> None:
        """Look at an answer that has the right status."""

    def requests(self) -> Iterator[Request]:
        """Without end."""
        bad = [Request(post(path, body), status) for path, body, status in self.bad]
        for number in count():
            is_bad = self._random.random() < _BAD
            yield self._random.choice(bad) if is_bad else self._request(number)

    def hear(self, request: Request, status: int, body: bytes) -> None:
        """Look at an answer."""
        if status == request.status:
            if request.about is not None:
                self._look(request, body)
        elif status != BUSY:
            self._note(f"{status} rather than {request.status}: {body[:200]!r}")

    def watch(self) -> None:
        """See whether another pipeline was saved."""
        meta = self.folder / MODEL / "meta.json"
        if meta.exists():
            self._saved.add(meta.stat().st_mtime_ns)

    def afterwards(self) -> Came:
        """What came of it, when the server has ended."""
        return {"wrong": self._n_wrong, "examples": self._wrong}

    def _note(self, problem: str) -> None:
        self._n_wrong += 1
        if len(self._wrong) < _SHOWN:
            self._wrong.append(problem)

    def _some_texts(self) -> list[str]:
        (n,) = self._random.choices(_SIZES, _WEIGHTS)
        return [next(self._texts) for _ in range(n)]


class WebService(Server):
    """`examples/serve.py`."""

    bad = (
        ("/entities", b'{"texts": ["a text that is c', 422),
        ("/entities", b'{"texts": "no list"}', 422),
        ("/entities", rb'{"texts": ["half \ud800 of a character"]}', 422),
        ("/entities", json.dumps({"texts": ["x" * 100_001]}).encode(), 422),
        ("/entities", b'{"texts": ["\xff"]}', 400),
        ("/nowhere", b"{}", 404),
    )

    def __init__(self, model: Path, folder: Path) -> None:
        super().__init__(model, folder)
        self._kept: list[tuple[list[str], Any]] = []

    def running(self) -> AbstractContextManager[tuple[int, int]]:
        return server(self.model)

    def _request(self, number: int) -> Request:
        texts = self._some_texts()
        return Request(post("/entities", json.dumps({"texts": texts}).encode()), 200, texts)

    def _look(self, request: Request, body: bytes) -> None:
        found = json.loads(body)
        if len(found) != len(request.about):
            self._note(f"{len(found)} answers to {len(request.about)} texts")
        elif self._random.random() < _COMPARED or not self._kept:
            self._kept.append((request.about, found))

    def afterwards(self) -> Came:
        nlp = spacy.load(self.model)
        for texts, found in self._kept:
            if found != [answered(nlp, text) for text in texts]:
                self._note(f"{texts}: {found}"[:1000])
        return {**super().afterwards(), "compared": len(self._kept)}


class Backend(Server):
    """`spacy cascade label-studio`, which learns meanwhile, and is killed at the end.

    The same tasks are annotated again and again, since all annotation that counts is in memory.
    Each has its number of the request in its text.
    """

    bad = (
        ("/predict", b'{"tasks": [', 422),
        ("/predict", b'{"tasks": "all"}', 422),
        ("/webhook", b'{"action": "ANNOTATION_CREATED"}', 400),
        ("/webhook", json.dumps(event("HI")).encode(), 400),
        ("/webhook", json.dumps(event("HIV", result=[5])).encode(), 422),
        ("/nowhere", b"{}", 404),
    )
    _TASKS = 100

    def __init__(self, model: Path, folder: Path) -> None:
        super().__init__(model, folder)
        self._confirmed: set[int] = set()

    @contextmanager
    def running(self) -> Iterator[tuple[int, int]]:
        port = free_port()
        command = [
            sys.executable, "-m", "spacy", "cascade", "label-studio", str(self.model),
            "--output", str(self.folder), "--port", str(port),
        ]  # fmt: skip
        process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL)
        try:
            end = time.monotonic() + START_SECONDS
            while not _health(port):
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("The backend did not start; its output is above.")
                time.sleep(0.1)
            yield port, process.pid
        finally:
            process.kill()
            process.wait()

    def _request(self, number: int) -> Request:
        if self._random.random() < _ANNOTATED:
            task = number % self._TASKS
            text = f"HIV {number} {next(self._texts)}"
            sent = event(text, "ANNOTATION_UPDATED", task=task, id=task)
            return Request(post("/webhook", json.dumps(sent).encode()), 201, number)
        texts = self._some_texts()
        tasks = [{"id": i, "data": {"words": text}} for i, text in enumerate(texts)]
        asked = {"tasks": tasks, "label_config": INTERFACE}
        return Request(post("/predict", json.dumps(asked).encode()), 200, texts)

    def _look(self, request: Request, body: bytes) -> None:
        if request.status == 201:
            self._confirmed.add(request.about)
            return
        results = json.loads(body)["results"]
        if len(results) != len(request.about):
            self._note(f"{len(results)} answers to {len(request.about)} texts")
        for text, result in zip(request.about, results, strict=False):
            if not _fits(text, result):
                self._note(f"{text}: {result}")

    def afterwards(self) -> Came:
        kept = Counter(int(line["text"].split()[1]) for line in lines_in(self.folder / RECORDS))
        tasks = {number % self._TASKS for number in kept}
        with self.running() as (port, _):
            health = _health(port)
        return {
            **super().afterwards(),
            "confirmed": len(self._confirmed),
            "lost": len(self._confirmed - kept.keys()),
            "doubled": sum(n > 1 for n in kept.values()),
            "learnt": len(self._saved),
            "is_known": health["annotated"] == len(tasks),
        }


def _fits(text: str, result: Mapping[str, Any]) -> bool:
    values = [region["value"] for region in result["result"]]
    return all(text[value["start"] : value["end"]] == value["text"] for value in values)


def _health(port: int) -> Any:
    """What the backend says of itself; None where it does not."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/health")
        return json.loads(connection.getresponse().read())
    except OSError:
        return None
    finally:
        connection.close()


SERVERS: Mapping[str, type[Server]] = {
    "examples/serve.py": WebService,
    "spacy cascade label-studio": Backend,
}
