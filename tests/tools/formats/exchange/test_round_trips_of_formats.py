"""Docs written in each format and read again have the same entities."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from helpers import blank
from spacy_cascade.tools.formats.docs import to_docs
from spacy_cascade.tools.formats.exchange.base import FormatOptions, TextFormat
from spacy_cascade.tools.formats.exchange.registry import find_sources, format_named
from spacy_cascade.tools.formats.placing import place, text_of
from spacy_cascade.tools.formats.texts import AnnotatedText

SAME_TEXT = ("prodigy", "doccano", "label-studio", "brat", "bioc-json", "bioc-xml")
"""The others change white space: PubTator has one line break, the others words."""
OTHERS = ("pubtator", "conllu", "huggingface")
ODD = "ab éß漢😀-/.,|\t\n\r\u2028\u00a0<&\"'\\[({"
NLP = blank()


@st.composite
def annotated_docs(draw: st.DrawFn) -> Doc:
    doc = NLP.make_doc(draw(st.text(ODD, min_size=1, max_size=30).filter(str.strip)))
    ends = sorted(draw(st.sets(st.integers(0, len(doc)), max_size=6)))
    spans = [
        Span(doc, start, end, draw(st.sampled_from(["protein", "cell_type", "Größe"])))
        for start, end in zip(ends[::2], ends[1::2], strict=False)
        if doc[start:end].text == doc[start:end].text.strip()
    ]
    doc.set_ents(spans, default="outside")
    return doc


def entities(doc: Doc) -> list[tuple[str, str]]:
    return [("".join(span.text.split()), span.label_) for span in doc.ents]


def through(name: str, docs: list[Doc]) -> list[Doc]:
    """The Docs as they are after they were written and read, recognised by their content."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        written = [text_of(doc, lambda span: 0.5) for doc in docs]
        format_named(name).write(written, path)
        reader, (source,) = find_sources(path)
        assert reader.name == name
        if not isinstance(reader, TextFormat):
            return list(to_docs(reader.read(source, FormatOptions()), NLP.vocab))
        found = list(reader.read(source, FormatOptions(predictions=True)))
    texts = [text for text in found if isinstance(text, AnnotatedText)]
    assert len(texts) == len(found)
    return [place(text, NLP.make_doc, NLP.vocab, spans_key=None).doc for text in texts]


@pytest.mark.parametrize("name", [*SAME_TEXT, *OTHERS])
@settings(max_examples=20)
@given(docs=st.lists(annotated_docs(), min_size=1, max_size=3))
def test_entities_come_back(name: str, docs: list[Doc]) -> None:
    again = through(name, docs)
    assert [entities(doc) for doc in again] == [entities(doc) for doc in docs]
    if name in SAME_TEXT:
        assert [doc.text for doc in again] == [doc.text for doc in docs]


@pytest.mark.parametrize("text", ["A title", "A title\nAn abstract"])
def test_pubtator_adds_no_line_break(text: str) -> None:
    (again,) = through("pubtator", [NLP.make_doc(text)])
    assert again.text == text


@pytest.mark.parametrize("name", ["prodigy", "bioc-xml", "bioc-json"])
def test_characters_that_xml_lacks_do_not_shift_offsets(name: str) -> None:
    doc = NLP.make_doc("a\x0cb \x01 IL-2")
    doc.set_ents([doc.char_span(6, 10, "protein")])
    (again,) = through(name, [doc])
    assert [(span.start_char, span.text) for span in again.ents] == [(6, "IL-2")]
