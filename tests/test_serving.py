"""The web service of `examples/`, and its load test."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from helpers import PROJECT, TEXTS, run_python, write_sample
from serving import answered

pytest.importorskip("fastapi")


@pytest.fixture(scope="module")
def serve() -> Any:
    sys.path.insert(0, str(PROJECT / "examples"))
    return importlib.import_module("serve")


@pytest.fixture(scope="module")
def client(
    serve: Any, trained: Language, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    from fastapi.testclient import TestClient

    folder = tmp_path_factory.mktemp("service") / "model"
    trained.to_disk(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve, "MODEL", str(folder))
        with TestClient(serve.app) as client:
            yield client


def test_a_request_has_the_entities_of_each_text(client: Any, trained: Language) -> None:
    assert client.get("/ready").json() == {"ready": True}
    texts = [*TEXTS, "", "é p53 gene"]
    answer = client.post("/entities", json={"texts": texts})
    assert answer.status_code == 200
    assert answer.json() == [answered(trained, text) for text in texts]
    assert sum(map(len, answer.json())) > 5
    assert client.post("/entities", json={"texts": []}).json() == []


def test_requests_at_once_get_their_own_answers(client: Any, trained: Language) -> None:
    texts = [f"{text} word{i}" for i in range(5) for text in TEXTS]
    wanted = [[answered(trained, text)] for text in texts]

    def ask(text: str) -> Any:
        return client.post("/entities", json={"texts": [text]}).json()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, texts)) == wanted


@pytest.mark.parametrize(
    "texts", ["no list", [1], ["x" * 100_001], ["x"] * 1001, ["x" * 99_999] * 11]
)
def test_what_is_too_much_is_refused(texts: Any, client: Any) -> None:
    answer = client.post("/entities", json={"texts": texts})
    assert answer.status_code == 422
    assert len(answer.content) < 500


@pytest.mark.parametrize("text", ["(" * 15_000, "[$" * 7_500])
def test_texts_without_blanks_hold_up_nothing(text: str, client: Any, trained: Language) -> None:
    """spaCy alone takes a time that grows with the square of their length."""
    answer = client.post("/entities", json={"texts": [text, TEXTS[0]]})
    assert answer.status_code == 200
    assert answer.json()[1] == answered(trained, TEXTS[0])


@pytest.mark.parametrize("body", [r'{"texts": ["a \ud800 b"]}', '{"texts": [NaN]}', '{"texts": ['])
def test_what_is_no_text_is_refused_and_not_sent_back(body: str, client: Any) -> None:
    answer = client.post("/entities", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["what"]


def test_too_large_a_body_is_not_read(serve: Any, client: Any) -> None:
    body = json.dumps({"texts": ["x"]}).encode()
    fits = body + b" " * (serve.MOST_BYTES - len(body))
    for content, status in ((fits, 200), (fits + b" ", 413), (iter([fits, b" "]), 413)):
        answer = client.post(
            "/entities", content=content, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == status


def test_requests_take_turns(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "OF_A_PASS", 10)
    long, short = serve.Job(serve.deque(["x" * 4] * 9)), serve.Job(serve.deque(["y" * 4]))
    assert [text[0] for _, text in serve.taken([long, short])] == ["x", "y", "x"]
    assert len(long.waiting) == 7
    assert not short.waiting


def test_a_request_that_waits_too_long_is_given_up(
    serve: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "MOST_SECONDS", 0.0)
    assert client.post("/entities", json={"texts": TEXTS}).status_code == 503
    monkeypatch.setattr(serve, "MOST_SECONDS", 60.0)
    assert client.post("/entities", json={"texts": TEXTS}).status_code == 200


def test_what_is_too_much_at_once_is_refused_before_it_is_read(
    serve: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "MOST_AT_ONCE", 0)
    answer = client.post("/entities", content=b"not read")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json() == {"detail": serve.TOO_MANY}
    assert client.get("/ready").status_code == 200
    monkeypatch.setattr(serve, "MOST_AT_ONCE", 1)
    for _ in range(2):  # what fails leaves its place, too
        assert client.post("/entities", content=b"{").status_code == 422
        assert client.post("/entities", json={"texts": TEXTS}).status_code == 200


def test_an_error_ends_its_requests_and_not_the_service(
    serve: Any, trained: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotator, find = serve.Annotator(lambda: trained), serve.Annotator._entities

    def find_or_fail(self: Any, texts: list[str]) -> Any:
        if "odd" in texts:
            raise ValueError("an odd text")
        return find(self, texts)

    monkeypatch.setattr(serve.Annotator, "_entities", find_or_fail)
    with pytest.raises(ValueError, match="an odd text"):
        annotator.annotate(["odd"]).result(timeout=60)
    assert len(annotator.annotate([TEXTS[0]]).result(timeout=60)[0]) == 3


def test_a_request_that_was_given_up_disturbs_no_other(serve: Any, trained: Language) -> None:
    annotator = serve.Annotator(lambda: trained)
    results = [annotator.annotate([text]) for text in TEXTS]
    given_up = [result.cancel() for result in results[::2]]
    found = [result.result(timeout=60) for result in results[1::2]]
    assert [len(answer[0]) for answer in found] == [
        len(answered(trained, text)) for text in TEXTS[1::2]
    ]
    assert all(isinstance(was, bool) for was in given_up)


def test_the_pipeline_is_loaded_anew_after_many_words(
    serve: Any, trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a time in which it cannot be loaded, for which the old one stays."""
    trained.to_disk(tmp_path / "model")
    loaded: list[Language] = []

    def load() -> Language:
        loaded.append(spacy.load(tmp_path / "model"))
        return loaded[-1]

    monkeypatch.setattr(serve, "MOST_WORDS", 15)
    annotator = serve.Annotator(load)

    def found(first: int) -> Any:
        text = " ".join([TEXTS[0], *(f"x{number}" for number in range(first, first + 10))])
        assert annotator.annotate([text]).result(timeout=60)
        return annotator.annotate(TEXTS[:1]).result(timeout=60)

    (tmp_path / "model").rename(tmp_path / "elsewhere")
    before = [found(0), found(10), found(20)]
    assert len(loaded) == 1
    (tmp_path / "elsewhere").rename(tmp_path / "model")
    after = [found(30), found(40)]
    assert len(loaded) > 1
    assert after + before == [before[0]] * 5


@pytest.mark.slow(kind="load tests")
def test_the_load_test_ends_by_itself(trained: Language, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    trained.to_disk(tmp_path / "model")
    data = write_sample(tmp_path / "data.spacy", n_docs=2)
    done = run_python(
        "-m", "benchmarks.experiments.serving", str(tmp_path / "model"), str(data),
        "--clients", "1", "2", "--requests", "40", "--limit", "60",
        "--work", str(tmp_path / "work"),
        "--output", str(tmp_path / "results.json"), timeout=300, PYTHONPATH=str(PROJECT),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results.json").read_text())
    assert [load["clients"] for load in results["loads"]] == [1, 2]
    assert all(load["requests"] >= 40 for load in results["loads"])
    assert all(load["requests_per_second"] > 0 for load in results["loads"])


@pytest.mark.slow(kind="load tests")
def test_bulk_annotation_is_measured_in_every_way(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "model")
    data = write_sample(tmp_path / "data.spacy", n_docs=2)
    done = run_python(
        "-m", "benchmarks.experiments.bulk", str(tmp_path / "model"), str(data),
        "--rounds", "1", "--passes", "3", "--work", str(tmp_path / "work"),
        "--output", str(tmp_path / "results.json"), timeout=600, PYTHONPATH=str(PROJECT),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results.json").read_text())
    assert len(results["tokens_per_second"]) == 7
    assert min(results["tokens_per_second"].values()) > 0
    assert [len(curve) for curve in results["memory_megabytes"].values()] == [3, 3]
