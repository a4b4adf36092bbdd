"""Texts of every kind: nothing fails, and no token or character changes."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc

from helpers import TEXTS, annotation, bounds, confidences, make_doc, trained_cascade
from unusual_texts import FEW


@pytest.mark.parametrize("name", FEW)
def test_the_text_stays_as_it_is(name: str, trained: Language) -> None:
    text = FEW[name]
    plain = trained.make_doc(text)
    doc = trained(text)
    assert doc.text == text
    assert [token.text_with_ws for token in doc] == [token.text_with_ws for token in plain]
    assert all(entity.text.strip() for entity in doc.ents)
    assert len(confidences(doc)) == len(doc.spans["cascade"])
    for entity in doc.ents:
        assert text[entity.start_char : entity.end_char] == entity.text


def test_batches_of_unusual_texts_give_what_single_texts_give(trained: Language) -> None:
    texts = [*FEW.values(), *TEXTS]
    expected = [annotation(trained(text)) for text in texts]
    for size in (1, 3, 1000):
        assert [annotation(d) for d in trained.pipe(texts, batch_size=size)] == expected


@pytest.mark.parametrize("texts", [[""], ["", "", ""], ["", TEXTS[0], ""], [TEXTS[0], ""]])
def test_empty_docs_in_a_batch(texts: list[str], trained: Language) -> None:
    docs = list(trained.pipe(texts))
    for text, doc in zip(texts, docs, strict=True):
        assert len(doc.spans["cascade"]) == (3 if text else 0)
        assert confidences(doc) == annotation(trained(text))["scores"]["cascade"]


def test_no_texts(trained: Language) -> None:
    assert list(trained.pipe([])) == []
    for name in trained.pipe_names:
        component = trained.get_pipe(name)
        assert component.predict([]) == []
        component.set_annotations([], [])


def test_sentence_starts_make_sequences(trained: Language) -> None:
    """A Doc of several sentences is tagged as the sentences are by themselves."""
    starts = np.cumsum([0, *(len(text.split()) for text in TEXTS)]).tolist()
    together = trained(make_doc(trained.vocab, " ".join(TEXTS), sentence_starts=starts[:-1]))
    found = []
    for start, text in zip(starts[:-1], TEXTS, strict=True):
        doc = trained(make_doc(trained.vocab, text))
        found += [(s.start + start, s.end + start, s.label_) for s in doc.spans["cascade"]]
    assert bounds(together.spans["cascade"]) == found
    assert bounds(together.ents) == found
    assert [token.is_sent_start for token in together] == [i in starts for i in range(starts[-1])]


def test_a_doc_without_sentence_starts_gets_none(trained: Language) -> None:
    doc = trained(make_doc(trained.vocab, TEXTS[0]))
    assert not doc.has_annotation("SENT_START")
    assert [token.is_sent_start for token in doc][1:] == [None] * (len(doc) - 1)


def test_the_table_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting it anew changes no prediction."""
    monkeypatch.setattr("spacy_cascade.pipeline.base._MAXIMUM_LEXEMES", 500)
    nlp = trained_cascade()
    expected = annotation(nlp(TEXTS[0]))
    for batch in range(5):
        nlp(Doc(nlp.vocab, words=[f"word{batch}x{i}" for i in range(400)]))
        assert annotation(nlp(TEXTS[0])) == expected
        for name in nlp.pipe_names:
            assert len(nlp.get_pipe(name).space.lexemes) < 1000
