"""Rows that commands write: tables that spreadsheets open, and JSON Lines."""

import csv
import json

import pytest

from spacy_cascade.cli.output import write_rows
from spacy_cascade.errors import ConfigError

ROWS = [{"text": 'Zoë, "alone"\nhere', "score": 0.5}, {"text": "=1+1", "score": None}]


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t"), ("a.CSV", ",")])
def test_a_table_comes_back_with_its_quotes_and_line_breaks(tmp_path, name, delimiter):
    path = tmp_path / name
    write_rows(path, ROWS, ["text", "score"])
    with path.open(encoding="utf-8-sig", newline="") as file:
        found = list(csv.DictReader(file, delimiter=delimiter))
    assert found == [{"text": ROWS[0]["text"], "score": "0.5"}, {"text": "=1+1", "score": ""}]
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")


def test_json_lines_keep_the_types(tmp_path):
    path = tmp_path / "a.jsonl"
    write_rows(path, ROWS, ["text", "score"])
    text = path.read_text("utf-8")
    assert [json.loads(line) for line in text.splitlines()] == ROWS
    assert "Zoë" in text


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"\.csv \.tsv \.jsonl"):
        write_rows(tmp_path / "a.xlsx", ROWS, ["text", "score"])
