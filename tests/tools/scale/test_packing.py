"""Values in mapped files: what is read is what was written, and arrays are not copied."""

from __future__ import annotations

import errno
import os

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
