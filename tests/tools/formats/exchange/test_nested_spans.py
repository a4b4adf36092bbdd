"""Spans that overlap, and spans of several parts: written by the command and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin, Span

from commands import run_command as run
from format_files import docs_in
from helpers import blank
from spacy_cascade.errors import CorpusError
from spacy_cascade.pipeline.spans.parts import annotations_of, part_id
from spacy_cascade.tools.formats.exchange.registry import format_named
from spacy_cascade.tools.formats.placing import text_of

KEEPS_PARTS = ("bioc-json", "bioc-xml", "brat", "conllu")
NESTED = ("columns", "doccano", "label-studio", "prodigy", "pubtator", *KEEPS_PARTS)
"""All formats but token lists."""


def nested_docs() -> list[Doc]:
    """Three levels, equal bounds with two labels, spans that begin or end together or cross."""
    first = blank().make_doc("The University of North Kiel Hospital met Ada Byron of Kiel today .")
    first.spans["sc"] = [
        Span(first, 1, 6, "ORG"), Span(first, 1, 5, "ORG"), Span(first, 3, 5, "LOC"),
        Span(first, 4, 5, "LOC"), Span(first, 7, 9, "PER"), Span(first, 7, 9, "ORG"),
        Span(first, 8, 11, "PER"), Span(first, 10, 11, "LOC"), Span(first, 10, 11, "ORG"),
    ]  # fmt: skip
    second = blank().make_doc("North Kiel . Kiel North is south .")
    for token in second:
        token.is_sent_start = token.i in (0, 3)
    second.spans["sc"] = [
        Span(second, 0, 2, "LOC"), Span(second, 1, 2, "LOC"), Span(second, 3, 5, "LOC"),
    ]  # fmt: skip
    third = blank().make_doc("Nothing here .")
    third.spans["sc"] = []
    return [first, second, third]


def parted_docs() -> list[Doc]:
    doc = blank().make_doc("left and right lung and heart fail . So does it .")
    for token in doc:
        token.is_sent_start = token.i in (0, 8)
    rows = [
        (0, 7, "event", ""), (0, 1, "site", "a"), (3, 4, "site", "a"), (2, 3, "site", "b"),
        (2, 4, "site", ""), (5, 6, "site", "b"), (6, 7, "site", "b"), (6, 7, "event", "c"),
        (9, 10, "event", "c"),
    ]  # fmt: skip
    doc.spans["sc"] = [
        Span(doc, start, end, label, span_id=part_id(name) if name else "")
        for start, end, label, name in rows
    ]
    return [doc]


Annotations = list[list[tuple[tuple[str, ...], str]]]


def annotations(docs: list[Doc]) -> Annotations:
    """Of each Doc the annotations of the group: the texts of their parts, and the label."""
    return [
        [(tuple(part.text for part in parts), parts[0].label_) for parts in annotations_of(group)]
        for group in (doc.spans["sc"] for doc in docs)
    ]


def through(form: str, docs: list[Doc], folder: Path, *options: str) -> list[Doc]:
    """The Docs as they are after they were written and read."""
    source, exported, again = folder / "in.spacy", folder / "out", folder / "again.spacy"
    DocBin(docs=docs).to_disk(source)
    run("convert", source, exported, "--to", form, "--spans-key", "sc", *options)
    own = ("--predictions",) if form == "label-studio" else ()
    run("convert", exported, again, "--spans-key", "sc", *options, *own)
    return docs_in(again)


@pytest.mark.parametrize("form", NESTED)
def test_nested_spans_come_back(form: str, tmp_path: Path) -> None:
    docs = nested_docs()
    again = through(form, docs, tmp_path)
    assert len(annotations(docs)[0]) == 9
    assert annotations(again) == annotations(docs)
    assert [span.text for span in again[0].ents] == [
        "University of North Kiel Hospital", "Byron of Kiel",
    ]  # fmt: skip


@pytest.mark.parametrize("form", KEEPS_PARTS)
def test_parts_come_back_as_one_annotation(form: str, tmp_path: Path) -> None:
    docs = parted_docs()
    (again,) = through(form, docs, tmp_path, "--discontinuous", "parts")
    assert annotations([again]) == annotations(docs)
    assert [span.text for span in again.ents] == ["left and right lung and heart fail"]
    assert [token.text for token in again if not token.ent_iob_] == ["does"]


def export(docs: list[Doc], folder: Path, to: str, *options: str, exit_code: int = 0) -> str:
    """What is said of an export to `folder / "out"`, with a group and without options for it."""
    DocBin(docs=docs).to_disk(folder / "in.spacy")
    arguments = (folder / "in.spacy", folder / "out", "--to", to, "--force", *options)
    return "".join(run("convert", *arguments, exit_code=exit_code))


def test_parts_of_a_group_need_no_option_to_be_written_as_one(tmp_path: Path) -> None:
    said = export(parted_docs(), tmp_path, "brat", "--spans-key", "sc")
    assert "3 discontinuous spans: each as one annotation of several parts" in said
    lines = (tmp_path / "out" / "1.ann").read_text().splitlines()
    assert lines[1] == "T2\tsite 0 4;15 19\tleft lung"
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("options", "said", "expected"),
    [
        ((), "left out, as doccano has none", []),
        (("--discontinuous", "covering"), "each as one piece", [[0, 19], [9, 34], [30, 44]]),
        (
            ("--discontinuous", "parts"), "each part as a span, as doccano has no discontinuous",
            [[0, 4], [15, 19], [9, 14], [24, 29], [30, 34], [30, 34], [40, 44]],
        ),
    ],
)  # fmt: skip
def test_a_format_without_discontinuous_spans_has_them_as_chosen(
    options: tuple[str, ...], said: str, expected: list[list[int]], tmp_path: Path
) -> None:
    assert f"3 discontinuous spans: {said}" in export(
        parted_docs(), tmp_path, "doccano", "--spans-key", "sc", *options
    )
    found = [label[:2] for label in json.loads((tmp_path / "out").read_text())["label"]]
    others = [[0, 34], [9, 19]]
    assert sorted(found) == sorted([*others, *expected])


def test_token_lists_refuse_spans_that_overlap(tmp_path: Path) -> None:
    docs = nested_docs()
    error = export(docs, tmp_path, "huggingface", "--spans-key", "sc", exit_code=1)
    assert "in.spacy, document 1: 'University of North Kiel' [ORG] overlaps another span" in error
    assert "leave --spans-key out" in error
    assert not (tmp_path / "out").exists()
    export(docs[2:], tmp_path, "huggingface", "--spans-key", "sc")
    assert json.loads((tmp_path / "out").read_text())["ner_tags"] == ["O"] * 3


@pytest.mark.parametrize("form", ["columns", "huggingface"])
def test_tags_refuse_parts(form: str, tmp_path: Path) -> None:
    """The command never gets there, as it asks what a format can hold."""
    text = text_of(parted_docs()[0], lambda span: None, spans_key="sc")
    parted = replace(text, mentions=tuple(one for one in text.mentions if one.parts[1:])[:1])
    with pytest.raises(CorpusError, match="has several parts"):
        format_named(form).write([parted], tmp_path / "out")


def test_confidences_of_the_group_are_written(tmp_path: Path) -> None:
    doc = blank().make_doc("a b c d")
    doc.spans["sc"] = [
        Span(doc, 2, 4, "X"), Span(doc, 0, 1, "Y", span_id=part_id("p")), Span(doc, 2, 3, "X"),
        Span(doc, 3, 4, "Y", span_id=part_id("p")),
    ]  # fmt: skip
    doc.spans["sc"].attrs["scores"] = [0.5, 0.25, 0.75, 0.125]
    said = export([doc], tmp_path, "bioc-json", "--spans-key", "sc")
    assert "3 entities, 3 of them with a score" in said
    (document,) = json.loads((tmp_path / "out").read_text())["documents"]
    found = document["passages"][0]["annotations"]
    assert [(one["text"], one["infons"]["score"]) for one in found] == [
        ("a d", "0.125"), ("c d", "0.5"), ("c", "0.75"),
    ]  # fmt: skip


def test_a_group_that_no_document_has_is_an_error(tmp_path: Path) -> None:
    docs = nested_docs()
    error = export(docs, tmp_path, "brat", "--spans-key", "no", exit_code=1)
    assert "in.spacy has doc.spans['no']. The keys are: sc." in error
    assert not (tmp_path / "out").exists()
    del docs[0].spans["sc"], docs[1].spans["sc"]
    assert "3 documents, 0 entities" in export(docs, tmp_path, "brat", "--spans-key", "sc")


def test_without_a_group_the_entities_are_written(tmp_path: Path) -> None:
    docs = nested_docs()
    docs[0].set_ents([Span(docs[0], 3, 5, "LOC")])
    assert "1 entity" in export(docs, tmp_path, "columns")
    assert {line.count("\t") for line in (tmp_path / "out").read_text().splitlines() if line} == {1}


def test_columns_are_as_many_as_the_deepest_nesting(tmp_path: Path) -> None:
    docs = nested_docs()[1:]
    docs[0].spans["sc"] = [
        *docs[0].spans["sc"],
        Span(docs[0], 1, 5, "T  cell"),
        Span(docs[0], 6, 7, "X"),
    ]
    said = export(docs, tmp_path, "columns", "--spans-key", "sc")
    assert "The format columns: 'T  cell' is written as 'T cell'" in said
    # One span goes through the end of a sentence, so the two sentences are one.
    assert (tmp_path / "out").read_text() == (
        "-DOCSTART-\tO\tO\tO\n\nNorth\tB-LOC\tO\tO\nKiel\tI-LOC\tB-T cell\tB-LOC\n"
        ".\tO\tI-T cell\tO\nKiel\tB-LOC\tI-T cell\tO\nNorth\tI-LOC\tI-T cell\tO\nis\tO\tO\tO\n"
        "south\tB-X\tO\tO\n.\tO\tO\tO\n\n"
        "-DOCSTART-\tO\tO\tO\n\nNothing\tO\tO\tO\nhere\tO\tO\tO\n.\tO\tO\tO\n\n"
    )


def test_brackets_of_conll_u_are_nested(tmp_path: Path) -> None:
    docs = [*parted_docs(), *nested_docs()[:1]]
    export(docs, tmp_path, "conllu", "--spans-key", "sc")
    rows = [
        line.split("\t") for line in (tmp_path / "out").read_text().splitlines() if "\t" in line
    ]
    parted, nested = rows[:12], rows[12:]
    assert [row[-1].removeprefix("Entity=") for row in parted[:7]] == [
        "(e1-event(e2[1/2]-site)", "_", "(e3[1/3]-site)(e4-site", "e4)(e2[2/2]-site)", "_",
        "(e3[2/3]-site)", "e1)(e3[3/3]-site)(e5[1/2]-event)",
    ]  # fmt: skip
    assert [row[-1].removeprefix("Entity=") for row in nested[1:11]] == [
        "(e1-ORG(e2-ORG", "_", "(e3-LOC", "e3)e2)(e4-LOC)", "e1)", "_", "(e5-PER(e6-ORG",
        "e6)e5)(e7-PER", "_", "e7)(e8-LOC)(e9-ORG)",
    ]  # fmt: skip


def test_brackets_of_conll_u_hold_any_label(tmp_path: Path) -> None:
    doc = blank().make_doc("a b c")
    labels = ["T-cell", "(a)", "a|b c", "\\h", "B-X", "e1"]
    doc.spans["sc"] = [Span(doc, i % 2, 2, label) for i, label in enumerate(labels)]
    (again,) = through("conllu", [doc], tmp_path)
    found = [(span.start, span.end, span.label_) for span in again.spans["sc"]]
    assert found == sorted(
        ((i % 2, 2, label) for i, label in enumerate(labels)), key=lambda one: one[0]
    )
