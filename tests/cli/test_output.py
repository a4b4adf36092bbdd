"""What commands print and write, to the last character."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
import spacy
from wasabi import Printer

from helpers import blank
from spacy_cascade.cli import output
from spacy_cascade.cli.output import (
    check_rows_file,
    counted,
    percent,
    print_good,
    print_line,
    print_table,
    write_json,
    write_pipeline,
    write_table,
    write_text,
)
from spacy_cascade.errors import ConfigError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("pretty", "coloured", "style", "shown"),
    [
        (True, True, "good", "\x1b[38;5;2m✔ done\x1b[0m"),
        (True, False, "good", "✔ done"),
        (True, True, "", "done"),
        (False, True, "good", "done"),
    ],
)
def test_a_line_has_a_sign_and_a_colour_where_the_terminal_takes_them(
    pretty: bool,
    coloured: bool,
    style: str,
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printer, terminal = Printer(pretty=pretty, icons={"good": "✔"}), Terminal()
    printer.show_color = coloured
    monkeypatch.setattr(output, "msg", printer)
    monkeypatch.setattr(sys, "stdout", terminal)
    print_line("done", style)
    assert terminal.getvalue() == shown + "\n"


def test_a_table_is_aligned_between_blank_lines(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 70
    print_table([("a", 1), ("bb", 2000), (long, 3)], ("name", "n"), "lr")
    lines = capsys.readouterr().out.split("\n")
    width = 64
    assert lines == [
        "", f"{'name':<{width}}      n", f"{'-' * width}   ----", f"{'a':<{width}}      1",
        f"{'bb':<{width}}   2000", f"{long}      3", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize("to_stderr", [False, True])
def test_what_a_terminal_cannot_show_is_escaped(
    to_stderr: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the two streams has an encoding of its own, or none."""
    made = [io.BytesIO(), io.BytesIO()]
    for name, raw, is_told in zip(("stdout", "stderr"), made, (False, True), strict=True):
        encoding = "ascii" if is_told == to_stderr else "utf-8"
        monkeypatch.setattr(sys, name, io.TextIOWrapper(raw, encoding, write_through=True))
    print_line("Zoë", to_stderr=to_stderr)
    assert [raw.getvalue() for raw in made] == (
        [b"", b"Zo\\xeb\n"] if to_stderr else [b"Zo\\xeb\n", b""]
    )
    unknown = io.StringIO()
    monkeypatch.setattr(sys, "stderr" if to_stderr else "stdout", unknown)
    print_line("Zoë", to_stderr=to_stderr)
    assert unknown.getvalue() == "Zoë\n"


def test_files_are_written_as_they_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "a.json"
    write_json(path, {"name": "Zoë", "share": 1 / 3}, "Scores")
    assert path.read_text("utf8") == f'{{\n "name": "Zoë",\n "share": {1 / 3!r}\n}}\n'
    assert json.loads(path.read_bytes())["share"] == 1 / 3
    assert f"Scores -> {path}" in capsys.readouterr().out
    write_text(path, "\ud800")
    assert path.read_bytes() == b"\\ud800"
    write_table(path, [{"a": 1, "b": None}], ["a", "b"])
    assert path.read_bytes().decode("utf-8-sig") == "a,b\r\n1,\r\n"


def test_a_pipeline_is_written_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nlp = blank()
    nlp.add_pipe("sentencizer")
    write_pipeline(nlp, tmp_path / "new", "Pipeline")
    assert spacy.load(tmp_path / "new").pipe_names == ["sentencizer"]
    assert f"Pipeline -> {tmp_path / 'new'}" in capsys.readouterr().out


def test_numbers_are_as_people_write_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert [counted(n, "span") for n in (0, 1, 2)] == ["0 spans", "1 span", "2 spans"]
    assert counted(1, "entity", "entities") == "1 entity"
    assert counted(1024, "entity", "entities") == "1,024 entities"
    assert [percent(share) for share in (None, 0.0, 0.125, 1.0)] == ["-", "0.00", "12.50", "100.00"]
    print_good(counted(1024, "span"))
    assert "1,024 spans" in capsys.readouterr().out


def test_files_for_rows_are_known_before_the_work_begins() -> None:
    check_rows_file(None)
    for name in ("a.csv", "a.CSV", "a.tsv", "a.jsonl"):
        check_rows_file(Path(name))
    for name in ("a.JSONL", "a.json", "a"):
        with pytest.raises(ConfigError, match="suffixes"):
            check_rows_file(Path(name))
