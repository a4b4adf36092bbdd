"""Values in mapped files: what is read is what was written, and arrays are not copied."""

from __future__ import annotations

import errno
from typing import Any

import numpy as np
import pytest

from spacy_cascade.errors import SavingError
from spacy_cascade.tools.scale.packing import Shelf

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


@pytest.mark.parametrize("value", ["text", np.zeros((0, 3)), [np.zeros(0), np.zeros(0)]])
def test_a_value_without_bytes_in_the_file(value: object) -> None:
    shelf = Shelf()
    shelf.append(value)
    shelf.append(VALUE)
    first, second = shelf
    np.testing.assert_array_equal(first, value)
    check(second)


@pytest.mark.parametrize("n_written", [0, 1])
def test_a_full_disk_leaves_a_shelf_as_it_was(n_written: int) -> None:
    """Also where it is full after some of the arrays."""

    class Full:
        def __init__(self, file: Any) -> None:
            self.file, self.left = file, n_written

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, data: Any) -> int:
            if not self.left:
                raise OSError(errno.ENOSPC, "No space left on device")
            self.left -= 1
            return int(self.file.write(data))

    shelf: Any = Shelf()
    shelf.append(VALUE)
    shelf._file = Full(shelf._file)
    with pytest.raises(SavingError, match="TMPDIR"):
        shelf.append(VALUE)
    shelf._file = shelf._file.file
    shelf.append(VALUE)
    assert len(shelf) == 2
    for found in shelf:
        check(found)
