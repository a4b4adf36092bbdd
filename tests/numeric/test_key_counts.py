"""Counts of keys in bounded memory."""

from __future__ import annotations

import errno
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade import SavingError
from spacy_cascade.numeric import key_counts
from spacy_cascade.numeric.index import frequent_keys
from spacy_cascade.numeric.key_counts import KeyCounts

ENTRY = 64
KEYS = st.sampled_from([0, 1, 2, 3, 1 << 20, 1 << 54, 1 << 63, (1 << 64) - 1, (1 << 64) - 2])
PARTS = st.lists(
    st.tuples(st.lists(st.tuples(KEYS, st.integers(1, 3)), max_size=12), st.booleans()), max_size=8
)


def entries(part: list[tuple[int, int]], has_counts: bool) -> tuple[np.ndarray, Any]:
    keys = np.array([key for key, _ in part], dtype=np.uint64)
    return keys, np.array([n for _, n in part], dtype=np.float64) if has_counts else None


@given(PARTS, st.integers(1, 40), st.integers(1, 4))
def test_any_memory_gives_what_counting_at_once_gives(parts, memory, minimum):
    counts = KeyCounts(memory * ENTRY)
    all_keys, all_counts = [np.zeros(0, np.uint64)], [np.zeros(0)]
    for part, has_counts in parts:
        keys, of_part = entries(part, has_counts)
        counts.add(keys, of_part)
        all_keys.append(keys)
        all_counts.append(np.ones(len(keys)) if of_part is None else of_part)
    expected = frequent_keys(np.concatenate(all_keys), np.concatenate(all_counts), minimum)
    for _ in range(2):
        np.testing.assert_array_equal(counts.frequent(minimum), expected)


def test_many_keys_with_little_memory():
    rng = np.random.default_rng(0)
    drawn = rng.zipf(1.2, 60_000).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    counts = KeyCounts(2_000 * ENTRY)
    for part in np.array_split(drawn.reshape(-1, 2), 17):
        counts.add(part)
    assert len(counts._runs) > 5
    for minimum in (1, 2, 50):
        expected = frequent_keys(drawn, None, minimum)
        np.testing.assert_array_equal(counts.frequent(minimum), expected)


def test_nothing_is_written_while_distinct_keys_fit():
    counts = KeyCounts(64 * ENTRY)
    for _ in range(50):
        counts.add(np.arange(1, 30, dtype=np.uint64))
    assert counts._file is None
    assert counts.frequent(50).tolist() == list(range(1, 30))


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch):
    def refuse() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(key_counts.tempfile, "TemporaryFile", refuse)
    counts = KeyCounts(10 * ENTRY)
    with pytest.raises(SavingError, match="TMPDIR"):
        counts.add(np.arange(1, 100, dtype=np.uint64))
