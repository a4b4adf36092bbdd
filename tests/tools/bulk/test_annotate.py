"""`spacy cascade annotate`: its options, messages and processes."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bulk_truth import contents, json_rows, texts_of
from commands import check_errors, run_command
from helpers import TEXTS, run_python
from spacy_cascade.tools.bulk import run as bulk_run
from spacy_cascade.tools.bulk.engines import ENGINES
from spacy_cascade.tools.bulk.sources.finding import SUFFIXES
from spacy_cascade.tools.bulk.writers import FORMATS, Layout


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 7, "body": "STAT5 binds the AP-1 site ."}\n{"body": 5}\n')
    return path


run = partial(run_command, "annotate")


def test_options_reach_the_output(model: Path, source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    options = ("--timeout", 0, "--field", "body", "--entities", "found", "--drop-text")
    stdout, _ = run(model, source, "--output", output, *options)
    assert "1 record failed: see " in stdout
    assert "1 record, 6 tokens, 2 entities in 1 shard -> " in stdout
    (row,) = json_rows(output)
    assert list(row) == ["id", "found"]
    assert [entity["label"] for entity in row["found"]] == ["protein", "DNA"]
    stdout, _ = run(model, source, "-o", output, *options)
    assert "1 shard of an earlier run stayed" in stdout
    _, stderr = run(model, source, "-o", output, "--to", "jsonl", exit_code=1)
    assert "Begin anew with --force" in stderr
    run(model, source, "-o", output, "--timeout", 0, "--field", "body", "--force")
    assert list(json_rows(output)[0]) == ["id", "body", "entities"]


def test_errors_are_one_line(model: Path, source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    check_errors(
        run,
        ((model, tmp_path / "no.txt", "-o", output), "There is no text at"),
        ((tmp_path / "no", source, "-o", output), "There is no pipeline at"),
        ((model, source, "-o", output, "--to", "xml"), "There is no format 'xml'"),
        ((model, source, "-o", output, "--to", "jsonl"), "no field 'text'"),
        ((model, source, "-o", output, "--engine", "x"), "There is no engine 'x'"),
    )


def test_a_warning_says_once_that_confidences_are_too_high(
    strict_model: Path, tmp_path: Path
) -> None:
    """Five of seven ordinary words are new."""
    source, options = tmp_path / "a.txt", ("--timeout", 0, "--shard-size", 1)
    source.write_text("Elephants need gardens and cells\nsmall blue flowers\n")
    stdout, _ = run(strict_model, source, "-o", tmp_path / "new", *options)
    assert stdout.count("71% of the ordinary words of these texts were not in") == 1
    assert run(strict_model, source, "-o", tmp_path / "new", *options)[0].count("71% of") == 1
    source.write_text("Jurkat cells activate the gene\n")
    stdout, _ = run(strict_model, source, "-o", tmp_path / "known", *options)
    assert "ordinary words" not in stdout


def test_ctrl_c_says_how_to_go_on(
    model: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bulk_run, "annotate_files", stop)
    stdout, _ = run(model, source, "-o", tmp_path / "out", exit_code=130)
    assert "Stopped. The same command goes on with what is in " in stdout


def test_the_default_needs_no_extra_and_bounds_the_time_of_a_record(
    model: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[bulk_run.Settings] = []
    annotate_files = bulk_run.annotate_files

    def record(*given: Any) -> bulk_run.Summary:
        found.append(given[-1])
        settings = replace(found[-1], timeout=None)
        return annotate_files(*given[:-1], settings)

    monkeypatch.setattr(bulk_run, "annotate_files", record)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    run(model, source, "-o", tmp_path / "out", "--field", "body")
    assert len(json_rows(tmp_path / "out")) == 1
    run(model, source, "-o", tmp_path / "out", "--field", "body", "--timeout", 0)
    assert [settings.timeout for settings in found] == [300.0, None]
    assert {settings.layout.format for settings in found} == {"jsonl"}


def test_lines_tell_of_progress_where_there_is_no_terminal(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("spacy_cascade.tools.bulk.run._LINE_SECONDS", 0.0)
    (tmp_path / "a.txt").write_text("".join(f"{text}\n" for text in texts_of(40, TEXTS)))
    settings = bulk_run.Settings(Layout("jsonl"), shard_size=600)
    bulk_run.annotate_files(model, [str(tmp_path / "a.txt")], tmp_path / "out", settings)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith("100% done, ")
    assert lines[-1].endswith("/s, 0:00:00 left")


def test_help() -> None:
    text = " ".join(run("--help")[0].split())
    suffixes = {f".{part}" for suffix in SUFFIXES for part in suffix.split(".")[1:]}
    for part in ("INPUT...", "the same command goes on", *FORMATS, *ENGINES, *suffixes):
        assert part in text


@pytest.mark.slow(kind="processes")
@pytest.mark.parametrize("format", ["jsonl.gz", "parquet", "spacy"])
def test_the_number_of_processes_does_not_matter(model: Path, tmp_path: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    long = [" ".join([text] * 5) for text in TEXTS]
    texts = "".join(f"{text} {i}\n" for i, text in enumerate(texts_of(20_000, long)))
    (tmp_path / "a.txt").write_text(texts)
    found = []
    for processes in ("1", "3"):
        output = tmp_path / f"out{processes}"
        result = run_python(
            "-m", "spacy", "cascade", "annotate", str(model), str(tmp_path / "a.txt"),
            "--output", str(output), "--to", format, "--processes", processes,
            "--shard-size", "1", timeout=300,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        found.append(contents(output))
    assert len(found[0]) > 3
    assert found[0] == found[1]
