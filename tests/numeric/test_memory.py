"""Memory that was freed goes back to the system, where the C library can do that."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from spacy_cascade.numeric import memory


@pytest.fixture(autouse=True)
def ask_again():
    """What was found for one library does not hold for that of another test."""
    memory._trim.cache_clear()
    yield
    memory._trim.cache_clear()


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_other_libraries_are_left_alone(error, monkeypatch):
    def fail(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", fail)
    memory.return_freed()


def test_it_changes_no_array():
    kept = [np.arange(1000) for _ in range(200)]
    del kept[::2]
    memory.return_freed()
    assert all((array == np.arange(1000)).all() for array in kept)
