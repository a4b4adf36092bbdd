"""Files of results: the columns of Parquet, and files that cannot be finished."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.bulk.writers import FORMATS, Layout, fitted, schema_of

pa = pytest.importorskip("pyarrow")
LIST = pa.list_(pa.int64())
TIME = pa.timestamp("s")


def source(is_open: bool, **columns: Any) -> Any:
    """A file with such columns besides the text. is_open: whether records may have others."""
    return SimpleNamespace(
        path=Path("a.parquet"), columns=lambda: columns, has_open_columns=is_open
    )


def columns_of(*sources: Any, **layout: Any) -> dict[str, Any]:
    """Names and types of the columns of the output, but not the results, which are the last."""
    schema = schema_of(sources, Layout("parquet", **layout))
    assert schema.names[-1] == "entities"
    return dict(zip(schema.names[:-1], schema.types[:-1], strict=True))


def test_columns_are_those_of_all_files_between_the_text_and_the_results() -> None:
    one = source(False, n=pa.int8(), id=pa.int64(), when=TIME)
    other = source(True, when=TIME, tag="string")
    assert list(columns_of(one).items()) == [
        ("id", pa.int64()), ("text", pa.string()), ("n", pa.int8()), ("when", TIME),
    ]  # fmt: skip
    expected = [("id", pa.string()), ("n", pa.int8()), ("when", TIME), ("tag", pa.string())]
    expected.append(("other_fields", pa.string()))
    assert list(columns_of(one, other, keeps_text=False).items()) == expected
    assert list(columns_of(source(False))) == ["id", "text"]


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (LIST, LIST, LIST),
        (pa.int8(), pa.int64(), pa.float64()),
        (pa.int64(), "float64", pa.float64()),
        (pa.float32(), pa.large_string(), pa.string()),
        (pa.int64(), "bool", pa.string()),
        ("bool", None, pa.string()),
        (TIME, pa.int64(), None),
        (LIST, pa.string(), None),
        (LIST, TIME, None),
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_a_type_that_suits_the_values_of_all_files(
    one: Any, other: Any, common: Any, is_first: bool
) -> None:
    kinds = (one, other) if is_first else (other, one)
    sources = [source(False, n=kind) for kind in kinds]
    if common is not None:
        assert columns_of(*sources)["n"] == common
        return
    message = rf"'n' of a\.parquet has the type {kinds[1]}.*, in another file {kinds[0]}"
    with pytest.raises(CorpusError, match=message.replace("[", r"\[")):
        columns_of(*sources)


def test_what_fits_into_no_column_stays_as_json() -> None:
    kinds = {
        "text": pa.string(), "json": pa.large_string(), "half": pa.string(), "truth": pa.string(),
        "n": pa.int8(), "large": pa.int8(), "x": pa.float64(), "is_true": pa.bool_(),
        "share": pa.float64(), "day": pa.date32(), "one": pa.bool_(),
        "runs": pa.run_end_encoded(pa.int32(), pa.string()), "missing": pa.string(),
        "null": pa.int8(), "other_fields": pa.string(),
    }  # fmt: skip
    record = {
        "text": 'a "b"', "json": [1, "é"], "half": "\ud800", "truth": True,
        "n": True, "large": 300, "x": 2, "is_true": False, "one": 1, "runs": "a", "null": None,
        "share": True, "day": math.nan, "more": {"a": 1},
    }  # fmt: skip
    row = fitted(record, kinds)
    assert json.loads(row.pop("other_fields")) == {
        "half": "\ud800", "n": True, "large": 300, "one": 1, "runs": "a", "share": True,
        "day": None, "more": {"a": 1},
    }  # fmt: skip
    assert row == {
        "text": 'a "b"', "json": '[1, "é"]', "half": None, "truth": "true", "n": None,
        "large": None, "x": 2.0, "is_true": False, "one": None, "runs": None,
        "share": None, "day": None, "missing": None, "null": None,
    }  # fmt: skip
    assert fitted({"text": "a"}, {"text": pa.string()}) == {"text": "a", "other_fields": None}


class Full(io.BytesIO):
    """A file on a disk that is full, where closing it writes what is left."""

    def __init__(self, attempts: list[object]) -> None:
        super().__init__()
        self.attempts = attempts

    def close(self) -> None:
        super().close()
        self.attempts.append(self)
        raise OSError("no room")


@pytest.mark.parametrize(
    ("format", "files"), [("jsonl", 1), ("jsonl.gz", 1), ("parquet", 1), ("spacy", 0)]
)
def test_a_file_that_cannot_be_closed_after_an_error_is_no_other_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, files: int
) -> None:
    """So Ctrl-C stays Ctrl-C."""
    attempts: list[object] = []

    def no_room(file: object) -> None:
        attempts.append(file)
        raise OSError("no room")

    layout = Layout(format)
    schema = schema_of([source(False)], layout)
    with monkeypatch.context() as context:
        context.setattr(Path, "open", lambda *_: Full(attempts))
        context.setattr("pyarrow.parquet.ParquetWriter.close", no_room)
        writer = FORMATS[format](tmp_path / "part", layout, schema)
        writer.abandon()
        assert len(attempts) == files
