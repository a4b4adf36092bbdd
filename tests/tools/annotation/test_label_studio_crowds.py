"""More requests than the backend can answer, and words without end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from spacy_cascade.tools.annotation.label_studio.learner import Learner
from studio import INTERFACE, NEW, SECONDS, event

pytest.importorskip("fastapi")
from spacy_cascade.tools.annotation.label_studio import app, crowds


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is trained."""
    monkeypatch.setattr(Learner, "begin", lambda self: None)


def asked(*texts: str) -> dict[str, Any]:
    tasks = [{"id": i, "data": {"words": text}} for i, text in enumerate(texts)]
    return {"tasks": tasks, "label_config": INTERFACE}


def found(client: Any, *texts: str) -> list[list[str]]:
    results = client.post("/predict", json=asked(*texts)).json()["results"]
    return [[region["value"]["text"] for region in result["result"]] for result in results]


class Held:
    """Predictions that wait until they are let go."""

    def __init__(self, predict: Callable[..., Any]) -> None:
        self._predict, self.begun, self.go = predict, Event(), Event()

    def __call__(self, *arguments: Any) -> Any:
        self.begun.set()
        assert self.go.wait(SECONDS)
        return self._predict(*arguments)


def test_what_is_too_much_at_once_is_refused_and_annotation_is_kept_meanwhile(
    client: Any, learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(app.predict_tasks)
    monkeypatch.setattr(app, "predict_tasks", held)
    monkeypatch.setitem(crowds.MOST, "/predict", 1)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/predict", json=asked(NEW))
        assert held.begun.wait(SECONDS)
        refused = client.post("/predict", content=b"not read")
        kept = client.post("/webhook", json=event(NEW))
        health = client.get("/health")
        held.go.set()
        assert first.result(SECONDS).status_code == 200
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json() == {"error": "There are too many requests. Try again later."}
    assert (kept.status_code, health.json()["annotated"]) == (201, 1)
    assert client.post("/predict", json=asked(NEW)).status_code == 200


def test_requests_that_fail_leave_their_place(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in crowds.MOST:
        monkeypatch.setitem(crowds.MOST, path, 1)
        for _ in range(2):
            assert client.post(path, content=b"{").status_code == 422
    monkeypatch.setattr(crowds, "MOST_OTHERS", 1)
    for _ in range(2):
        assert client.get("/nowhere").status_code == 404


def test_predictions_leave_no_words_behind(client: Any, learner: Learner) -> None:
    strings = learner.pipeline()[0].vocab.strings
    found(client, "p53 binds .")
    before = len(strings)
    found(client, "p53 binds never99seen .", "another100word")
    assert len(strings) == before


def test_predictions_at_once_are_each_their_own(client: Any) -> None:
    texts = [f"STAT5 binds the AP-1 site word{i} ." for i in range(12)]
    with ThreadPoolExecutor(6) as pool:
        each = list(pool.map(lambda text: found(client, text), texts))
    assert each == [found(client, text) for text in texts]
