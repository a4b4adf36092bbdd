"""Entities as rows of a table, and a DataFrame in and out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Span

import spacy_cascade
from commands import run_command as run
from format_files import entities_in
from helpers import blank

pandas = pytest.importorskip("pandas")
TEXTS = ["Anna Berg moved to Oslo.", "Tom Hill met Eva Lind in Rome."]
SPANS = [[(0, 9, "PER"), (19, 23, "LOC")], [(0, 8, "PER"), (13, 21, "PER"), (25, 29, "LOC")]]


def test_rows_are_the_entities_or_the_spans_of_a_group() -> None:
    nlp = blank()
    docs = [nlp.make_doc(text) for text in ("Nothing.", TEXTS[0])]
    docs[1].ents = [Span(docs[1], 0, 2, label="PER")]
    docs[1].spans["sc"] = [Span(docs[1], 4, 5, label="LOC"), Span(docs[1], 3, 5, label="X")]
    row = {"document": 1, "start": 0, "end": 9, "text": "Anna Berg", "label": "PER"}
    assert list(spacy_cascade.entity_rows(docs)) == [{**row, "confidence": None}]
    rows = list(spacy_cascade.entity_rows(docs, "sc"))
    assert [(one["document"], one["text"], one["label"]) for one in rows] == [
        (1, "Oslo", "LOC"), (1, "to Oslo", "X"),
    ]  # fmt: skip


def test_a_frame_is_learnt_from_and_entities_make_one(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"text": TEXTS, "entities": SPANS})
    nlp = spacy.blank("en")
    fitted = spacy_cascade.fit(nlp, zip(frame["text"], frame["entities"], strict=True))
    assert (fitted.n_spans, fitted.n_left_out) == (5, 0)
    docs = list(nlp.pipe(frame["text"]))
    found = pandas.DataFrame(spacy_cascade.entity_rows(docs))
    assert list(found.columns) == ["document", "start", "end", "text", "label", "confidence"]
    assert list(zip(found["start"], found["end"], found["label"], strict=True)) == [
        *SPANS[0],
        *SPANS[1],
    ]
    assert list(found["confidence"]) == [e._.confidence for doc in docs for e in doc.ents]
    assert found["confidence"].between(0.5, 1).all()


@pytest.mark.parametrize("name", ["frame.csv", "frame.jsonl"])
def test_what_a_frame_writes_is_converted(name: str, tmp_path: Path) -> None:
    frame = pandas.DataFrame({"text": TEXTS, "entities": SPANS})
    path = tmp_path / name
    if path.suffix == ".csv":
        frame.to_csv(path)
        again = pandas.read_csv(path, converters={"entities": ast.literal_eval})
        assert list(again["entities"]) == SPANS
    else:
        frame.to_json(path, orient="records", lines=True)
    run("convert", path, tmp_path / "out.spacy")
    assert [label for _, label in entities_in(tmp_path / "out.spacy")] == [
        label for spans in SPANS for _, _, label in spans
    ]
