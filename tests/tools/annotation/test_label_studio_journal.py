"""Annotation on the disk: nothing that was confirmed is lost, whatever ends the process."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade.errors import ConfigError, CorpusError, SavingError
from spacy_cascade.tools.annotation.label_studio import journal as module
from spacy_cascade.tools.annotation.label_studio.journal import RECORDS, Journal, forgotten
from studio import lines_in


def record(task: Any, annotation: Any = None, text: str = "HIV", n: int = 0) -> dict[str, Any]:
    spans = [{"start": 0, "end": 3, "label": f"kind {n}"}]
    return {"text": text, "spans": spans, "task": task, "annotation": annotation}


def texts(folder: Path) -> list[dict[str, Any]]:
    """Those of a process that starts."""
    with closing(Journal(folder)) as journal:
        return journal.texts()


TASKS = st.sampled_from([None, 7, "7", 8])
ANNOTATIONS = st.sampled_from([None, 1, 2])
WORDS = st.sampled_from(["HIV", "p53\n", "é\u2028"])
CHANGES = st.lists(
    st.one_of(
        st.builds(record, TASKS, ANNOTATIONS, WORDS, st.integers(0, 3)),
        st.builds(forgotten, TASKS, ANNOTATIONS, WORDS),
        st.builds(forgotten, annotation=st.sampled_from([1, 2])),
        st.builds(forgotten, task=st.sampled_from([7, 8])),
    ),
    max_size=8,
)


def known(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What counts of changes, by looking at all earlier ones each time."""
    found: list[dict[str, Any]] = []
    for change in changes:
        found = [old for old in found if not is_replaced(old, change)]
        found += [change] if "spans" in change else []
    return list({task_of(record): record for record in found}.values())


def task_of(change: dict[str, Any]) -> tuple[str, Any]:
    return str(change["task"]), change.get("text") if change["task"] is None else None


def is_replaced(old: dict[str, Any], change: dict[str, Any]) -> bool:
    one, other = old["annotation"], change["annotation"]
    if task_of(change) == ("None", None):
        return bool(one == other)
    return task_of(old) == task_of(change) and (None in (one, other) or one == other)


def in_order(records: list[dict[str, Any]]) -> list[str]:
    return sorted(map(json.dumps, records))


@settings(max_examples=40)
@given(CHANGES)
def test_a_process_that_starts_knows_all_that_was_confirmed(
    tmp_path_factory: pytest.TempPathFactory, changes: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    with closing(Journal(folder)) as journal:
        for i, change in enumerate(changes):
            journal.add([change])
            assert in_order(journal.texts()) == in_order(known(changes[: i + 1]))
        assert texts_are(folder / RECORDS, journal.texts())


def texts_are(path: Path, wanted: list[dict[str, Any]]) -> bool:
    """Whether another folder with the same file has these texts."""
    other = path.parent / "other"
    other.mkdir()
    if path.exists():
        (other / RECORDS).write_bytes(path.read_bytes())
    return texts(other) == wanted


def test_a_line_that_was_cut_is_left_out_and_the_next_one_is_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second, third = record(7), record(8, text="é"), record(9)
    path = tmp_path / RECORDS
    with closing(Journal(tmp_path)) as journal:
        journal.add([first])
        whole = path.read_bytes()
        journal.add([second])
        both = path.read_bytes()
    for end in range(len(whole), len(both) + 1):
        path.write_bytes(both[:end])
        is_there = end >= len(both) - 1  # only the end of the line is missing
        caplog.clear()
        with closing(Journal(tmp_path)) as journal:
            assert journal.texts() == ([first, second] if is_there else [first])
            journal.add([third])
        assert bool(caplog.records) == (len(whole) < end and not is_there)
        assert texts(tmp_path) == ([first, second, third] if is_there else [first, third])


def test_a_disk_without_room_at_the_end_of_a_file_leaves_zeros(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as journal:
        journal.add([record(7)])
    with (tmp_path / RECORDS).open("ab") as file:
        file.write(b"\0" * 50)
    assert texts(tmp_path) == [record(7)]


def test_nothing_counts_that_is_not_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise SavingError("no room")

    with closing(Journal(tmp_path)) as journal:
        journal.add([record(7)])
        with pytest.raises(UnicodeEncodeError):
            journal.add([record(8, text="\ud800")])
        monkeypatch.setattr(module, "append_to_file", fail)
        with pytest.raises(SavingError):
            journal.add([record(8), forgotten(7)])
        assert journal.texts() == [record(7)]
    assert texts(tmp_path) == [record(7)]


def test_changes_of_nothing_leave_no_file_and_an_empty_file_is_read(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as journal:
        assert not journal.add([])
        assert not journal.add([forgotten(7), forgotten(annotation=3), forgotten(text="HIV")])
    assert not (tmp_path / RECORDS).exists()
    (tmp_path / RECORDS).touch()
    assert texts(tmp_path) == []


def test_lines_are_only_added(tmp_path: Path) -> None:
    path = tmp_path / RECORDS
    before = b""
    with closing(Journal(tmp_path)) as journal:
        for change in (record(7, 1), record(7, 2), record(8), forgotten(7, 2), forgotten(8)):
            assert journal.add([change])
            assert path.read_bytes().startswith(before)
            before = path.read_bytes()
        assert not journal.add([forgotten(7, 2)])
    assert path.read_bytes() == before
    assert len(lines_in(path)) == 5
    assert texts(tmp_path) == [record(7, 1)]


@pytest.mark.parametrize("line", ["{", "[]", "5", '{"text": 5}', "[" * 100_000])
def test_a_damaged_line_inside_is_named(tmp_path: Path, line: str) -> None:
    good = json.dumps(record(7))
    (tmp_path / RECORDS).write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(CorpusError, match=rf"{RECORDS}:2 is no annotation"):
        Journal(tmp_path)


def test_a_folder_has_one_process(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)), pytest.raises(ConfigError, match="Another run is at work in"):
        Journal(tmp_path)
    assert texts(tmp_path) == []
