"""Batches of sequences in lock step."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.systems.many_labels import lockstep
from spacy_cascade.systems.many_labels.lockstep import make_batches


def starts_of(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths], dtype=np.int64)


def test_lanes_and_rows() -> None:
    starts, is_partial = starts_of([2, 0, 3, 1]), np.array([True, False, False, True])
    (batch,) = make_batches(starts, np.arange(4), is_partial, 10)
    assert batch.sequence.tolist() == [2, 0, 0, 3, 3]
    assert batch.is_clamped.tolist() == [False, False, True, False, True]
    assert batch.first.tolist() == [0, 5, 8, 9]
    assert batch.begin.tolist() == [2, 0, 0, 5, 5]
    assert batch.lane.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 0]


def test_a_batch_is_of_a_size_or_one_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "_ENTRIES", 60)
    monkeypatch.setattr(lockstep, "_ROWS", 1)
    starts, is_partial = starts_of([2, 9, 2, 1, 3, 0, 1]), np.zeros(7, dtype=np.bool_)
    is_partial[4] = True
    asked = np.arange(7), is_partial, 10
    found = make_batches(starts, *asked)
    assert [batch.sequence.tolist() for batch in found] == [[1], [4, 4], [0, 2, 3, 6]]
    assert make_batches(starts, np.array([5]), is_partial, 10) == []
    monkeypatch.setattr(lockstep, "_ROWS", 14)
    assert [len(batch.sequence) for batch in make_batches(starts, *asked)] == [1, 6]
