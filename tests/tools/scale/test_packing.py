"""Values in mapped files: what is read is what was written, and arrays are not copied."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from spacy_cascade.errors import SavingError
from spacy_cascade.tools.scale.packing import Inbox, Outbox, Shelf, read_value, write_value

VALUE = {
    "floats": np.arange(7.0),
    "none": np.zeros((0, 3), dtype=np.int32),
    "rows": np.arange(12, dtype=np.uint8).reshape(3, 4)[:, ::2],
    "text": "of any length",
}


def check(found: dict[str, object]) -> None:
    assert found.keys() == VALUE.keys()
    for name, value in VALUE.items():
        np.testing.assert_array_equal(found[name], value)


def test_a_file_may_be_changed_in_memory_alone(tmp_path: Path) -> None:
    write_value(tmp_path / "value", VALUE)
    found = read_value(tmp_path / "value")
    check(found)
    found["floats"][:] = -1.0
    check(read_value(tmp_path / "value"))


def test_arrays_are_those_of_the_file(tmp_path: Path) -> None:
    outbox, inbox = Outbox(tmp_path / "out"), Inbox()
    first = inbox.get(outbox.put(VALUE))
    check(first)
    assert not first["floats"].flags.owndata
    assert first["floats"].ctypes.data % 64 == 0
    outbox.put({**VALUE, "floats": np.arange(7.0) + 1.0})
    assert first["floats"][0] == 1.0


def test_a_box_grows(tmp_path: Path) -> None:
    outbox, inbox = Outbox(tmp_path / "out"), Inbox()
    for n in (1, 100_000, 10):
        np.testing.assert_array_equal(inbox.get(outbox.put(np.arange(n))), np.arange(n))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system reserves no room")
def test_a_full_disk_is_an_error_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(SavingError, match="TMPDIR"):
        write_value(tmp_path / "value", VALUE)


def test_a_shelf_gives_back_all_values_as_they_were_put() -> None:
    shelf = Shelf()
    assert list(shelf) == []
    for number in range(3):
        shelf.append({**VALUE, "number": number})
    assert len(shelf) == 3
    for _ in range(2):
        for number, found in enumerate(shelf):
            assert found.pop("number") == number
            check(found)
            assert not found["floats"].flags.owndata
            assert found["floats"].ctypes.data % 64 == 0
            found["floats"][:] = -1.0


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system reserves no room")
def test_a_full_disk_leaves_a_shelf_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    shelf = Shelf()
    shelf.append(VALUE)
    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        with pytest.raises(SavingError, match="TMPDIR"):
            shelf.append(VALUE)
    shelf.append(VALUE)
    assert len(shelf) == 2
    for found in shelf:
        check(found)
