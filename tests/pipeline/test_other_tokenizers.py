"""A component in a pipeline that splits text otherwise than that of its training says so, once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from helpers import add_classifier, add_segmenter, blank
from spacy_cascade.pipeline.readers import make_corpus

TEXTS = ("IL-2 binds p50/p65.", "STAT5 needs (NF-kappaB).", "Nothing (else) here.")
NEW = "IL-2 binds (p50/p65) here."
KEY = "tokenizer"


def named(tokenizer: str) -> Language:
    config = blank().config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": tokenizer}
    return type(blank()).from_config(config)


def gold(nlp: Language, text: str) -> Doc:
    doc = nlp.make_doc(text)
    doc.set_ents([Span(doc, 0, 1, "DNA")])
    return doc


def trained(
    tokenizer: str = "spacy_cascade.WholeNamesTokenizer.v1",
    shown: Callable[[Doc], Doc] = Doc.copy,
) -> Language:
    """shown: makes what components are shown of gold Docs, besides their annotation."""
    nlp = named(tokenizer)
    add_segmenter(nlp)
    add_classifier(nlp)
    examples = [Example(shown(nlp.make_doc(text)), gold(nlp, text)) for text in TEXTS]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


@pytest.fixture(scope="module")
def known() -> Language:
    return trained()


def sourced(other: Language, into: Language) -> Language:
    for name in other.pipe_names:
        into.add_pipe(name, source=other)
    return into


def said(run: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        run()
    return [str(one.message) for one in noted if "tokens of" in str(one.message)]


def test_both_tokenizers_are_named_once(known: Language, tmp_path: Path) -> None:
    assert said(lambda: known(NEW)) == []
    app = sourced(known, blank())
    (message,) = said(lambda: [app(NEW), list(app.pipe([NEW] * 3))])
    assert "trained on tokens of spacy_cascade.WholeNamesTokenizer.v1 of 'xx'" in message
    assert "has spacy.Tokenizer.v1 of 'xx': 'NF-kappaB' was 'NF-kappaB' in training" in message
    assert "and is 'NF - kappaB' here" in message
    assert said(lambda: app(NEW)) == []
    app.to_disk(tmp_path / "app")
    again = spacy.load(tmp_path / "app")
    assert len(said(lambda: list(again.pipe([NEW, NEW])))) == 1
    assert said(lambda: known(NEW)) == []


def test_the_same_tokenizer_is_no_reason(known: Language, tmp_path: Path) -> None:
    known.to_disk(tmp_path / "known")
    for app in (
        spacy.load(tmp_path / "known"),
        sourced(known, named("spacy_cascade.WholeNamesTokenizer.v1")),
    ):
        example = Example(app.make_doc(NEW), gold(app, NEW))
        assert said(lambda app=app, one=example: [app(NEW), app.evaluate([one])]) == []


def test_docs_with_given_words_are_no_reason(known: Language) -> None:
    app = sourced(known, blank())
    words = Doc(app.vocab, words=NEW.split()), app.make_doc("a b c")
    merged = app.make_doc(NEW)
    with merged.retokenize() as retokenizer:
        retokenizer.merge(merged[0:2])
    assert said(lambda: [app(doc) for doc in (*words, merged)]) == []
    assert len(said(lambda: app(NEW))) == 1
    pipe = known.get_pipe("cascade_segmenter")
    pipe.model.attrs[KEY].checked = None  # type: ignore[attr-defined]
    assert said(lambda: pipe(blank().make_doc(NEW))) == []  # type: ignore[operator]


def test_training_on_the_words_of_a_corpus_is_no_reason(tmp_path: Path) -> None:
    nlp = named("spacy_cascade.WholeNamesTokenizer.v1")
    DocBin(docs=[gold(blank(), text) for text in TEXTS]).to_disk(tmp_path / "in.spacy")
    examples = list(make_corpus(tmp_path / "in.spacy")(nlp))
    assert len(examples[0].predicted) > len(nlp.make_doc(TEXTS[0]))
    add_segmenter(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert nlp.get_pipe("cascade_segmenter").model.attrs[KEY] is None  # type: ignore[attr-defined]
    assert said(lambda: sourced(nlp, blank())(NEW)) == []
    assert said(lambda: nlp(NEW)) == []


def test_models_of_other_releases_say_nothing(known: Language) -> None:
    pipe: Any = known.get_pipe("cascade_segmenter")
    kept, app = pipe.model.attrs[KEY], blank()
    assert len(kept.to_save()) > 20
    pipe.model.attrs[KEY] = None
    copy = add_segmenter(app).from_bytes(pipe.to_bytes())
    assert copy.model.attrs[KEY] is None
    pipe.model.attrs[KEY] = type(kept)(kept.name, kept.words[:-1])
    assert copy.from_bytes(pipe.to_bytes()).model.attrs[KEY] is None
    pipe.model.attrs[KEY] = kept
    assert copy.from_bytes(pipe.to_bytes()).model.attrs[KEY].to_save() == kept.to_save()
    assert said(lambda: app(NEW)) != []


@pytest.mark.parametrize("has_sentences", [False, True])
def test_a_model_of_documents_loses_nothing_to_a_sentencizer(has_sentences: bool) -> None:
    """It takes whole Docs, whatever sets sentence starts before it."""
    nlp, app = trained(), named("spacy_cascade.WholeNamesTokenizer.v1")
    text = " ".join(TEXTS)
    expected = [(e.start, e.end, e.label_) for e in nlp(text).ents]
    if has_sentences:
        app.add_pipe("sentencizer")
    found = sourced(nlp, app)(text)
    assert len(list(found.sents)) == 3 if has_sentences else not found.has_annotation("SENT_START")
    assert [(e.start, e.end, e.label_) for e in found.ents] == expected
