"""What a run shows while it goes on, and what it notes of each shard."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from helpers import TEXTS
from spacy_cascade.tools.bulk import run, shards
from spacy_cascade.tools.bulk.annotator import Annotator
from spacy_cascade.tools.bulk.run import LOG, Progress, Settings, annotate_files


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_every_thirty_seconds_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The speed is that of this run; what is left, and the share, are those of all the input."""
    times = [100.0]
    monkeypatch.setattr(run, "monotonic", lambda: times[-1])
    found = []
    with Progress(1000, 200) as shown:
        for time, size, tokens in (
            (120.0, 0, 0), (129.5, 300, 3600), (130.0, 0, 0), (159.5, 100, 1200), (160.0, 0, 0),
        ):  # fmt: skip
            times.append(time)
            if size:
                shown.add(size, tokens)
            shown.show()
            found.append(capsys.readouterr().err)
    assert found == [
        "", "", "50% done, 3,600 tokens, 120/s, 0:00:50 left\n",
        "", "60% done, 4,800 tokens, 80/s, 0:01:00 left\n",
    ]  # fmt: skip


def test_no_line_before_a_shard_is_done_and_then_one_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It does not wait in a buffer."""
    file = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(file))
    monkeypatch.setattr(run, "_LINE_SECONDS", 0.0)
    with Progress(1000, 200) as shown:
        shown.show()
        assert not file.getvalue()
        shown.add(800, 9)
        shown.show()
        assert file.getvalue().startswith(b"100% done, 9 tokens, ")


def test_short_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress(1000, 0) as shown:
        shown.add(10, 3)
        assert not screen.getvalue()


def test_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("spacy_cascade.pipeline.progress._BAR_AFTER", 0.0)
    monkeypatch.setattr(run, "_LINE_SECONDS", 0.0)
    monkeypatch.setattr(run, "monotonic", iter(range(0, 100, 2)).__next__)
    with Progress(1000, 200) as shown:
        shown.show()
        assert screen.getvalue().rstrip().endswith(" left, 0 tokens")
        shown.add(300, 4000)
        shown.show()
        last = screen.getvalue().split("\r")[-1]
    assert last.startswith("Annotating:  50 % |")
    assert last.rstrip().endswith(" left, 4,000 tokens, 1,000/s")
    assert "done" not in screen.getvalue()


def test_the_log_tells_of_each_shard_and_reaches_the_disk(
    strict_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, output = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_text("".join(f"{json.dumps({'text': text})}\n" for text in TEXTS[1:3]) + "{\n")
    fsync, written = os.fsync, list[tuple[int, int]]()

    def note(handle: int) -> None:
        status = os.fstat(handle)
        written.append((status.st_ino, status.st_size))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(shards, "perf_counter", iter([1.0, 2.23456]).__next__)
    annotate_files(strict_model, [str(source)], output, Settings())
    line = json.loads((output / LOG).read_text())
    assert list(line.items())[:8] == [
        ("shard", 0), ("file", "part-000000.jsonl"), ("records", 2), ("tokens", 11),
        ("entities", 4), ("failed", 1), ("size", source.stat().st_size), ("seconds", 1.235),
    ]  # fmt: skip
    status = (output / LOG).stat()
    assert (status.st_ino, status.st_size) in written
    monkeypatch.setattr("spacy_cascade.tools.bulk.sources.lines.BATCH_RECORDS", 1)
    monkeypatch.setattr(shards, "perf_counter", lambda: 1.0)
    annotate_files(strict_model, [str(source)], tmp_path / "again", Settings())
    again = json.loads((tmp_path / "again" / LOG).read_text())
    assert again == {**line, "seconds": 0.0}, "batches make no difference"
    assert again["words"] > 3


def test_no_pipeline_is_loaded_where_there_are_no_records(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Annotator, "load", None)
    (tmp_path / "a.jsonl").write_text("\n")
    summary = annotate_files(model, [str(tmp_path / "a.jsonl")], tmp_path / "out", Settings())
    assert (summary.shards, summary.records, summary.failed) == (1, 0, 0)


def test_damaged_lines_of_the_log_do_not_count(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS[0])
    given = model, [str(tmp_path / "a.txt")], tmp_path / "out", Settings()
    assert annotate_files(*given).continued == 0
    log = tmp_path / "out" / LOG
    line = json.loads(log.read_text())
    damaged = [{**line, "shard": "0"}, {**line, "file": 3}, {"shard": 0}, [0]]
    log.write_text("".join(f"{json.dumps(one)}\n" for one in damaged))
    assert annotate_files(*given).continued == 0
    assert annotate_files(*given).continued == 1
