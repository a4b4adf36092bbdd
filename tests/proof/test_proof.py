"""The proof goes on where it was stopped, and says what is not as promised."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.proof import run
from tests.proof.journal import Journal
from tests.proof.part import Came, Part, Row, Tried
from tests.proof.tested import PytestPart


class Stopped(Part):
    """A part that is stopped in its second item, once."""

    title, says = "Stopped", "Twice."

    def __init__(self) -> None:
        self.attempts: list[str] = []

    def items(self, tried: Tried) -> list[str]:
        return ["a", "b", "c"]

    def attempt(self, item: str, tried: Tried) -> Came:
        self.attempts.append(item)
        if self.attempts == ["a", "b"]:
            raise KeyboardInterrupt
        return {"letter": item}

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        return [Row(name, each["letter"], is_gap=name == "b") for name, each in came.items()]


def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    part, tried, file = Stopped(), Tried(tmp_path, is_short=False), tmp_path / "part.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run.try_part(part, tried, Journal(file, "1"))
    with file.open("a") as journal:
        journal.write('{"item": "b", "ca')  # the process was killed while it wrote
    came = run.try_part(part, tried, Journal(file, "1"))
    assert part.attempts == ["a", "b", "b", "c"]
    assert [row.found for row in part.rows(came)] == ["a", "b", "c"]
    assert Journal(file, "1").came.keys() == {"a", "b", "c"}


def test_what_failed_is_tried_again(tmp_path: Path) -> None:
    part, journal = Stopped(), Journal(tmp_path / "part.jsonl", "1")
    for item, failed in (("a", "no luck"), ("b", ""), ("c", "")):
        journal.keep(item, {"letter": "before", "failed": failed})
    came = run.try_part(part, Tried(tmp_path, is_short=False), journal)
    assert [row.found for row in part.rows(came)] == ["a", "before", "before"]


def test_a_journal_that_was_not_begun_is_begun(tmp_path: Path) -> None:
    file = tmp_path / "part.jsonl"
    file.write_text('{"co')  # the process was killed while it wrote
    Journal(file, "1").keep("a", {})
    assert Journal(file, "1").came.keys() == {"a"}


def test_other_code_is_tried_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    part = Stopped()
    part.attempts = ["before"]
    monkeypatch.setattr(run, "PARTS", {"stopped": part})
    monkeypatch.setattr(run, "_git", lambda *_: "1")
    left = tmp_path / "work/stopped/left"
    for version, stays in (("1", False), ("1", True), ("2", False)):
        monkeypatch.setattr(run, "code", lambda _, version=version: version)
        run.prove("stopped", tmp_path / "work", tmp_path / "journals", is_short=False)
        assert left.exists() is stays
        left.touch()
    assert part.attempts == ["before", *"abc", *"abc"]


def test_lowest_releases_matter_where_the_package_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def codes(project: str) -> list[str]:
        monkeypatch.setattr(run, "_git", lambda *command: {"show": project}.get(command[0], "1"))
        part = Stopped()
        found = [run.code(part)]
        part.installs = True
        return [*found, run.code(part)]

    one, other, third = map(codes, ('"a>=2.5"', '"a>=2.6"', '"b>=2.5"'))
    assert one[0] == other[0] != third[0]
    assert len({one[1], other[1], third[1]}) == 3


def test_gaps_end_it_with_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = Stopped()
    part.attempts = ["before"]
    monkeypatch.setattr(run, "PARTS", {"stopped": part})
    monkeypatch.setattr(run, "_git", lambda *_: "1")  # an unpacked sdist is no checkout
    monkeypatch.setattr(run, "RESULTS", tmp_path / "proof.json")
    monkeypatch.setattr("sys.argv", ["run", "--short"])
    with pytest.raises(SystemExit, match="1"):
        run.main()
    assert "GAP b: b" in capsys.readouterr().out
    assert not (tmp_path / "proof.json").exists()


def test_tests_are_tried_file_by_file_or_in_short_as_a_sample_of_all(tmp_path: Path) -> None:
    part = PytestPart("Tests", "Some.", "tests/proof")
    in_full = part.items(Tried(tmp_path, is_short=False))
    assert "tests/proof/test_proof.py" in in_full
    assert all(name.startswith("tests/proof/test_") for name in in_full)
    assert part.items(Tried(tmp_path, is_short=True)) == ["tests/proof"]
    said = [{"said": "3 passed, 2 skipped in 1s"}, {"said": "1 failed, 4 passed in 2s"}]
    assert (
        part.summary(dict(zip("ab", said, strict=True))) == "tests: 7 passed, 2 skipped, 1 failed"
    )
    one = PytestPart("A test", "One.", "tests/test_package.py")
    assert one.items(Tried(tmp_path, is_short=False)) == ["tests/test_package.py"]


def test_rows_of_tests() -> None:
    """Equal figures are counted; files without figures say how many tests passed."""
    figures = [{"what": "a full disk", "came": came} for came in ("init 20 times", "a", "a")]
    rows = PytestPart("Tests", "Some.", "tests/proof").rows({
        "a": {"figures": figures, "status": 0, "said": "9 passed"},
        "b": {"figures": [], "status": 0, "said": "2 passed"},
        "c": {"figures": [], "status": 1, "said": "1 failed"},
    })  # fmt: skip
    assert [(row.found, row.is_gap) for row in rows] == [
        ("init 20 times; a in each of 2 forms", False), ("2 passed", False), ("1 failed", True),
    ]  # fmt: skip


def test_a_result_has_the_commit_of_what_was_tried_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    part = Stopped()
    part.attempts = ["before"]
    monkeypatch.setattr(run, "PARTS", {"stopped": part})
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(run, "code", lambda _: "1")
    for commit in ("first", "another"):
        monkeypatch.setattr(run, "_git", lambda *_, commit=commit: commit)
        result = run.prove("stopped", tmp_path / "work", tmp_path / "journals", is_short=False)
        run.write("stopped", result)
        assert result["commit"] == "first"
