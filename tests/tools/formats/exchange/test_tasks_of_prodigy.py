"""Tasks of Prodigy: which files have them, who annotated them, and how they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from format_files import texts_in, written
from spacy_cascade.tools.formats.exchange.registry import format_named
from spacy_cascade.tools.formats.exchange.source import Source
from spacy_cascade.tools.formats.texts import AnnotatedText, Mention

TOKEN = {"text": "a", "start": 0, "end": 1, "id": 0}


def test_a_task_has_tokens_and_spans_on_them(tmp_path: Path) -> None:
    mentions = [
        Mention(((4, 11),), "X"), Mention(((0, 3),), "Y", score=0.5), Mention(((5, 11),), "X"),
        Mention(((4, 10),), "X"),
    ]  # fmt: skip
    words = ((0, 3), (4, 8), (8, 11))
    text = AnnotatedText("Big cell-ish", tuple(mentions), "d1", words=words)
    format_named("prodigy").write([text, AnnotatedText("b")], tmp_path / "out")
    first, second = map(json.loads, (tmp_path / "out").read_text().splitlines())
    assert first == {
        "text": "Big cell-ish",
        "tokens": [
            {"text": "Big", "start": 0, "end": 3, "id": 0, "ws": True},
            {"text": "cell", "start": 4, "end": 8, "id": 1, "ws": False},
            {"text": "-is", "start": 8, "end": 11, "id": 2, "ws": False},
        ],
        "spans": [
            {"start": 4, "end": 11, "label": "X", "token_start": 1, "token_end": 2},
            {"start": 0, "end": 3, "label": "Y", "token_start": 0, "token_end": 0, "score": 0.5},
            {"start": 5, "end": 11, "label": "X"},
            {"start": 4, "end": 10, "label": "X"},
        ],
        "meta": {"id": "d1"},
    }
    assert second == {"text": "b", "spans": []}


@pytest.mark.parametrize(
    ("row", "is_task"),
    [
        ({"spans": []}, True), ({"answer": "accept"}, True), ({"_input_hash": 1}, True),
        ({"_task_hash": 1}, True), ({}, True), ({"meta": {}}, True), ({"id": 1}, False),
        ({"id": 1, "tokens": [TOKEN]}, True), ({"id": 1, "tokens": [TOKEN, "a"]}, False),
        ({"id": 1, "tokens": [TOKEN, {"text": "a"}]}, False), ({"id": 1, "tokens": {}}, False),
    ],
)  # fmt: skip
def test_what_is_a_task(row: dict[str, Any], is_task: bool, tmp_path: Path) -> None:
    for value, expected in ({"text": "a", **row}, is_task), (row, False):
        source = Source(written(tmp_path / "in.jsonl", json.dumps(value)))
        assert format_named("prodigy").recognises(source) == expected


@pytest.mark.parametrize(
    ("names", "annotator"),
    [
        ({"_annotator_id": "ada", "_session_id": "s"}, "ada"), ({"_session_id": "s"}, "s"),
        ({"_annotator_id": None, "_session_id": "s"}, "s"), ({"_session_id": None}, ""), ({}, ""),
    ],
)  # fmt: skip
def test_annotators_have_names_or_those_of_their_sessions(
    names: dict[str, Any], annotator: str, tmp_path: Path
) -> None:
    row = {"text": "a", "spans": [], "_input_hash": 7, **names}
    (text,) = texts_in(written(tmp_path / "in.jsonl", json.dumps(row)))
    assert (text.annotator, text.name) == (annotator, "7")
