"""The endpoints that Label Studio calls, without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin

from helpers import SENTENCES, blank, gold_doc, trained_cascade
from spacy_cascade.annotation.label_studio.learner import RECORDS, Corpora, Learner

pytest.importorskip("fastapi")
INTERFACE = (
    '<View><Labels name="kind" toName="passage"><Label value="virus"/></Labels>'
    '<Text name="passage" value="$words"/></View>'
)
NEW = "HIV infects primary monocytes ."
REGION = {"type": "labels", "value": {"start": 0, "end": 3, "text": "HIV", "labels": ["virus"]}}
SECONDS = 60.0


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("studio") / "model"
    trained_cascade().to_disk(path)
    return path


@pytest.fixture
def learner(model: Path, tmp_path: Path) -> Learner:
    return Learner(model, tmp_path / "out")


@pytest.fixture
def client(learner: Learner) -> Iterator[Any]:
    from fastapi.testclient import TestClient

    from spacy_cascade.annotation.label_studio.app import make_app

    with TestClient(make_app(learner), raise_server_exceptions=False) as client:
        yield client


def event(text: str, action: str = "ANNOTATION_CREATED", **annotation: Any) -> dict[str, Any]:
    return {
        "action": action,
        "project": {"id": 1, "label_config": INTERFACE},
        "task": {"id": 7, "data": {"words": text}},
        "annotation": {"id": 3, "result": [REGION], **annotation},
    }


def test_a_project_connects_and_tasks_get_predictions(client: Any, model: Path) -> None:
    for path in ("/", "/health"):
        assert client.get(path).json()["status"] == "UP"
    answer = client.post("/setup", json={"project": "1.2", "schema": INTERFACE, "hostname": "x"})
    assert answer.json() == {"model_version": "model-0"}
    assert client.get("/versions").json() == {"versions": ["model-0"]}
    texts = [*(text for text, _ in SENTENCES), "", "é p53 gene"]
    tasks = [{"id": i, "data": {"words": text}} for i, text in enumerate(texts)]
    answer = client.post("/predict", json={"tasks": tasks, "label_config": INTERFACE}).json()
    nlp = spacy.load(model)
    for text, result in zip(texts, answer["results"], strict=True):
        doc = nlp(text)
        assert result["model_version"] == "model-0"
        best = [found[0].probability for found in nlp.get_pipe("cascade_segmenter").nbest(doc, 1)]
        assert result["score"] == pytest.approx(min(best, default=1.0), abs=1e-4)
        for region, entity in zip(result["result"], doc.ents, strict=True):
            assert (region["from_name"], region["to_name"]) == ("kind", "passage")
            value = region["value"]
            assert text[value["start"] : value["end"]] == value["text"] == entity.text
            assert value["labels"] == [entity.label_]
            assert region["score"] == pytest.approx(entity._.confidence, abs=1e-4)


def test_submitted_annotation_is_learnt_in_the_background(
    client: Any, learner: Learner, model: Path
) -> None:
    assert client.post("/webhook", json=event(NEW)).json()["status"] == "training"
    asked = {"tasks": [{"id": 7, "data": {"words": NEW}}], "label_config": INTERFACE}
    assert client.post("/predict", json=asked).status_code == 200  # whatever is trained
    assert learner.wait(SECONDS)
    assert learner.status().error is None
    (result,) = client.post("/predict", json=asked).json()["results"]
    assert [region["value"] for region in result["result"]] == [REGION["value"]]
    assert result["model_version"] == "model-1"
    lines = (learner.folder / RECORDS).read_text(encoding="utf8").splitlines()
    span = {"start": 0, "end": 3, "label": "virus"}
    assert list(map(json.loads, lines)) == [{"text": NEW, "spans": [span], "task": 7}]
    again = Learner(model, learner.folder)
    nlp, version = again.pipeline()
    assert version == "model-1"
    assert [entity.label_ for entity in nlp(NEW).ents] == ["virus"]


def test_a_later_annotation_of_a_task_takes_the_place_of_the_earlier_one(
    client: Any, learner: Learner
) -> None:
    client.post("/webhook", json=event(NEW))
    client.post("/webhook", json=event(NEW, "ANNOTATION_UPDATED", result=[]))
    assert client.post("/webhook", json=event(NEW, was_cancelled=True)).json() == {
        "status": "skipped"
    }
    assert client.post("/webhook", json={"action": "PROJECT_UPDATED"}).json() == {
        "status": "ignored"
    }
    task = {"id": 8, "data": {"words": NEW}, "annotations": [{"result": [REGION]}]}
    asked = {"annotations": [task], "label_config": INTERFACE}
    assert client.post("/train", json=asked).status_code == 201
    assert learner.wait(SECONDS)
    lines = map(json.loads, (learner.folder / RECORDS).read_text(encoding="utf8").splitlines())
    assert [(record["task"], len(record["spans"])) for record in lines] == [(7, 0), (8, 1)]


def test_offsets_may_count_as_browsers_do(client: Any, learner: Learner) -> None:
    """Label Studio's page counts a character outside of the basic plane as two."""
    text = "😀 HIV"
    value = {"start": 3, "end": 6, "text": "HIV", "labels": ["virus"]}
    client.post("/webhook", json=event(text, result=[{"type": "labels", "value": value}]))
    (line,) = (learner.folder / RECORDS).read_text(encoding="utf8").splitlines()
    assert json.loads(line)["spans"] == [{"start": 2, "end": 5, "label": "virus"}]


def test_a_worse_pipeline_is_not_taken(model: Path, tmp_path: Path) -> None:
    dev = tmp_path / "dev.spacy"
    vocab = blank().vocab
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in SENTENCES]).to_disk(dev)
    learner = Learner(model, tmp_path / "out", Corpora(dev=dev))
    learner.add([{"text": SENTENCES[0][0], "spans": [], "task": 1}])
    learner.begin()
    assert learner.wait(SECONDS)
    assert learner.status().error is None
    assert learner.status().version == "model-0"


BAD: list[tuple[str, object, int, str]] = [
    ("/predict", {"tasks": [{"id": 5, "data": {}}]}, 400, "Task 5 has no text in data['text']"),
    ("/predict", {"tasks": "all"}, 422, "body.tasks"),
    ("/predict", {"tasks": [], "label_config": "<View"}, 400, "no XML"),
    ("/setup", {"schema": "<View/>"}, 400, "no <Labels> for a <Text>"),
    ("/webhook", {"action": "ANNOTATION_CREATED"}, 400, "has no text"),
    ("/webhook", event(NEW, result=None), 400, "no list 'result'"),
    ("/webhook", event("HI"), 400, "character 0 to 3, but the text has 2"),
    (
        "/webhook", event(NEW, result=[{**REGION, "value": {"start": "x", "labels": ["virus"]}}]),
        400, "the offsets 'x' and None are not whole numbers",
    ),
    ("/train", {"annotations": [1]}, 422, "body.annotations.0"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "status", "message"), BAD)
def test_bad_requests_get_one_error_and_nothing_is_kept(
    client: Any, learner: Learner, path: str, body: object, status: int, message: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert message in answer.json()["error"]
    assert learner.status().annotated == 0
    assert client.get("/health").status_code == 200


def test_a_training_that_fails_leaves_the_pipeline_as_it_is(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("spacy_cascade.annotation.label_studio.learner.learn", fail)
    learner.add([{"text": NEW, "spans": [], "task": 1}])
    learner.begin()
    assert learner.wait(SECONDS)
    assert learner.status().error == "RuntimeError: no room"
    assert learner.pipeline()[1] == "model-0"
