"""Docs that are longer than `nlp.max_length`: where they are cut, and what the joined ones keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from bulk_truth import rows_of
from helpers import TEXTS, blank
from spacy_cascade import Annotator
from spacy_cascade.tools.bulk import annotator as module
from spacy_cascade.tools.bulk.long_docs import joined, parts_of

NLP = blank()
TEXT = st.text("ab .!\n", max_size=60)


def cut(doc: Doc, limit: int) -> list[str]:
    return [part.text for part in parts_of(doc, limit)]


@settings(deadline=None)
@given(TEXT, st.integers(1, 70))
def test_parts_are_the_whole_text_and_within_the_limit(text: str, limit: int) -> None:
    doc = NLP.make_doc(text)
    parts = parts_of(doc, limit)
    assert "".join(part.text for part in parts) == text
    for part in parts:
        assert len(part.text) <= limit or len(part) == 1
        assert len(part) or len(parts) == 1
    assert [(t.text, t.whitespace_) for t in joined(doc, parts)] == [
        (t.text, t.whitespace_) for t in doc
    ]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("one two three\n\nfour . five six seven", "one two three\n\n"),
        ("one two . three\nfour . five six seven", "one two . three\nfour . "),
        ("one two . three\nfour five six seven", "one two . three\n"),
        ("one two three four five six seven", "one two three four five "),
        ("one .\n\ntwo three\tfour five six seven", "one .\n\ntwo three\tfour "),
        ("one two three.Four five six seven", "one two three.Four five "),
        ("one two three.\tFour five six seven", "one two three."),
    ],
    ids=["paragraph", "seeming sentence", "line", "token", "too early", "in a name", "tabulator"],
)
def test_the_best_end_in_the_second_half_of_the_limit(text: str, ends: str) -> None:
    first, *_ = cut(NLP.make_doc(text), len("one two three four five "))
    assert first == ends


def test_sentences_that_a_doc_knows_decide() -> None:
    doc = NLP.make_doc("one two . three four five six . seven")
    for token in doc:
        token.is_sent_start = token.i in (0, 4)
    assert cut(doc, 25) == ["one two . three ", "four five six . seven"]


def test_no_entity_and_no_span_of_a_group_is_cut() -> None:
    doc = NLP.make_doc("one two three . four five six seven")
    doc.ents = [Span(doc, 2, 5, "X")]
    doc.spans["group"] = [Span(doc, 5, 7, "Y")]
    first, *_ = cut(doc, 26)
    assert first == "one two three . four "
    long = NLP.make_doc("one two three four")
    long.ents = [Span(long, 0, 4, "X")]
    assert all(len(part) <= 10 for part in cut(long, 10)), "unless it is too long itself"


def test_annotation_stays_and_moves(recwarn: pytest.WarningsRecorder) -> None:
    if not Span.has_extension("note"):
        Span.set_extension("note", default=None)
    doc = NLP.make_doc("one two . three four . five six")
    doc.ents = [Span(doc, 4, 5, "X", kb_id="Q1")]
    doc.cats, doc.user_data["key"] = {"old": 0.5}, "value"
    spans = [Span(doc, 0, 1, "A"), Span(doc, 6, 8, "B", span_id="s", kb_id="Q2")]
    attributes = {"scores": [0.1, 0.9], "of all": "x", "three": [1, 2, 3]}
    doc.spans["given"] = SpanGroup(doc, name="name", spans=spans, attrs=attributes)
    parts = parts_of(doc, 13)
    for part in parts:
        group = part.spans["given"]
        assert [group.name, *map(group.attrs.get, ("of all", "three"))] == ["name", "x", [1, 2, 3]]
    assert [list(part.spans["given"].attrs["scores"]) for part in parts] == [[0.1], [], [0.9]]
    for i, part in enumerate(parts):
        part.cats["new"] = float(i)
        part.cats.update({"first": 0.75} if not i else {})
        keys: list[Any] = [i, ("._.", i), ("._.", "a", None, None), (1, 2, 3, i)]
        part.user_data.update(dict.fromkeys(keys))
        part[1:2]._.note = i
        found = [Span(part, 0, 1, "C")] if i else []
        part.spans["found"] = SpanGroup(part, spans=found, attrs={"scores": np.full(len(found), i)})
    whole = joined(doc, parts)
    assert [(e.text, e.label_, e.kb_id_) for e in whole.ents] == [("four", "X", "Q1")]
    given = whole.spans["given"]
    assert [(s.start, s.end, s.label_, s.id_, s.kb_id_) for s in given] == [
        (0, 1, "A", "", ""), (6, 8, "B", "s", "Q2"),
    ]  # fmt: skip
    assert list(given.attrs["scores"]) == [0.1, 0.9]
    assert [s.text for s in whole.spans["found"]] == ["three", "five"]
    assert list(whole.spans["found"].attrs["scores"]) == [1, 2]
    assert whole.cats == {"old": 0.5, "new": (3 * 1.0 + 2 * 2.0) / 8, "first": 3 * 0.75 / 8}
    assert set(keys) < set(whole.user_data)
    assert whole.user_data["key"] == "value"
    assert [whole[i : i + 1]._.note for i in range(8)] == [
        None, 0, None, None, 1, None, None, 2,
    ]  # fmt: skip
    assert not recwarn


@pytest.fixture
def short(model: Path, monkeypatch: pytest.MonkeyPatch) -> Language:
    """The pipeline of all annotators of the model; texts of 200 characters are long for it."""
    nlp = spacy.load(model)
    nlp.max_length = 200
    monkeypatch.setattr(module, "_LOADED", {})
    monkeypatch.setattr(module.spacy, "load", lambda _: nlp)
    return nlp


@pytest.mark.parametrize("kind", ["text", "Doc"])
def test_long_texts_and_docs_have_the_entities_of_their_sentences(
    model: Path, short: Language, kind: str
) -> None:
    paragraphs = [f"{text}\n\n" for text in TEXTS * 5]
    given: Any = ["".join(paragraphs), TEXTS[0]]
    if kind == "Doc":
        given = [NLP.make_doc(text) for text in given]
    expected, begin = [], 0
    for paragraph in paragraphs:
        rows = rows_of(short(paragraph))
        expected += [
            (row["start"] + begin, row["end"] + begin, row["label"], row["confidence"])
            for row in rows
        ]
        begin += len(paragraph)
    long, brief = Annotator(model).annotate(given)
    assert long.error is brief.error is None
    found = [(e.start, e.end, e.label, e.confidence) for e in long.entities]
    assert [one[:3] for one in found] == [one[:3] for one in expected]
    assert [one[3] for one in found] == pytest.approx([one[3] for one in expected], abs=0.05)
    assert [e._asdict() for e in brief.entities] == rows_of(short(TEXTS[0]))


def test_a_long_text_that_fails_fails_alone(model: Path, short: Language) -> None:
    @spacy.Language.component("fails_on_odd")
    def fails_on_odd(doc: Doc) -> Doc:
        if "odd" in doc.text:
            raise RuntimeError("an odd text")
        return doc

    short.add_pipe("fails_on_odd")
    texts = [f"{TEXTS[0]}\n\n" * 20, f"{TEXTS[0]}\n\n" * 20 + "odd", TEXTS[0]]
    found = Annotator(model).annotate(texts)
    assert [one.error for one in found] == [None, "RuntimeError: an odd text", None]
    assert len(found[0].entities) == 20 * len(found[2].entities)
