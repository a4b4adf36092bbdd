"""What a learner learns from, what it begins with, and what it does with texts it cannot use."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from shutil import copytree
from threading import Event
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example

from helpers import SENTENCES, annotations, blank, gold_doc
from spacy_cascade.tools.annotation.label_studio import learner as module
from spacy_cascade.tools.annotation.label_studio.journal import RECORDS, Journal, forgotten
from spacy_cascade.tools.annotation.label_studio.learner import MODEL, Corpora, Learner
from spacy_cascade.tools.annotation.learn import Learnt
from studio import NEW, SECONDS, VIRUS


def record(task: int, text: str = NEW, *spans: dict[str, Any]) -> dict[str, Any]:
    return {"text": text, "spans": list(spans), "task": task, "annotation": task}


def trained(learner: Learner, *changes: dict[str, Any]) -> Language:
    """The pipeline after a training on changes."""
    learner.add(changes)
    learner.begin()
    assert learner.wait(SECONDS)
    assert learner.status().error is None
    return learner.pipeline()[0]


def same(nlp: Language, other: Path) -> bool:
    return annotations(nlp) == annotations(spacy.load(other))


class Asked:
    """Stands for `learn`: notes what it was given, and gives the pipeline back as changed."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], list[str], list[str]]] = []
        self.nlps: list[Language] = []

    def __call__(
        self,
        nlp: Language,
        new: Sequence[Example],
        old: Sequence[Example] = (),
        dev: Sequence[Example] = (),
    ) -> Learnt:
        self.nlps.append(nlp)
        self.calls.append(tuple([one.text.strip() for one in each] for each in (new, old, dev)))
        return Learnt(nlp, "adapted", ())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    asked = Asked()
    monkeypatch.setattr(module, "learn", asked)
    return asked


def test_each_training_begins_with_the_first_pipeline(learner: Learner, model: Path) -> None:
    first = spacy.load(model)
    assert "virus" in {ent.label_ for ent in trained(learner, record(7, NEW, VIRUS))(NEW).ents}
    again = trained(learner, record(7, NEW))
    assert again.pipe_labels == first.pipe_labels, "nothing stays of what no longer counts"
    assert learner.status().version == "model-1"
    with closing(Learner(model, learner.folder.parent / "direct")) as direct:
        assert annotations(trained(direct, record(7, NEW))) == annotations(again)


def test_it_learns_from_all_texts_and_the_given_corpora(
    model: Path, tmp_path: Path, asked: Asked
) -> None:
    vocab = blank().vocab
    paths = [tmp_path / "train.spacy", tmp_path / "dev.spacy"]
    for path, sentence in zip(paths, SENTENCES, strict=False):
        DocBin(docs=[gold_doc(vocab, *sentence)]).to_disk(path)
    old, dev = ([SENTENCES[i][0]] for i in (0, 1))
    with closing(Learner(model, tmp_path / "out", Corpora(*paths))) as learner:
        trained(learner, record(1, "one"), record(2, "two"))
        trained(learner, record(3, "three"), record(1, "another"))
    assert asked.calls == [
        (["one", "two"], old, dev),
        (["two", "three", "another"], old, dev),
    ]
    assert asked.nlps[0] is not asked.nlps[1]


def test_without_annotation_nothing_is_trained(
    learner: Learner, model: Path, asked: Asked, caplog: pytest.LogCaptureFixture
) -> None:
    before, _ = learner.pipeline()
    learner.begin()
    assert not learner.status().is_training
    assert learner.wait(SECONDS)
    assert learner.pipeline()[0] is before
    status = learner.status()
    assert (status.is_training, status.error, status.version) == (False, None, "model-0")
    assert not asked.calls
    assert not caplog.records
    assert not (learner.folder / MODEL).exists()


@pytest.mark.slow(kind="learners")
def test_what_was_deleted_is_not_known_any_more(learner: Learner, model: Path) -> None:
    assert not same(trained(learner, record(7, NEW, VIRUS)), model)
    assert same(trained(learner, forgotten(annotation=7)), model)
    assert learner.status().version == "model-0"
    assert learner.status().versions == ("model-0", "model-1", "model-0")
    learner.close()
    with closing(Learner(model, learner.folder)) as again:
        assert same(again.pipeline()[0], model)
        assert again.status().version == "model-0"


def test_a_restart_goes_on_with_the_newest_pipeline(learner: Learner, model: Path) -> None:
    found = annotations(trained(learner, record(7, NEW, VIRUS)))
    learner.close()
    with closing(Learner(model, learner.folder)) as again:
        nlp, version = again.pipeline()
        assert version == "model-1"
        assert annotations(nlp) == found
        assert [entity.label_ for entity in nlp(NEW).ents] == ["virus"]
        assert again.texts() == [record(7, NEW, VIRUS)]


def test_a_worse_pipeline_is_not_taken(model: Path, tmp_path: Path) -> None:
    dev = tmp_path / "dev.spacy"
    vocab = blank().vocab
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in SENTENCES]).to_disk(dev)
    with closing(Learner(model, tmp_path / "out", Corpora(dev=dev))) as learner:
        assert same(trained(learner, record(1, SENTENCES[0][0])), model)
        assert learner.status().version == "model-0"
        (reason,) = learner.status().left_out
        assert "kept as it was: no way to learn is better on DEV" in reason


def test_one_text_does_not_keep_the_others_back(
    model: Path, tmp_path: Path, asked: Asked, caplog: pytest.LogCaptureFixture
) -> None:
    """Those that an earlier release kept, too: no training and no start fails because of them."""
    many = " ".join(f"w{i}" for i in range(9_000))
    spans = [{"start": 0, "end": 2, "label": f"kind {i}"} for i in range(9_000)]
    records = [
        record(1, "x " * 500_001),
        record(2, many, *spans),
        record(3, "HIV", {"start": 0, "end": 30, "label": "virus"}),
        record(4, NEW, VIRUS),
    ]
    (tmp_path / "out").mkdir()
    lines = [json.dumps(one) + "\n" for one in records]
    (tmp_path / "out" / RECORDS).write_text("".join(lines))
    for _ in range(2):
        with closing(Learner(model, tmp_path / "out")) as learner:
            trained(learner)
            assert asked.calls.pop() == ([NEW], [], [])
            status = learner.status()
            assert (status.annotated, status.version) == (4, "model-1")
            reasons = (
                "task 1:1 has more than 1,000,000 characters",
                "task 2:1 has 9,000 labels",
                "character 0 to 30",
            )
            for reason, message in zip(reasons, status.left_out, strict=True):
                assert reason in message
    assert "3 annotated texts are left out" in caplog.text


def test_new_labels_have_a_bound(
    learner: Learner, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_NEW_LABELS", 2)
    labels = ["protein", "a", "b", "c", "b", "DNA"]
    texts = [f"text {i}" for i in range(len(labels))]
    span = {"start": 0, "end": 4}
    trained(
        learner,
        *(
            record(i, text, {**span, "label": label})
            for i, (text, label) in enumerate(zip(texts, labels, strict=True))
        ),
    )
    assert asked.calls == [([texts[i] for i in (0, 1, 2, 4, 5)], [], [])]
    assert learner.status().left_out == ("task 3:1 has new labels beyond 2 of other texts.",)


@pytest.mark.parametrize(
    ("n", "more"), [(10, []), (11, ["and 1 more"]), (1200, ["and 1,190 more"])]
)
def test_of_many_texts_that_are_left_out_some_are_named(
    learner: Learner, asked: Asked, monkeypatch: pytest.MonkeyPatch, n: int, more: list[str]
) -> None:
    monkeypatch.setattr(module, "MOST_NEW_LABELS", 0)
    trained(learner, *(record(i, f"HIV {i}", VIRUS) for i in range(n)))
    left_out = learner.status().left_out
    assert ["labels beyond 0" in reason for reason in left_out[:10]] == [True] * 10
    assert [*left_out[10:]] == more
    assert not asked.calls


def test_nobody_sees_half_of_a_change(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    """While annotation is written, whoever asks for it, or adds some, waits."""
    begun, go = Event(), Event()
    add = Journal.add

    def held(self: Journal, changes: Any) -> bool:
        begun.set()
        assert go.wait(SECONDS)
        return add(self, changes)

    monkeypatch.setattr(Journal, "add", held)
    calls = (learner.texts, learner.status, learner.pipeline, lambda: learner.add([record(8)]))
    with ThreadPoolExecutor(1 + len(calls)) as pool:
        first = pool.submit(learner.add, [record(7)])
        assert begun.wait(SECONDS)
        others = [pool.submit(call) for call in calls]
        done = wait(others, 0.2).done
        go.set()
        assert first.result(SECONDS)
    assert not done
    assert record(7) in learner.texts()


def test_a_process_can_end_while_it_learns(model: Path, tmp_path: Path) -> None:
    """No thread of its own holds the process up."""
    before = set(threading.enumerate())
    with closing(Learner(model, tmp_path / "out")):
        threads = set(threading.enumerate()) - before
        assert threads
        assert all(thread.daemon for thread in threads)


def test_a_saved_pipeline_that_has_learnt_no_text_is_the_first_version(
    learner: Learner, model: Path
) -> None:
    """As one that somebody has put there."""
    learner.close()
    copytree(model, learner.folder / MODEL)
    with closing(Learner(model, learner.folder)) as again:
        assert again.status().version == "model-0"


def test_a_training_that_fails_leaves_the_pipeline_as_it_is(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(module, "learn", fail)
    learner.add([record(1)])
    learner.begin()
    assert learner.wait(SECONDS)
    assert learner.status().error == "RuntimeError: no room"
    assert learner.pipeline()[1] == "model-0"
    monkeypatch.setattr(module, "learn", Asked())
    trained(learner)
    assert learner.pipeline()[1] == "model-1"
