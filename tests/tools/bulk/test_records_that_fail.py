"""Single records that cannot be read, annotated or written: they never end a run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin, SpanGroup

from bulk_truth import failures_in, json_rows
from helpers import TEXTS, blank
from spacy_cascade.tools.bulk.results import as_json
from spacy_cascade.tools.bulk.run import Settings, Summary, annotate_files
from spacy_cascade.tools.bulk.writers import Layout

FORMATS = ["jsonl", "jsonl.gz", "parquet", "spacy"]
NOT_IN_MESSAGE_PACK = {
    "a number with 4,000 digits": f'"n": {"9" * 4000}',
    "a number of 65 bits": f'"n": {2**64}',
    "nested 900 deep": '"n": ' + "[" * 900 + "]" * 900,
    "objects 900 deep": '"n": ' + '{"a":' * 900 + "1" + "}" * 900,
    "half a surrogate in a key": r'"k\ud800": 1',
    "half a surrogate in a value": r'"n": ["\udfff"]',
    "half a surrogate in a key inside": r'"n": {"a": {"\ud800": 1}}',
}
NO_NUMBERS = ['"n": NaN', '"n": [1.5, -Infinity]', '"n": {"a": Infinity}', '"n": 1e999']


def annotate(model: Path, source: Path, format: str) -> tuple[Summary, Path]:
    output = source.parent / f"out-{format}"
    layout = Layout(format)
    if format == "parquet":
        pytest.importorskip("pyarrow")
    return annotate_files(model, [str(source)], output, Settings(layout)), output


def write_records(folder: Path, fields: list[str]) -> Path:
    """JSON Lines of records with these fields, each after a good one."""
    lines = [
        line for i, more in enumerate(fields)
        for line in (f'{{"text": "{TEXTS[0]}", "i": {i}}}', f'{{"text": "{TEXTS[1]}", {more}}}')
    ]  # fmt: skip
    path = folder / "a.jsonl"
    path.write_text("\n".join(lines))
    return path


def docs_in(output: Path, model: Path) -> list[Doc]:
    vocab = spacy.load(model).vocab
    files = sorted(output.glob("part-*.spacy"))
    return [doc for file in files for doc in DocBin().from_disk(file).get_docs(vocab)]


def test_values_that_docs_cannot_keep(model: Path, tmp_path: Path) -> None:
    source = write_records(tmp_path, list(NOT_IN_MESSAGE_PACK.values()))
    n = len(NOT_IN_MESSAGE_PACK)
    summary, output = annotate(model, source, "spacy")
    assert (summary.records, summary.failed) == (n, n)
    assert failures_in(output) == [("a.jsonl", i, i) for i in range(2, 2 * n + 1, 2)]
    docs = docs_in(output, model)
    assert [doc.user_data["record"]["i"] for doc in docs] == list(range(n))
    assert {doc.text for doc in docs} == {TEXTS[0]}
    assert all(len(doc.ents) == 3 for doc in docs)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_other_formats_keep_the_same_values(model: Path, tmp_path: Path, format: str) -> None:
    source = write_records(tmp_path, list(NOT_IN_MESSAGE_PACK.values()))
    summary, output = annotate(model, source, format)
    assert (summary.records, summary.failed) == (2 * len(NOT_IN_MESSAGE_PACK), 0)
    given = [json.loads(line) for line in source.read_text().splitlines()]
    for row, record in zip(rows_in(output, format), given, strict=True):
        others = json.loads(row["other_fields"] or "{}") if format == "parquet" else row
        for name, value in record.items():
            in_column = row.get(name)
            assert others.get(name) == value or in_column in (value, as_json(value))


def rows_in(output: Path, format: str) -> list[dict[str, Any]]:
    if format == "jsonl":
        return json_rows(output)
    return list(pytest.importorskip("pyarrow.parquet").read_table(output).to_pylist())


def refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def test_no_line_has_what_json_has_not(model: Path, tmp_path: Path) -> None:
    source = write_records(tmp_path, NO_NUMBERS)
    summary, output = annotate(model, source, "jsonl")
    assert summary.records == 2 * len(NO_NUMBERS)
    lines = (output / "part-000000.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_constant=refuse) for line in lines]
    assert [row["n"] for row in rows[1::2]] == [None, [1.5, None], {"a": None}, None]


def test_docs_have_null_for_what_json_has_not(model: Path, tmp_path: Path) -> None:
    _, output = annotate(model, write_records(tmp_path, NO_NUMBERS), "spacy")
    found = [doc.user_data["record"]["n"] for doc in docs_in(output, model)[1::2]]
    assert found == [None, (1.5, None), {"a": None}, None]


def test_parquet_keeps_numbers_that_are_none_and_its_json_has_null(
    model: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    fields = ['"x": NaN', '"x": 1.5, "y": {"a": [NaN]}', '"x": {"a": NaN}']
    source = write_records(tmp_path, fields)
    _, output = annotate(model, source, "parquet")
    rows = rows_in(output, "parquet")[1::2]
    assert [row["x"] for row in rows] == ["null", "1.5", '{"a": null}']
    assert rows[1]["y"] == '{"a": [null]}'


@pytest.mark.parametrize("format", FORMATS)
def test_rows_of_parquet_that_python_cannot_read(model: Path, tmp_path: Path, format: str) -> None:
    """A column that Python cannot read is no obstacle if the output is Parquet, too."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = pa.array([*map(str.encode, TEXTS[:2]), b"\xff\xfe", TEXTS[3].encode()])
    days = pa.array([0, 2**31 - 1, 0, 0], pa.int32()).view(pa.date32())
    table = pa.table({"text": texts.view(pa.string()), "day": days})
    pq.write_table(table, tmp_path / "a.parquet")
    summary, output = annotate(model, tmp_path / "a.parquet", format)
    failed = [3] if format == "parquet" else [2, 3]
    assert failures_in(output) == [("a.parquet", i, i) for i in failed]
    assert (summary.records, summary.failed) == (4 - len(failed), len(failed))
    if format == "parquet":
        found = pq.read_table(output)
        assert found.column("id").to_pylist() == ["a.parquet:1", "a.parquet:2", "a.parquet:4"]
        assert found.column("day").equals(table.column("day").take([0, 1, 3]))


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_of_which_nothing_can_be_annotated(model: Path, tmp_path: Path, format: str) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": 1}\n' * 2)
    summary, output = annotate(model, tmp_path / "a.jsonl", format)
    assert (summary.shards, summary.records, summary.failed) == (1, 0, 2)
    if format == "parquet":
        assert rows_in(output, format) == []


@pytest.mark.parametrize("format", FORMATS)
def test_docs_that_cannot_be_read(model: Path, tmp_path: Path, format: str) -> None:
    docs = DocBin(docs=[blank()(text) for text in TEXTS], store_user_data=True)
    docs.user_data[1] = b"\xc1"
    docs.span_groups[3] = b"\xc1"
    docs.to_disk(tmp_path / "a.spacy")
    summary, output = annotate(model, tmp_path / "a.spacy", format)
    assert failures_in(output) == [("a.spacy", 2, 2), ("a.spacy", 4, 4)]
    assert summary.records == len(TEXTS) - 2
    if format == "spacy":
        found = docs_in(output, model)
        assert [doc.text for doc in found] == [t for i, t in enumerate(TEXTS) if i not in (1, 3)]
        assert found[0].ents


def test_annotation_that_docs_cannot_keep(model: Path, tmp_path: Path) -> None:
    """What fails half way leaves nothing of its Doc behind."""

    @spacy.Language.component("leaves_odd_things")
    def leaves_odd_things(doc: Doc) -> Doc:
        if "STAT5" in doc.text:
            doc.user_data["file"] = object()
        if "p53" in doc.text:
            doc.cats["odd"] = object()  # type: ignore[assignment]
        if "AP-1" in doc.text:
            doc.spans["odd"] = SpanGroup(doc, attrs={"odd": object()})
        return doc

    nlp = spacy.load(model)
    nlp.add_pipe("leaves_odd_things")
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    summary, output = annotate(tmp_path / "model", tmp_path / "a.txt", "spacy")
    good = [text for text in TEXTS if not any(odd in text for odd in ("STAT5", "p53", "AP-1"))]
    assert [doc.text for doc in docs_in(output, model)] == good
    assert summary.failed == len(TEXTS) - len(good) > 1


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, [1, {"a": -math.inf}], {"é\ud800": math.nan}]
)
def test_json_is_what_strict_readers_take(value: Any) -> None:
    text = as_json({"a": value, "é": "ü"})
    text.encode()
    assert "null" in json.dumps(json.loads(text, parse_constant=refuse))
    assert json.loads(text)["é"] == "ü"


def test_json_of_other_values_does_not_change() -> None:
    for value in ({"é": [1, 2.5, None, True, "\n"]}, "x", 2**100, {}):
        assert as_json(value) == json.dumps(value, ensure_ascii=False)
    assert json.loads(as_json(b"ab")) == "YWI="
    assert srsly.json_loads(as_json({"a": "\ud83d"})) == {"a": "\ud83d"}
