"""Files are replaced as a whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from spacy_cascade.errors import SavingError
from spacy_cascade.files import remove_leftovers, replace_file


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "model"
    replace_file(path, b"old")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["model"]


def test_it_may_be_read_by_those_who_may_read_other_files(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    replace_file(tmp_path / "model", b"")
    modes = {(tmp_path / name).stat().st_mode for name in ("other", "model")}
    assert len(modes) == 1


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_what_was_there_stays_when_writing_fails(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    replace_file(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(SavingError, match=r"model: No space left on device\. What was there"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_a_stop_in_between_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    replace_file(path, b"old")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_a_place_that_cannot_be_had(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SavingError, match="Cannot save"):
        replace_file(tmp_path / "file" / "model", b"")


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    left = [".model.0123456789abcdef", ".model.00112233445566ff"]
    others = [".model.0123", "model", ".other.0123456789abcdef", ".model.0123456789abcdef.bak"]
    for name in (*left, *others):
        (tmp_path / name).write_bytes(b"")
    remove_leftovers(tmp_path / "model")
    assert sorted(os.listdir(tmp_path)) == sorted(others)
    remove_leftovers(tmp_path / "nowhere" / "model")
