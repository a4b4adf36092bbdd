"""Training from the entities of a teacher, with its confidences."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import blank, bounds, cascade, gold_doc, make_doc, sample_docs, train, trained_cascade
from spacy_cascade import silver
from spacy_cascade.errors import ConfigError
from spacy_cascade.pipeline.readers import input_doc

WRONG = 0.5
"""Share of the teacher's entities that have another label."""


@Language.factory("stand_in_teacher")
class Teacher:
    """Stands in for any recogniser: it knows the gold entities, but confuses their types.

    It gives right entities a confidence from 0.7 to 1, and wrong ones one from 0.3 to 0.75.
    """

    def __init__(self, nlp: Language, name: str) -> None:
        self.gold: dict[str, list[tuple[int, int, str]]] = {}
        self.rng = random.Random(0)

    def learn(self, docs: Iterable[Doc]) -> None:
        self.gold = {doc.text: bounds(doc.ents) for doc in docs}

    def __call__(self, doc: Doc) -> Doc:
        spans, scores = [], []
        for start, end, label in self.gold[doc.text]:
            is_wrong = self.rng.random() < WRONG
            spans.append(Span(doc, start, end, "protein" if is_wrong else label))
            is_wrong = spans[-1].label_ != label
            scores.append(self.rng.uniform(*((0.3, 0.75) if is_wrong else (0.7, 1.0))))
        doc.spans["teacher"] = spans
        doc.spans["teacher"].attrs["scores"] = scores
        return doc


def test_doubtful_spans_are_better_left_open_than_learnt() -> None:
    teacher = blank()
    pipe = teacher.add_pipe("stand_in_teacher")
    texts = sample_docs(teacher.vocab, "train", 12)
    pipe.learn(texts)
    found = list(teacher.pipe(input_doc(doc, ("sentences",), teacher.vocab) for doc in texts))
    f1 = {}
    for threshold in (0.0, 0.75):
        nlp = cascade()
        references = list(silver(found, "teacher", threshold))
        train(nlp, [Example(input_doc(r, ("sentences",), nlp.vocab), r) for r in references])
        dev = sample_docs(nlp.vocab, "dev", 10)
        judged = [Example(input_doc(r, ("sentences",), nlp.vocab), r) for r in dev]
        f1[threshold] = nlp.evaluate(judged)["ents_f"]
    assert f1[0.75] > f1[0.0] + 0.05


def test_sure_spans_are_entities_and_doubtful_ones_are_missing() -> None:
    nlp = blank()
    doc = make_doc(nlp.vocab, "IL-2 gene needs STAT5 and AP-1 sites .", [0])
    spans = {
        (0, 2, "DNA"): 0.9,
        (0, 1, "protein"): 0.85,
        (3, 4, "protein"): 0.5,
        (5, 7, "DNA"): 0.1,
    }
    doc.spans["x"] = [Span(doc, *span) for span in spans]
    doc.spans["x"].attrs["scores"] = list(spans.values())
    (found,) = silver([doc], "x", threshold=0.8, unlikely=0.2)
    assert bounds(found.ents) == [(0, 2, "DNA")]
    assert [token.ent_iob_ for token in found] == ["B", "I", "O", "", "O", "O", "O", "O"]
    assert found[0].is_sent_start
    assert not found.spans
    (all_open,) = silver([doc], "x", threshold=1.0)
    assert [token.ent_iob_ for token in all_open] == ["", "", "O", "", "O", "", "", "O"]


def test_a_function_or_a_cascade_gives_the_confidences() -> None:
    nlp = trained_cascade()
    docs = list(nlp.pipe(["The p53 gene .", "Jurkat cells express AP-1 ."]))
    for threshold in (0.0, 0.5, 0.99):
        wanted = [[e for e in doc.ents if e._.confidence >= threshold] for doc in docs]
        found = [bounds(doc.ents) for doc in silver(docs, threshold=threshold)]
        assert found == [bounds(entities) for entities in wanted]
    gold = gold_doc(nlp.vocab, "p53 genes", [(0, 1, "protein")])
    with pytest.raises(ConfigError, match=r"Not every span.*lambda span"):
        list(silver([gold]))
    (found,) = silver([gold], confidence=lambda span: 1.0)
    assert bounds(found.ents) == [(0, 1, "protein")]


def test_what_does_not_go_together_is_refused() -> None:
    doc = make_doc(blank().vocab, "p53")
    with pytest.raises(ConfigError, match=r"0\.9 and 0\.5"):
        list(silver([doc], threshold=0.5, unlikely=0.9))
    with pytest.raises(ConfigError, match=r"no doc\.spans\['y'\]"):
        list(silver([doc], "y"))
