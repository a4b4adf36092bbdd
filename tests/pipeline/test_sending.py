"""Docs that processes send in batches are those that spaCy would send, one by one, as bytes."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from threading import Lock
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import raise_error
from spacy.vocab import Vocab

from helpers import TEXTS, annotation, blank, trained_cascade
from spacy_cascade.pipeline import sending
from spacy_cascade.pipeline.spans.confidences import confidence_of
from spacy_cascade.pipeline.spans.entities import write_group
from spacy_cascade.pipeline.spans.groups import LastingGroup
from spacy_cascade.pipeline.spans.tables import table_of


def parsed(vocab: Vocab) -> Doc:
    """A Doc with all that spaCy sends."""
    doc = Doc(
        vocab,
        words=["Ann", "saw", "the", " ", "dog", "."],
        spaces=[True, True, False, True, False, False],
        tags=["NNP", "VBD", "DT", "X", "NN", "."],
        pos=["PROPN", "VERB", "DET", "X", "NOUN", "PUNCT"],
        lemmas=["Ann", "see", "the", " ", "dog", "."], heads=[1, 1, 4, 4, 1, 1],
        morphs=["Number=Sing", "Tense=Past", "", "", "Number=Sing", ""],
        deps=["nsubj", "ROOT", "det", "dep", "dobj", "punct"],
        user_data={"tuple": (1, 2), ("._.", "known", 0, None): {"a": [0.5]}},
    )  # fmt: skip
    doc.ents = [Span(doc, 0, 1, "PER", kb_id="Q1", span_id="id1"), Span(doc, 4, 5, "DOG")]
    doc.tensor, doc.cats, doc.sentiment = np.ones((6, 2), dtype=np.float32), {"pet": 0.7}, 0.2
    spans = [Span(doc, 1, 3, "OF-GROUP", kb_id="Q2")]
    doc.spans["plain"] = SpanGroup(doc, name="other name", spans=spans, attrs={"n": 1})
    write_group(doc, "ours", table_of(list(doc.ents)), np.array([0.3, 0.6]))
    new = Span(doc, 2, 3, "ONLY-OURS", kb_id="Q9", span_id="id9")
    write_group(doc, "new", table_of([new]), None)
    doc.spans["changed"] = doc.spans["ours"].copy()
    del doc.spans["changed"][0]
    return doc


def merged(vocab: Vocab) -> Doc:
    """One whose spans are known by characters."""
    doc = parsed(vocab)
    doc.user_data.clear()
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:5])
    return doc


def of_sentences(vocab: Vocab) -> Doc:
    return Doc(vocab, words=["Yes", ".", "No", "."], sent_starts=[True, False, True, False])


def own_heads(vocab: Vocab) -> Doc:
    return Doc(vocab, words=["Yes", "No"], heads=[0, 1], deps=["ROOT", "ROOT"])


def docs_of(vocab: Vocab) -> list[Doc]:
    made = [parsed, merged, of_sentences, lambda vocab: Doc(vocab), own_heads]
    return [make(vocab) for make in made]


def received(docs: list[Doc], vocab: Vocab) -> list[Doc]:
    (carrier,) = sending._send(iter(docs))
    sent: Any = pickle.loads(pickle.dumps(carrier._context))
    return list(sending._unpack(pickle.loads(sent.pickled), vocab))


def content(doc: Doc) -> dict[str, Any]:
    """All that spaCy would write, with strings in any order, and spans as they are read."""
    written = doc.to_dict(exclude=["spans"])
    groups = {
        key: (group.name, sorted(group.attrs), [
            (s.start, s.end, s.start_char, s.end_char, s.label_, s.kb_id_, s.id_) for s in group
        ])
        for key, group in doc.spans.items()
    }  # fmt: skip
    arrays = {key: written.pop(key).tolist() for key in ("array_body", "tensor")}
    return {**written, **arrays, "strings": set(written["strings"]), "spans": groups}


@pytest.mark.parametrize(
    "chosen", [slice(None), slice(0, 1), slice(2, 3), slice(3, 4), slice(4, 5)]
)
def test_a_batch_has_what_bytes_have(chosen: slice) -> None:
    docs, ours, spacys = docs_of(blank().vocab)[chosen], blank().vocab, blank().vocab
    again = received(docs, ours)
    as_bytes = [Doc(spacys).from_bytes(doc.to_bytes()) for doc in docs]
    for doc, other, original in zip(again, as_bytes, docs, strict=True):
        assert content(doc) | {"user_data_values": b""} == content(other) | {
            "user_data_values": b""
        }
        assert doc.user_data == original.user_data  # where bytes have lists for tuples
        assert [s.text for s in doc.sents] == [s.text for s in other.sents] or not len(doc)
        assert annotation(doc) == annotation(original)
        assert {string for string in spacys.strings if string} <= set(ours.strings)


def test_groups_that_components_write_last_where_they_are_received() -> None:
    (doc,) = received([parsed(blank().vocab)], blank().vocab)
    lasting = {key for key, group in doc.spans.items() if isinstance(group, LastingGroup)}
    assert lasting == {"ours", "new"}
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
    assert [(span.text, confidence_of(span)) for span in doc.spans["ours"]] == [
        ("Ann", 0.3), ("dog", 0.6),
    ]  # fmt: skip


def test_only_what_is_annotated_is_sent() -> None:
    vocab = blank().vocab
    docs = [Doc(vocab, words, [True] * len(words)) for words in (["a", "b"], ["c"])]
    (carrier,) = sending._send(iter(docs))
    sent: Any = pickle.loads(carrier._context.pickled)
    assert [sending._NAMES[column] for column in sent.columns] == ["NORM", "SENT_START"]
    assert (sent.tokens.shape, sent.n_tokens) == ((3, 4), [2, 1])
    assert list(sending._send(iter([]))) == []
    assert len(Doc(vocab).from_bytes(carrier.to_bytes())) == 0
    docs[1]._context = 0
    (carrier,) = sending._send(iter(docs))
    assert pickle.loads(carrier._context.pickled).fields == {"_context": [None, 0]}
    docs[1].user_token_hooks["vector"] = len
    assert list(sending._send(iter(docs))) == docs
    assert (sent.fields, sent.groups, sorted(sent.strings)) == ({}, [{}, {}], ["a", "b", "c"])


@pytest.fixture(scope="module")
def nlp() -> Language:
    return trained_cascade()


def test_two_processes_give_what_one_gives(nlp: Language) -> None:
    contexts = [None, 0, "", [], {"n": 1}, False]
    texts = [(text, contexts[i % 6]) for i, text in enumerate([*TEXTS, "", " "])]
    one = [(annotation(doc), context) for doc, context in nlp.pipe(texts, as_tuples=True)]
    options: dict[str, Any] = {"as_tuples": True, "n_process": 2, "batch_size": 3}
    two = [(annotation(doc), context) for doc, context in nlp.pipe(texts, **options)]
    assert two == one
    assert not multiprocessing.active_children()


@Language.component("refuses_one_text")
def refuse(doc: Doc) -> Doc:
    if doc.text == TEXTS[1]:
        raise ValueError("refused")
    return doc


@Language.component("keeps_a_lock")
def keep_lock(doc: Doc) -> Doc:
    doc.user_data["lock"] = Lock()
    return doc


@Language.component("has_hooks")
def have_hooks(doc: Doc) -> Doc:
    doc.user_hooks["sents"] = iter
    return doc


@pytest.fixture
def own(nlp: Language) -> Iterator[Language]:
    """The pipeline, with steps that are taken away afterwards."""
    before = list(nlp.pipe_names)
    yield nlp
    for name in set(nlp.pipe_names) - set(before):
        nlp.remove_pipe(name)


def test_docs_that_fail_are_left_out(own: Language) -> None:
    own.add_pipe("refuses_one_text", first=True)
    own.set_error_handler(lambda *_: None)
    found = [doc.text for doc in own.pipe(TEXTS, n_process=2, batch_size=2)]
    own.set_error_handler(raise_error)
    assert found == [text for text in TEXTS if text != TEXTS[1]]


def test_what_cannot_be_sent_is_reported(own: Language) -> None:
    own.add_pipe("keeps_a_lock")
    with pytest.raises(ValueError, match="cannot pickle"):
        list(own.pipe(TEXTS, n_process=2))


def test_docs_with_hooks_are_sent_as_spacy_does(own: Language) -> None:
    own.add_pipe("has_hooks")
    docs = list(own.pipe(TEXTS, n_process=2))
    assert [doc.text for doc in docs] == TEXTS
    assert [doc.user_hooks for doc in docs] == [{}] * len(TEXTS)


def test_other_pipelines_and_other_releases_of_spacy_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sending, "_unpack", None)
    plain = blank()
    plain.add_pipe("sentencizer")
    assert [doc.text for doc in plain.pipe(TEXTS, n_process=2)] == TEXTS
    monkeypatch.setattr(Language, "_multiprocessing_pipe", "spaCy's", raising=False)
    sending.send_batches()
    assert Language._multiprocessing_pipe is sending._pipe  # type: ignore[comparison-overlap]
    monkeypatch.setattr(sending, "_pipe_of_spacy", None)
    monkeypatch.setattr(Language, "_multiprocessing_pipe", "another", raising=False)
    sending.send_batches()
    assert Language._multiprocessing_pipe == "another"  # type: ignore[comparison-overlap]
