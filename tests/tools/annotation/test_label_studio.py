"""The endpoints that Label Studio calls, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import spacy

from helpers import SENTENCES
from spacy_cascade.errors import SavingError
from spacy_cascade.tools.annotation.label_studio.journal import RECORDS
from spacy_cascade.tools.annotation.label_studio.learner import Learner
from studio import INTERFACE, NEW, REGION, SECONDS, VIRUS, event, lines_in

pytest.importorskip("fastapi")
from spacy_cascade.tools.annotation.label_studio import app
from spacy_cascade.tools.annotation.label_studio.tasks import Labelling


def kept(learner: Learner) -> dict[str, int]:
    """The number of entities of each annotated text."""
    return {record["text"]: len(record["spans"]) for record in learner.texts()}


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


def test_a_task_without_a_text_does_not_end_a_batch(client: Any) -> None:
    text = SENTENCES[1][0]
    good = {"id": 1, "data": {"words": text}}
    bad: list[tuple[Any, str]] = [
        ({"id": 2, "data": {"other": text}}, "Task 2, data['words']: there is no text"),
        ({"id": 3, "data": {"words": None}}, "Task 3, data"),
        ({"data": [text]}, "A task without an id, data"),
        ("a text", "A task without an id, data"),
        (None, "A task without an id, data"),
        ({"id": 4, "data": {"words": "half \ud800"}}, "half of a surrogate pair"),
        ({"id": "\udfff", "data": {}}, r"Task '\udfff'"),
        ({"id": 5, "data": {"words": "x " * 500_001}}, "has 1,000,002 characters"),
    ]
    tasks = [good, *(task for task, _ in bad), good]
    body = json.dumps({"tasks": tasks, "label_config": INTERFACE})
    answer = client.post("/predict", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    first, *others, last = answer.json()["results"]
    assert first == last
    assert [region["value"]["text"] for region in first["result"]] == ["STAT5", "AP-1 site"]
    for result, (_, message) in zip(others, bad, strict=True):
        assert set(result) == {"model_version", "error"}, "no prediction, rather than an empty one"
        assert message in result["error"]


def test_submitted_annotation_is_learnt_in_the_background(client: Any, learner: Learner) -> None:
    assert client.post("/webhook", json=event(NEW)).json()["status"] == "training"
    asked = {"tasks": [{"id": 7, "data": {"words": NEW}}], "label_config": INTERFACE}
    assert client.post("/predict", json=asked).status_code == 200  # whatever is trained
    assert learner.wait(SECONDS)
    assert learner.status().error is None
    (result,) = client.post("/predict", json=asked).json()["results"]
    assert [region["value"] for region in result["result"]] == [REGION["value"]]
    assert result["model_version"] == "model-1"
    line = {"text": NEW, "spans": [VIRUS], "task": 7, "annotation": 3}
    assert lines_in(learner.folder / RECORDS) == [line]


def test_what_changes_is_followed(client: Any, learner: Learner) -> None:
    def post(body: dict[str, Any]) -> str:
        answer = client.post("/webhook", json=body)
        assert answer.status_code == 201
        return str(answer.json()["status"])

    other = "p53 binds ."
    assert post(event(NEW)) == "training"
    assert post(event(NEW, "ANNOTATION_UPDATED", result=[])) == "training"
    assert kept(learner) == {NEW: 0}
    assert post(event(NEW, id=4)) == "training"
    assert kept(learner) == {NEW: 1}, "the newest annotation of the task counts"
    assert post(event(NEW, "ANNOTATION_UPDATED", id=4, was_cancelled=True)) == "training"
    assert kept(learner) == {NEW: 0}
    assert post(event(NEW, id=5, was_cancelled=True)) == "skipped", "nothing was known of it"
    assert post(event(other, task=8, id=6)) == "training"
    assert post({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 3}]}) == "training"
    assert kept(learner) == {other: 1}
    assert post({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 3}]}) == "skipped"
    assert post({"action": "TASKS_DELETED", "tasks": [{"id": 7}, {"id": 8}]}) == "training"
    assert kept(learner) == {}
    assert post({"action": "PROJECT_UPDATED", "project": {"id": 1}}) == "ignored"
    assert post({"action": "START_TRAINING", "project": {"label_config": INTERFACE}}) == "training"
    several = event(NEW, "ANNOTATIONS_CREATED")
    several |= {
        "task": [several["task"], {"id": 9, "data": {"words": other}}],
        "annotation": [several["annotation"], {"id": 8, "result": []}],
    }
    assert post(several) == "training"
    assert kept(learner) == {NEW: 1, other: 0}


def test_a_training_on_a_project_knows_all_annotation_of_its_tasks(
    client: Any, learner: Learner
) -> None:
    def train(*annotations: dict[str, Any], task: Any = 7) -> None:
        body = {"id": task, "data": {"words": NEW}, "annotations": annotations}
        asked = {"annotations": [body], "label_config": INTERFACE}
        assert client.post("/train", json=asked).status_code == 201

    client.post("/webhook", json=event(NEW))
    train({"id": 4, "result": []})
    assert kept(learner) == {NEW: 0}
    train(
        {"id": 4, "result": []},
        {"result": [REGION]},
        {"id": 6, "result": [], "was_cancelled": True},
    )
    assert kept(learner) == {NEW: 1}
    train()
    assert kept(learner) == {}
    assert client.post("/train", json={"annotations": []}).status_code == 201
    assert learner.wait(SECONDS)


def test_tasks_without_an_id_are_known_by_their_texts(client: Any, learner: Learner) -> None:
    other = "p53 binds ."
    for text in (NEW, other):
        assert client.post("/webhook", json=event(text, task=None, id=None)).status_code == 201
    assert kept(learner) == {NEW: 1, other: 1}
    client.post("/webhook", json=event(NEW, task=None, id=None, result=[]))
    client.post("/webhook", json=event(other, task=None, id=None, was_cancelled=True))
    assert kept(learner) == {NEW: 0}


def test_brackets_without_a_blank_hold_nobody_up(
    client: Any, learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """spaCy's tokenizer alone takes minutes for them."""
    brackets = "HIV " + "(" * 5_000
    tasks = [{"id": 1, "data": {"words": brackets}}]
    asked = {"tasks": tasks, "label_config": INTERFACE}
    assert client.post("/predict", json=asked).status_code == 200
    assert client.post("/webhook", json=event(brackets)).status_code == 201
    assert learner.wait(SECONDS)
    assert learner.status().version == "model-1"


def test_offsets_may_count_as_browsers_do(client: Any, learner: Learner) -> None:
    """Label Studio's page counts a character outside of the basic plane as two."""
    text = "😀 HIV"
    value = {"start": 3, "end": 6, "text": "HIV", "labels": ["virus"]}
    client.post("/webhook", json=event(text, result=[{"type": "labels", "value": value}]))
    (record,) = learner.texts()
    assert record["spans"] == [{"start": 2, "end": 5, "label": "virus"}]


def test_a_full_disk_is_an_error_and_nothing_counts(
    client: Any, learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise SavingError("There is no room.")

    name = "spacy_cascade.tools.annotation.label_studio.journal.append_to_file"
    monkeypatch.setattr(name, fail)
    answer = client.post("/webhook", json=event(NEW))
    assert (answer.status_code, answer.json()) == (500, {"error": "There is no room."})
    assert client.get("/health").json()["annotated"] == 0
    monkeypatch.undo()
    assert client.post("/webhook", json=event(NEW)).status_code == 201
    assert client.get("/health").json()["annotated"] == 1


def test_a_defect_is_an_error_of_one_line(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("no luck")

    monkeypatch.setattr(app, "predict_tasks", fail)
    answer = client.post("/predict", json={"tasks": []})
    assert (answer.status_code, answer.json()) == (500, {"error": "KeyError: 'no luck'"})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (None, Labelling("label", "text", "text")),
        ("", Labelling("label", "text", "text")),
        (INTERFACE, Labelling("kind", "passage", "words")),
        (
            '<View><Image name="photo"/><Labels name="boxes" toName="photo"/><Text name="other"/>'
            '<Labels name="kind" toName="passage"/><Text name="passage"/></View>',
            Labelling("kind", "passage", "text"),
        ),
    ],
)
def test_the_interface_names_what_spans_of_a_text_are_labelled_with(
    config: str | None, expected: Labelling
) -> None:
    """Labels of other things, such as images, are none of its."""
    assert Labelling.read(config) == expected


def labelled(*labels: Any) -> dict[str, Any]:
    value = {"start": 0, "end": 3, "text": "HIV", "labels": [*labels]}
    return event(NEW, result=[{"type": "labels", "value": value}])


def regions(*values: Any) -> dict[str, Any]:
    return event(NEW, result=[{"type": "labels", "value": value} for value in values])


HALF = "\ud800"
BAD: list[tuple[str, object, int, str]] = [
    ("/predict", {"tasks": [{"id": 5, "data": {}}]}, 400, "Task 5, data['text']: there is no text"),
    ("/predict", {"tasks": "all"}, 422, "body.tasks"),
    ("/predict", {"tasks": [], "label_config": "<View"}, 400, "no XML"),
    ("/predict", {"tasks": [], "label_config": HALF}, 422, "body.label_config"),
    ("/predict", [1], 422, "body"),
    ("/setup", {"schema": "<View/>"}, 400, "no <Labels> for a <Text>"),
    ("/setup", {"schema": '<View><Labels toName="x"/></View>'}, 400, "no <Labels> for a <Text>"),
    ("/webhook", {"action": "ANNOTATION_CREATED"}, 400, "has no task with its annotation"),
    (
        "/webhook", {**event(NEW), "annotation": [{"result": []}] * 2},
        400, "has no task with its annotation",
    ),
    ("/webhook", {"action": "ANNOTATIONS_DELETED", "annotations": [{}]}, 422, "annotations.0.id"),
    ("/webhook", {"action": "TASKS_DELETED", "tasks": [{"id": None}]}, 422, "tasks.0.id"),
    ("/webhook", {HALF: 1}, 422, "body.action"),
    ("/webhook", event(NEW, result=None), 422, "annotation.0.result"),
    ("/webhook", event(NEW, result=[5]), 422, "annotation.0.result.0"),
    ("/webhook", event(NEW, task=HALF), 422, "body.task.0.id"),
    ("/webhook", event(NEW, task="x" * 1000), 422, "body.task.0.id"),
    ("/webhook", event(NEW, task={"a": 1}), 422, "body.task.0.id"),
    ("/webhook", event(NEW, task=10**4000), 422, "body.task.0.id"),
    ("/webhook", event(NEW, id=HALF), 422, "body.annotation.0.id"),
    ("/webhook", event(HALF), 400, "half of a surrogate pair"),
    ("/webhook", event("x " * 500_001), 400, "has 1,000,002 characters"),
    ("/webhook", event("HI"), 400, "character 0 to 3, but the text has 2"),
    ("/webhook", {**event(NEW), "task": {"id": 7, "data": "words"}}, 422, "body.task.0.data"),
    ("/webhook", labelled(HALF), 400, "half of a surrogate pair"),
    ("/webhook", labelled(5), 400, "'labels' that are no list of texts"),
    ("/webhook", labelled(*map(str, range(9_000))), 400, "has 9,000 labels"),
    ("/webhook", regions({"start": 0, "end": 3, "labels": 5}), 400, "no list of texts"),
    ("/webhook", regions({"start": 0, "end": 3, "labels": "virus"}), 400, "no list of texts"),
    ("/webhook", regions(5), 400, "a result of the type labels has no value"),
    (
        "/webhook", regions({"start": "x", "labels": ["virus"]}),
        400, "the offsets 'x' and None are not whole numbers",
    ),
    ("/train", {"annotations": [1]}, 422, "body.annotations.0"),
    ("/train", {"annotations": {}}, 422, "body.annotations"),
    ("/nowhere", {}, 404, "Not Found"),
    ("/health", {}, 405, "Method Not Allowed"),
]  # fmt: skip


DAMAGED: list[tuple[str, str]] = [
    ("", "body"),
    ("{", "body"),
    ('{"action": NaN}', "body.action"),
    ('{"annotation": ' + "[" * 100_000, "error"),
    (json.dumps(event(NEW)).replace("[{", '[{"n": ' + "1" * 5000 + ", "), "error"),
    (json.dumps(event("HI")).replace("[{", '[{"n": ' + "[" * 900 + "]" * 900 + ", "), ""),
]
"""Bodies that are cut, no JSON, or nested too deeply."""


def test_bad_requests_get_one_error_and_nothing_is_kept(client: Any, learner: Learner) -> None:
    requests = [(path, json.dumps(body), status, message) for path, body, status, message in BAD]
    requests += [("/webhook", body, 0, message) for body, message in DAMAGED]
    for path, body, status, message in requests:
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert 400 <= answer.status_code < 500
        assert status in (0, answer.status_code)
        assert list(answer.json()) == ["error"]
        assert message in answer.json()["error"]
        assert len(answer.content) < 2000
    assert client.get("/health").json()["annotated"] == 0
    assert not (learner.folder / RECORDS).exists()
