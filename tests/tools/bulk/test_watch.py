"""Records that take too long: the process ends, and the next one leaves them out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from bulk_truth import contents, failures_in, json_rows
from helpers import TEXTS, blank, run_python
from spacy_cascade.processes import ProcessEnded
from spacy_cascade.tools.bulk import engines, watch
from spacy_cascade.tools.bulk.run import SUCCESS, Settings, annotate_files
from spacy_cascade.tools.bulk.shards import LATE
from spacy_cascade.tools.bulk.watch import Watch, number_late
from spacy_cascade.tools.bulk.writers import Layout

TIMEOUT = 'Timeout (0:00:03)!\nThread 0x00007f (most recent call first):\n  File "x.py"\n'
COMPONENT = """
import re, spacy
@spacy.Language.component("hangs")
def hangs(doc):
    if "hang" in doc.text:
        re.match(r"(a+)+$", "a" * 60 + "b")  # nothing interrupts it
    return doc
"""
AT_WORK: list[Any] = []
"""The notes of the process that stands for all others."""


class Ended(BaseException):
    """Stands for the end of a process."""


@spacy.Language.component("ends_the_process")
def ends_the_process(doc: Doc) -> Doc:
    if "hang" in doc.text:
        AT_WORK[0].write(TIMEOUT.encode())
        raise Ended
    return doc


def ranges(notes: str, path: Path) -> list[tuple[int, int]]:
    path.write_text(notes)
    with Watch(path, 9.0) as watched:
        return list(watched.over(range(11, 21), 4).of(10))


def test_notes_tell_what_took_too_long(tmp_path: Path) -> None:
    path = tmp_path / "notes" / "part-000000"
    path.parent.mkdir()
    path.write_text(f"1 4\n5 8\n{TIMEOUT}9 9\n10 10\n{TIMEOUT}11 12\n")
    with suppress(KeyboardInterrupt), Watch(path, 9.0):
        raise KeyboardInterrupt
    assert number_late(path.parent) == 2
    with Watch(path, 9.0) as watched:
        assert watched.late == {10}
    assert number_late(path.parent) == 0
    assert not path.exists(), "the shard is done"
    with pytest.raises(ValueError, match="closed file"), watched.during(1, 2):
        pass


@pytest.mark.parametrize(
    ("notes", "n_texts"), [("0 0\n", 1), (f"0 0\n1 1\n{TIMEOUT}", 1), (f"0 0\n{TIMEOUT}", 0)]
)
def test_a_text_that_is_none_of_the_file_comes_first_unless_it_took_too_long(
    tmp_path: Path, notes: str, n_texts: int
) -> None:
    found: list[str] = []
    annotator: Any = SimpleNamespace(annotate=found.extend)
    path = tmp_path / "part-000000"
    path.write_text(notes)
    with Watch(path, 9.0) as watched:
        watched.warm_up(annotator)
    assert found == ["A first text."] * n_texts


def test_a_slow_batch_is_taken_apart_and_after_two_all_are(tmp_path: Path) -> None:
    path = tmp_path / "part-000000"
    alone = [(i, i + 1) for i in range(10)]
    assert ranges("11 14\n15 18\n", path) == [(0, 4), (4, 8), (8, 10)]
    assert ranges(f"11 14\n15 18\n{TIMEOUT}", path) == [(0, 4), *alone[4:8], (8, 10)]
    assert ranges(f"11 14\n{TIMEOUT}15 18\n{TIMEOUT}", path) == alone


def test_compiled_code_is_ended(tmp_path: Path) -> None:
    script = (
        "import re\nfrom pathlib import Path\nfrom spacy_cascade.tools.bulk.watch import Watch\n"
        f"with Watch(Path({str(tmp_path / 'note')!r}), 0.5) as watched:\n"
        "    with watched.during(1, 3): pass\n"
        "    with watched.during(7, 7): re.match('(a+)+$', 'a' * 60 + 'b')\n"
    )
    assert run_python("-c", script).returncode == 1
    assert Watch(tmp_path / "note", 1.0).late == {7}


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Processes that are none; they end at a text with `hang`. The bounds that there were."""
    bounds: list[float] = []

    def begin(seconds: float, exit: bool, file: Any) -> None:
        assert exit
        bounds.append(seconds)
        AT_WORK[:] = [file]

    def run(task: Any, arguments: Sequence[Any], *_: object) -> Iterator[Any]:
        try:
            for one in arguments:
                yield task(*one)
        except Ended:
            raise ProcessEnded("A process ended.") from None

    monkeypatch.setattr(watch.faulthandler, "dump_traceback_later", begin)
    monkeypatch.setattr(engines, "run_in_processes", run)
    return bounds


@pytest.fixture
def hanging(processes: list[float], model: Path, tmp_path: Path) -> Path:
    nlp = spacy.load(model)
    nlp.add_pipe("ends_the_process")
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", ["a.jsonl", "a.spacy"])
def test_records_that_take_too_long_fail_alone(
    processes: list[float], hanging: Path, tmp_path: Path, name: str
) -> None:
    texts = [*TEXTS, "hang 1", *TEXTS * 15, "hang 2", "hang 3", *TEXTS]
    source = tmp_path / name
    if name == "a.jsonl":
        source.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    else:
        DocBin(docs=blank().pipe(texts)).to_disk(source)
    settings = Settings(Layout(), timeout=7.0)
    summary = annotate_files(hanging, [str(source)], tmp_path / "out", settings)
    late = [i for i, text in enumerate(texts, start=1) if "hang" in text]
    assert failures_in(tmp_path / "out") == [(name, i, i) for i in late]
    assert summary.failed == 3
    reason = (tmp_path / "out" / "_failed" / "part-000000.jsonl").read_text()
    assert "it took longer than 7 seconds" in reason
    assert [row["text"] for row in json_rows(tmp_path / "out")] == [
        text for text in texts if "hang" not in text
    ]
    assert set(processes) == {7.0, 600.0}, "the first text of a process may have to wait longer"
    assert not (tmp_path / "out" / LATE).exists()


def test_a_stopped_run_knows_what_took_too_long(
    hanging: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("\n".join([TEXTS[0], "hang"]))
    inputs, output = [str(tmp_path / "a.txt")], tmp_path / "out"

    def stop(*_: object) -> Any:
        raise KeyboardInterrupt

    run = engines.run_in_processes
    runs = iter([run, run, stop])
    with monkeypatch.context() as context, suppress(KeyboardInterrupt):
        context.setattr(engines, "run_in_processes", lambda *given: next(runs)(*given))
        annotate_files(hanging, inputs, output, Settings(timeout=7.0))
    assert not (output / SUCCESS).exists()
    assert number_late(output / LATE) == 2
    monkeypatch.setattr(engines, "_MOST_DEATHS", 1)
    summary = annotate_files(hanging, inputs, output, Settings(timeout=7.0))
    assert (summary.records, summary.failed) == (1, 1)
    assert (output / SUCCESS).exists()
    annotate_files(hanging, inputs, output, Settings(timeout=7.0))


@pytest.mark.slow(kind="child processes")
def test_the_command_goes_on_without_them(model: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(COMPONENT)
    options = {"PYTHONPATH": str(tmp_path), "timeout": 300}
    script = (
        f"import spacy; nlp = spacy.load({str(model)!r}); nlp.add_pipe('hangs'); "
        f"nlp.to_disk({str(tmp_path / 'model')!r})"
    )
    assert run_python("-c", script, **options).returncode == 0
    texts = [*TEXTS * 60, "hang", *TEXTS]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    found = []
    for processes in ("1", "2"):
        output = tmp_path / processes
        result = run_python(
            "-m", "spacy", "cascade", "annotate", str(tmp_path / "model"),
            str(tmp_path / "a.txt"), "-o", str(output), "--timeout", "3",
            "--processes", processes, **options,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        assert "1 record failed" in result.stdout
        found.append(contents(output))
    assert found[0] == found[1]
    assert len(json_rows(output)) == len(texts) - 1
