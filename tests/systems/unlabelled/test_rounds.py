"""Rounds of teachers and students on a made corpus with two kinds of cues."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab
from thinc.api import Config

from helpers import annotation
from spacy_cascade.errors import ConfigError, CorpusError, TemplateError
from spacy_cascade.pipeline.readers import input_doc
from spacy_cascade.systems.unlabelled import rounds
from spacy_cascade.systems.unlabelled.opinions import Opinion
from spacy_cascade.systems.unlabelled.pseudo_labels import Confidence
from spacy_cascade.systems.unlabelled.reporting import as_markdown
from spacy_cascade.systems.unlabelled.rounds import LABELLED, learn_unlabelled
from spacy_cascade.systems.unlabelled.teachers import Method, Teachers
from spacy_cascade.tools.recipes import Choices, make_config

ENDINGS = {"PER": ("son", "er"), "LOC": ("ton", "ford")}
CONTEXTS = {
    "PER": ("Mr {} was there .", "our friend {} said no ."),
    "LOC": ("trains to {} are late .", "they live near {} now ."),
}
SURE = Confidence(threshold=0.3, background=0.1)


def made_doc(vocab: Vocab, number: int, ending: int, context: int) -> Doc:
    """One name; its ending and its context each tell the type, in one of two ways."""
    label = ("PER", "LOC")[number % 2]
    stem = "".join("bdgklmnprt"[int(digit)] + "a" for digit in f"{number:03d}")
    name = f"{stem}{ENDINGS[label][ending]}".capitalize()
    words = CONTEXTS[label][context].format(name).split()
    doc = Doc(vocab, words=words, sent_starts=[True, *[False] * (len(words) - 1)])
    doc.set_ents([Span(doc, i, i + 1, label) for i, word in enumerate(words) if word == name])
    return doc


def made_config(**templates: Any) -> Config:
    made = make_config(Choices(sentences=True, small=True))
    for name in ("cascade_segmenter", "cascade_classifier"):
        component = made["components"][name]
        component["trainer"].update(iterations=8, threads=1)
        component["model"]["templates"].update(without=["seen_", "recurrence"], **templates)
    made["training"]["max_steps"] = 2
    return made


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Training shows the first ending and context only, dev the second ones.

    The unlabelled text has one of the first kind with one of the second.
    """
    folder = tmp_path_factory.mktemp("unlabelled")
    vocab = Vocab()
    parts = {
        "train": [made_doc(vocab, i, 0, 0) for i in range(8)],
        "dev": [made_doc(vocab, i, 1, 1) for i in range(100, 130)],
    }
    for name, docs in parts.items():
        DocBin(docs=docs).to_disk(folder / f"{name}.spacy")
    mixed = [made_doc(vocab, i, i // 2 % 2, 1 - i // 2 % 2) for i in range(200, 240)]
    return {"train": folder / "train.spacy", "dev": folder / "dev.spacy", "docs": mixed}


def learn(corpora: dict[str, Any], config: Config | None = None, **settings: Any) -> Any:
    settings = {"sure": SURE, "rounds": 1, **settings}
    docs = settings.pop("docs", corpora["docs"])
    return learn_unlabelled(
        config or made_config(), corpora["train"], corpora["dev"], docs, **settings
    )


class Sure(Teachers):
    """Always sure of the first word, with a product of views of these F1."""

    def __init__(self, products: Sequence[float]) -> None:
        self._products = list(products)
        self.asked: list[float] = []

    def opinions(self, student: Any, docs: Sequence[Doc]) -> list[Opinion]:
        self.asked.append(student.f1)
        self.alternative = pipeline_of(self._products.pop(0)) if self._products else None
        return [Opinion({(0, 1, "PER"): 0.9}, np.zeros(len(doc))) for doc in docs]


def pipeline_of(f1: float) -> Any:
    return SimpleNamespace(f1=f1, config=Config())


@pytest.mark.parametrize(
    ("students", "products", "best", "because"),
    [
        ([5, 5], [], LABELLED, "round 1 gained nothing on dev"),
        ([5, 6, 5.5], [], "student of round 1", "round 2 gained nothing on dev"),
        ([5, 4, 3], [6, 6], "product of views, round 1", "round 2 gained nothing on dev"),
        ([5, 6, 7], [6, 8], "product of views, round 2", "2 rounds were asked for"),
        ([5, 4, 7], [6, 6], "student of round 2", "2 rounds were asked for"),
    ],
)
def test_rounds_end_without_gain_and_the_best_is_kept(
    students: list[float],
    products: list[float],
    best: str,
    because: str,
    corpora: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f1, teachers = iter(students), Sure(products)
    monkeypatch.setattr(rounds, "train_pipeline", lambda *_: pipeline_of(next(f1)))
    monkeypatch.setattr(rounds, "entity_f1", lambda nlp, _: nlp.f1)
    monkeypatch.setattr(rounds, "teachers_for", lambda *_: teachers)
    nlp, learnt = learn(corpora, rounds=2)
    assert (learnt.best, learnt.because) == (best, because)
    assert nlp.f1 == learnt.best_f1 == max([*students, *products])
    assert learnt.labelled_f1 == students[0]
    assert [each.student_f1 for each in learnt.rounds] == students[1:]
    assert [each.product_f1 for each in learnt.rounds if each.product_f1 is not None] == products
    assert teachers.asked == students[:-1]  # of the last student, be it the best or not


@pytest.mark.slow(kind="workflows")
@pytest.mark.parametrize("method", list(Method))
def test_names_that_labels_do_not_show_are_learnt(corpora: dict[str, Any], method: Method) -> None:
    nlp, learnt = learn(corpora, method=method, rounds=3)
    assert learnt.best_f1 > learnt.labelled_f1 + 0.05
    assert learnt.best != LABELLED
    (first, *_) = learnt.rounds
    assert first.added.right is not None
    assert first.added.right > 0.8
    assert (first.product_f1 is not None) == (method is Method.cotrain)
    assert nlp.config["paths"]["train"] is None  # as the given config has it
    text = as_markdown(learnt, SURE)
    assert "compare with them" in text
    assert f"\n| LOC | {first.added.by_label['LOC']} |" in text


@pytest.mark.slow(kind="workflows")
def test_gold_of_unlabelled_docs_is_not_learnt_from(corpora: dict[str, Any]) -> None:
    bare = [input_doc(doc, ("sentences",), doc.vocab) for doc in corpora["docs"]]
    (one, of_gold), (other, of_bare) = (
        learn(corpora, docs=docs) for docs in (corpora["docs"], bare)
    )
    assert of_gold.knows_gold
    assert not of_bare.knows_gold
    assert of_bare.rounds[0].added.right is None
    assert of_gold.best_f1 == of_bare.best_f1
    for doc in bare[:5]:
        found = [annotation(nlp(input_doc(doc, (), nlp.vocab))) for nlp in (one, other)]
        assert found[0] == found[1]


@pytest.mark.slow(kind="workflows")
def test_nothing_sure_leaves_the_labelled_pipeline(corpora: dict[str, Any]) -> None:
    unsure = Confidence(threshold=1.0)
    _, learnt = learn(corpora, method=Method.self, sure=unsure, rounds=2)
    assert learnt.rounds == []
    assert learnt.best == LABELLED
    assert learnt.best_f1 == learnt.labelled_f1
    assert learnt.because == "no span has a confidence of 1 or more"
    assert learnt.because in as_markdown(learnt, unsure)


@pytest.mark.slow(kind="workflows")
def test_what_cannot_be_learnt_from_is_refused(corpora: dict[str, Any]) -> None:
    empty = Doc(Vocab())
    with pytest.raises(CorpusError, match="no unlabelled text"):
        learn(corpora, docs=[empty])
    with pytest.raises(ConfigError, match="1 round or more, not 0"):
        learn(corpora, rounds=0)
    internal = made_config()
    internal["components"]["cascade_segmenter"]["model"]["templates"] = {
        "@misc": "spacy_cascade.Templates.v1", "templates": ["word"], "patterns": {},
        "lexicons": {},
    }  # fmt: skip
    with pytest.raises(TemplateError, match="no external view"):
        learn(corpora, internal)
    frozen = made_config()
    frozen["training"]["frozen_components"] = ["cascade_segmenter"]
    with pytest.raises(ConfigError, match="cannot freeze components"):
        learn(corpora, frozen)
