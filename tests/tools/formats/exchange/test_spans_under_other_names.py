"""A text whose spans a format does not read is no text without entities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from format_files import records_in, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.exchange.registry import AUTO, find_sources
from spacy_cascade.tools.formats.exchange.source import Row, Source
from spacy_cascade.tools.formats.texts import AnnotatedText, LeftOut, Record

TEXT = "Ada came to Rome."
PAIRS = [(0, 3, "PER"), (12, 16, "LOC")]


def records(rows: list[Any], path: Path, name: str = AUTO) -> tuple[str, list[Record]]:
    written(path, "\n".join(map(json.dumps, rows)))
    return find_sources(path, name)[0].name, records_in(path, name)


def objects(start: str, end: str, label: str, **rest: object) -> list[dict[str, Any]]:
    return [{start: span[0], end: span[1], label: span[2], **rest} for span in PAIRS]


DOCCANO = {
    "slots": {"id": 1, "cats": ["news"], "entities": PAIRS, "Comments": []},
    "entities alone": {"entities": PAIRS},
    "objects": {"entities": objects("start_offset", "end_offset", "label", id=3)},
    "short names": {"entities": objects("start", "end", "label")},
    "types": {"annotations": objects("start", "end", "type")},
    "label": {"label": objects("start_offset", "end_offset", "label")},
}


@pytest.mark.parametrize("what", DOCCANO)
def test_forms_of_doccano(what: str, tmp_path: Path) -> None:
    row = {"text": TEXT, **DOCCANO[what]}
    nothing = {
        key: [] if key in ("entities", "annotations", "label") else v for key, v in row.items()
    }
    for rows in ([row, nothing], [nothing, row]):
        name, found = records(rows, tmp_path / "in.jsonl")
        assert name == "doccano"
        spans = [[(m.start, m.end, m.label) for m in one.mentions] for one in found]  # type: ignore[union-attr]
        assert sorted(spans) == [[], PAIRS]
        assert all(isinstance(one, AnnotatedText) and one.is_annotated for one in found)


def test_null_is_no_annotation(tmp_path: Path) -> None:
    rows = [{"text": TEXT, "label": PAIRS}, {"text": TEXT, "label": None}]
    _, found = records(rows, tmp_path / "in.jsonl")
    assert [one.is_annotated for one in found] == [True, False]  # type: ignore[union-attr]


OTHERS = [
    {"marks": PAIRS},
    {"marks": objects("start", "end", "entityLabel", text="x")},
    {"marks": objects("begin", "end", "type")},
    {"marks": objects("offset", "length", "category")},
    {"ents": objects("start", "end", "label")},
]
FIRST = {
    "doccano": {"text": TEXT, "label": PAIRS},
    "prodigy": {"text": TEXT, "spans": objects("start", "end", "label"), "answer": "accept"},
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", FIRST)
def test_spans_under_other_names_are_an_error(
    name: str, other: dict[str, Any], tmp_path: Path
) -> None:
    """Also beside those of the format, and where the format is given."""
    (key,) = other
    path = tmp_path / "in.jsonl"
    for row in ({"text": TEXT, **other}, FIRST[name] | other):
        with pytest.raises(
            CorpusError, match=rf"in\.jsonl:2: the spans under '{key}' are not read"
        ):
            records([FIRST[name], row], path)
        with pytest.raises(CorpusError, match=r"in\.jsonl:1: the spans under"):
            records([row], path, name)


def test_other_lists_are_no_spans(tmp_path: Path) -> None:
    rest = {
        "relations": [{"from_id": 1, "to_id": 2, "type": "in"}], "Comments": ["x"], "numbers": [1],
        "sents": [{"start": 0, "end": 17}], "meta": {"source": "a"}, "scores": [0.5],
        "notes": [{"start": 0, "label": "x"}],
    }  # fmt: skip
    for first in FIRST.values():
        _, found = records([first | rest], tmp_path / "in.jsonl")
        assert [len(one.mentions) for one in found] == [2]  # type: ignore[union-attr]
    tokens = [{"id": 0, "start": 0, "end": 3}]  # as documents of spaCy have
    row = {"text": TEXT, "ents": objects("start", "end", "label"), "tokens": tokens}
    with pytest.raises(CorpusError, match="the spans under 'ents' are not read"):
        records([row], tmp_path / "in.jsonl")


@pytest.mark.parametrize(
    "task",
    [
        {"label": "NEWS", "answer": "accept"},
        {"options": [{"id": "A", "text": "a"}], "accept": ["A"], "answer": "accept"},
        {"accept": [], "answer": "accept", "_view_id": "choice"},
    ],
)
def test_categories_of_whole_texts_are_no_annotation_of_spans(
    task: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "in.jsonl"
    reason = "texts with categories, not spans"
    _, found = records([{"text": TEXT, **task}], path)
    assert found == [LeftOut(reason)]
    rows = [FIRST["prodigy"], {"text": TEXT, **task}, {"text": TEXT, "spans": [], **task}]
    _, found = records(rows, path)
    assert [isinstance(one, AnnotatedText) for one in found] == [True, False, True]


@pytest.mark.parametrize(
    ("rest", "line"), [('\n[{"text": "b"}]', 2), (" x", 1), (',\n{"text": "b"}', 1)]
)
def test_what_follows_a_list_is_not_lost(rest: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps([FIRST["prodigy"]]) + rest)
    with pytest.raises(CorpusError, match=rf"in\.json:{line}: there is more after the end of the"):
        list(Source(path).rows())


@pytest.mark.parametrize(("n", "is_cut"), [(68, False), (69, True)])
def test_errors_show_the_beginning_of_an_object(n: int, is_cut: bool) -> None:
    row = Row({"a": "é" + "x" * (n - 3)}, 7, Path("in"))
    shown = '{"a": "\\u00e9' + "x" * (n - 3) + '"}'
    shown = shown[:80] + "…" if is_cut else shown
    assert str(row.error("odd", "Mend it")) == f"in:7: odd, in {shown}. Mend it."
