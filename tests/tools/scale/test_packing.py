"""Values in mapped files: what is read is what was written, and arrays are not copied."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from spacy_cascade.errors import SavingError
from spacy_cascade.tools.scale import packing
from spacy_cascade.tools.scale.packing import Shelf, singles_in_file

VALUE = {
    "floats": np.arange(7.0),
    "none": np.zeros((0, 3), dtype=np.int32),
    "rows": np.arange(12, dtype=np.uint8).reshape(3, 4)[:, ::2],
    "text": "of any length",
}


def check(found: dict[str, Any]) -> None:
    assert found.keys() == VALUE.keys()
    for name, value in VALUE.items():
        np.testing.assert_array_equal(found[name], value)


def test_a_shelf_gives_back_all_values_as_they_were_put() -> None:
    """Also those without bytes in the file; what is done to one stays in memory."""
    shelf, bare = Shelf(), ["text", np.zeros((0, 3)), [np.zeros(0), np.zeros(0)]]
    assert list(shelf) == []
    for value in (*bare, VALUE):
        shelf.append(value)
    assert len(shelf) == 4
    for _ in range(2):
        *others, found = shelf
        for value, other in zip(bare, others, strict=True):
            np.testing.assert_array_equal(other, value)
        check(found)
        assert not found["floats"].flags.owndata
        assert found["floats"].ctypes.data % 64 == 0
        found["floats"][:] = -1.0


@pytest.mark.parametrize("n_written", [0, 1])
def test_a_full_disk_leaves_a_shelf_as_it_was(n_written: int) -> None:
    """Also where it is full after some of the arrays."""
    shelf: Any = Shelf()
    shelf.append(VALUE)
    file, left = shelf._file, [n_written]

    def write(data: Any) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= 1
        return int(file.write(data))

    shelf._file = SimpleNamespace(
        write=write, seek=file.seek, truncate=file.truncate, flush=file.flush
    )
    with pytest.raises(SavingError, match="TMPDIR"):
        shelf.append(VALUE)
    shelf._file = file
    shelf.append(VALUE)
    assert len(shelf) == 2
    for found in shelf:
        check(found)


@pytest.mark.parametrize("n", [0, 1, 7, 8])
def test_arrays_in_files_are_apart(n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their files, written in pieces, have no names."""
    monkeypatch.setattr(packing, "_WRITTEN", 3)
    monkeypatch.setattr(packing.tempfile, "tempdir", str(tmp_path))
    one, other = singles_in_file(n), singles_in_file(n)
    np.testing.assert_array_equal(one, np.zeros(n, dtype=np.float32))
    one[:] = np.arange(n)
    assert not other.any()
    np.testing.assert_array_equal(one, np.arange(n))
    assert (one.dtype, list(tmp_path.iterdir())) == (np.float32, [])


def test_an_array_on_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(packing.tempfile, "TemporaryFile", refuse)
    with pytest.raises(SavingError, match="TMPDIR"):
        singles_in_file(3)
