"""Docs written in each format and read again have the same entities."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from helpers import blank
from spacy_cascade.pipeline.spans.parts import annotations_of, part_id
from spacy_cascade.tools.formats.columns import ReadOptions
from spacy_cascade.tools.formats.discontinuous import Discontinuous, writable
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


def through(name: str, docs: list[Doc], key: str | None = None) -> list[Doc]:
    """The Docs as they are after they were written and read, recognised by their content.

    key: of the group of spans that is written and read, in place of entities.
    """
    with TemporaryDirectory() as folder:
        path, writer = Path(folder) / "file", format_named(name)
        made = [text_of(doc, lambda span: 0.5, spans_key=key) for doc in docs]
        drop, parts = Discontinuous.DROP, Discontinuous.PARTS
        writer.write(
            [
                replace(text, mentions=tuple(writable(text, drop, keeps_parts=writer.keeps_parts)))
                for text in made
            ],
            path,
        )
        reader, (source,) = find_sources(path)
        assert reader.name == name
        if not isinstance(reader, TextFormat):
            n_levels = source.lines[0].count("\t") if name == "columns" else 1
            columns = ReadOptions(tag_column=tuple(range(1, 1 + n_levels)))
            read = reader.read(source, FormatOptions(columns))
            return list(to_docs(read, NLP.vocab, spans_key=key))
        found = list(reader.read(source, FormatOptions(predictions=True)))
    texts = [text for text in found if isinstance(text, AnnotatedText)]
    assert len(texts) == len(found)
    return [
        place(text, NLP.make_doc, NLP.vocab, spans_key=key, discontinuous=parts).doc
        for text in texts
    ]


@pytest.mark.parametrize("name", [*SAME_TEXT, *OTHERS])
@settings(max_examples=20)
@given(docs=st.lists(annotated_docs(), min_size=1, max_size=3))
def test_entities_come_back(name: str, docs: list[Doc]) -> None:
    again = through(name, docs)
    assert [entities(doc) for doc in again] == [entities(doc) for doc in docs]
    if name in SAME_TEXT:
        assert [doc.text for doc in again] == [doc.text for doc in docs]


@st.composite
def grouped_docs(draw: st.DrawFn) -> Doc:
    """Docs whose spans overlap in any way; some have two parts, and some go through sentences."""
    words = st.lists(st.sampled_from(["a", "b-c", "é", "😀"]), min_size=6, max_size=6)
    doc = NLP.make_doc(" ".join(draw(words)))
    for token in doc:
        token.is_sent_start = token.i in (0, 3)
    bounds = st.tuples(st.integers(0, 5), st.integers(1, 6)).filter(lambda pair: pair[0] < pair[1])
    spans = []
    for number, (start, end) in enumerate(draw(st.lists(bounds, max_size=5))):
        label = draw(st.sampled_from(["protein", "cell_type"]))
        is_parted = end - start > 2 and draw(st.booleans())
        pairs = [(start, start + 1), (end - 1, end)] if is_parted else [(start, end)]
        own = part_id(str(number)) if is_parted else ""
        spans += [Span(doc, first, last, label, span_id=own) for first, last in pairs]
    doc.spans["sc"] = spans
    return doc


def annotations(doc: Doc, *, has_parts: bool) -> list[tuple[tuple[tuple[int, int], ...], str]]:
    """Each annotation of the group once, by its bounds and its label."""
    found = [
        (tuple((span.start, span.end) for span in parts), parts[0].label_)
        for parts in annotations_of(doc.spans["sc"])
    ]
    return sorted({one for one in found if has_parts or len(one[0]) == 1})


@pytest.mark.parametrize("name", [*SAME_TEXT, "pubtator", "conllu", "columns"])
@settings(max_examples=20)
@given(docs=st.lists(grouped_docs(), min_size=1, max_size=3))
def test_groups_come_back(name: str, docs: list[Doc]) -> None:
    has_parts = format_named(name).keeps_parts
    again = through(name, docs, "sc")
    assert [annotations(doc, has_parts=True) for doc in again] == [
        annotations(doc, has_parts=has_parts) for doc in docs
    ]


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
