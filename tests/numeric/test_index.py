"""Keys and their ids; counts of keys in bounded memory."""

from __future__ import annotations

import errno
import io
import pickle
from collections import Counter
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade import SavingError
from spacy_cascade.numeric import index as module
from spacy_cascade.numeric import key_counts
from spacy_cascade.numeric.index import KeyIndex, frequent_keys
from spacy_cascade.numeric.key_counts import KeyCounts
from spacy_cascade.numeric.key_filter import may_have
from strategies import keys1d


@settings(max_examples=40)
@given(keys1d(), keys1d(), st.lists(st.integers(0, 200), max_size=5))
def test_ids_are_those_of_a_dictionary(keys, queries, cuts):
    """Keys are added in several goes, so that the table grows in between; so does the filter."""
    index, known = KeyIndex(), {}
    for part in np.split(keys, sorted(cuts)):
        index.add(part)
        for key in part.tolist():
            known[key] = len(known)
        expected = [known.get(key, -1) for key in queries.tolist()]
        np.testing.assert_array_equal(index.lookup(queries), expected)
        assert all(may_have(index.filter(), key) for key in index.keys)
    assert len(index) == len(keys)
    np.testing.assert_array_equal(index.keys, keys)
    np.testing.assert_array_equal(index.lookup(keys), np.arange(len(keys)))


def test_keys_that_fall_into_the_same_place(unlucky):
    """They get other places, and so do those that were there before."""
    index = KeyIndex()
    before = index._table.hashed
    few, many = np.split(np.arange(1, 17, dtype=np.uint64), [3])
    index.add(few)
    assert index._table.hashed == before
    index.add(many)
    assert index._table.hashed != before
    np.testing.assert_array_equal(index.lookup(index.keys), np.arange(16))
    assert (index.lookup(np.arange(17, 99, dtype=np.uint64)) == -1).all()
    with pytest.raises(ValueError, match="twice"):
        KeyIndex(np.append(np.arange(1, 16, dtype=np.uint64), np.uint64(15)))


@pytest.mark.usefixtures("unlucky")
def test_a_table_that_is_nearly_crowded():
    """Keys but for the last are 32 places behind their own, all together, in a table of 32."""
    places = np.repeat(np.array([0, 10, 20, 30], dtype=np.uint64), [8, 2, 3, 1])
    keys = (places << np.uint64(59)) + np.arange(1, 15, dtype=np.uint64)
    index = KeyIndex()
    index.add(keys)
    np.testing.assert_array_equal(index.lookup(keys), np.arange(14))


def test_a_filter_stops_most_other_keys(generator):
    """It has 16 to 32 bits a key, and is made once for the same keys."""
    keys = np.unique(generator.integers(1, 2**62, 3000, dtype=np.uint64))
    index = KeyIndex(keys)
    known = index.filter()
    assert 16 * len(keys) <= known.bits.nbytes * 8 <= 32 * len(keys)
    others = generator.integers(2**62, 2**63, 3000, dtype=np.uint64)
    assert np.mean([may_have(known, key) for key in others]) < 0.12
    assert not any(may_have(KeyIndex().filter(), key) for key in others[:100])
    assert index.filter() is known
    index.add(others[:1])
    assert index.filter() is not known


def test_ids_have_the_shape_of_the_queries():
    index = KeyIndex(np.arange(1, 13, dtype=np.uint64))
    queries = np.array([[0, 1, 5], [12, 13, 2]], dtype=np.uint64)
    ids = index.lookup(queries)
    assert ids.dtype == np.int32
    assert ids.tolist() == [[-1, 0, 4], [11, -1, 1]]
    index.add(queries[0, :1])
    assert index.lookup(queries[0]).tolist() == [-1, 0, 4], "zero is never found"
    assert index.lookup(queries[:, :0]).shape == (2, 0)
    assert KeyIndex().lookup(queries[0]).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("n_before", [0, 3, 40])
def test_a_key_cannot_be_added_twice(n_before):
    index = KeyIndex(np.arange(1, n_before + 1, dtype=np.uint64))
    for keys in ([90, 91, 90], [91, 92, 1] if n_before else [7, 7]):
        with pytest.raises(ValueError, match="twice"):
            index.add(np.array(keys, dtype=np.uint64))


def test_every_table_has_a_function_of_its_own():
    keys = np.arange(1, 400, dtype=np.uint64)
    functions = {KeyIndex(keys)._table.hashed for _ in range(5)}
    assert len(functions) == 5
    assert all(int(hashed.factor) % 2 for hashed in functions)


def test_pickled_keys():
    index = KeyIndex(np.array([7, 5], dtype=np.uint64))
    copy = pickle.loads(pickle.dumps(index))
    assert copy.keys.tolist() == [7, 5]
    copy.add(np.array([9], dtype=np.uint64))
    assert copy.lookup(np.array([5, 7, 9], dtype=np.uint64)).tolist() == [1, 0, 2]
    assert len(index) == 2


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 2**62 + 1, 2**64 - 1]), max_size=40),
    st.integers(1, 4),
)
def test_frequent_keys(keys, minimum):
    occurrences = sorted(Counter(keys).items(), key=lambda item: (-item[1], item[0]))
    expected = [key for key, n in occurrences if key and n >= minimum]
    keys = np.array(keys, dtype=np.uint64)
    found = frequent_keys(keys, None, minimum)
    assert (found.tolist(), found.dtype) == (expected, np.uint64)
    assert frequent_keys(np.stack([keys, keys]), None, 2 * minimum).tolist() == expected
    counted, counts = np.unique(keys, return_counts=True)
    # The same keys with their counts beside them, split over several entries.
    twice = np.concatenate([counted, counted])
    shares = np.concatenate([counts - 1.0, np.ones(len(counts))])
    assert frequent_keys(twice, shares, minimum).tolist() == expected


def test_earlier_keys_stay_when_the_table_grows(generator):
    """Again and again, by many keys and by one; keys are as long as hashes are."""
    keys = np.unique(generator.integers(2**62, 2**63, 20_000, dtype=np.uint64))
    generator.shuffle(keys)
    index = KeyIndex()
    for begin, end in pairwise([0, 10, 16, 17, 60, 64, 65, 400, len(keys)]):
        index.add(keys[begin:end])
        np.testing.assert_array_equal(index.lookup(keys[:end]), np.arange(end))
        assert (index.lookup(keys[end:]) == -1).all()
    assert index.keys.dtype == keys.dtype


def test_a_kernel_gets_the_table():
    index = KeyIndex(np.array([7, 5], dtype=np.uint64))
    assert index.apply(lambda table, factor: int(table.keys[1]) * factor, 3) == 15
    types = index.apply(lambda table: (table.places.dtype, table.keys.dtype))
    assert types == (np.int32, np.uint64), "those that kernels are compiled for"


def test_a_crowded_table_is_counted_anew(unlucky, monkeypatch):
    drawn = []

    def draw(n_places):
        drawn.append(draw_hash(n_places))
        return drawn[-1]

    draw_hash = module.draw_hash
    monkeypatch.setattr(module, "draw_hash", draw)
    keys = np.arange(1, 400, dtype=np.uint64)
    assert frequent_keys(keys, None, 1).tolist() == keys.tolist()
    assert len(drawn) == 2
    assert frequent_keys(np.repeat(keys, 2), None, 2).tolist() == keys.tolist()


ENTRY = 64
KEYS = st.sampled_from([0, 1, 2, 3, 1 << 20, 1 << 54, 1 << 63, (1 << 64) - 1, (1 << 64) - 2])
PARTS = st.lists(
    st.tuples(st.lists(st.tuples(KEYS, st.integers(1, 3)), max_size=12), st.booleans()), max_size=8
)


def entries(part: list[tuple[int, int]], has_counts: bool) -> tuple[np.ndarray, Any]:
    keys = np.array([key for key, _ in part], dtype=np.uint64)
    return keys, np.array([n for _, n in part], dtype=np.float64) if has_counts else None


@settings(max_examples=12)
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
        found = counts.frequent(minimum)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.uint64


def test_many_keys_with_little_memory(monkeypatch: pytest.MonkeyPatch):
    """What does not fit goes to one file."""
    opened, files = key_counts.tempfile.TemporaryFile, []
    monkeypatch.setattr(key_counts.tempfile, "TemporaryFile", lambda: files.append(1) or opened())
    rng = np.random.default_rng(0)
    drawn = rng.zipf(1.2, 20_000).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    counts = KeyCounts(700 * ENTRY)
    for part in np.array_split(drawn.reshape(-1, 2), 17):
        counts.add(part)
    assert len(counts._runs) > 5
    assert len(files) == 1
    of_ranges = sum(np.diff(run._starts) for run in counts._runs)
    assert (of_ranges > 0).mean() > 0.9, "each range has about as many"
    for minimum in (1, 2, 50):
        expected = frequent_keys(drawn, None, minimum)
        np.testing.assert_array_equal(counts.frequent(minimum), expected)


def test_nothing_is_written_while_distinct_keys_fit():
    counts = KeyCounts(64 * ENTRY)
    for _ in range(50):
        counts.add(np.arange(1, 30, dtype=np.uint64))
    assert counts.frequent(50).tolist() == list(range(1, 30))
    assert counts._file is None


@pytest.mark.parametrize("times", [1, 3])
def test_memory_is_used_to_its_last_entry(times):
    """Where keys come again, adding them up frees half of it."""
    counts = KeyCounts(64 * ENTRY)
    for begin, end in (*[(1, 33)] * times, (33, 53), (53, 65)):
        counts.add(np.arange(begin, end, dtype=np.uint64))
    assert counts._file is None
    counts.add(np.array([65], dtype=np.uint64))
    assert counts._file is not None
    assert counts.frequent(1).tolist() == list(range(1, 66))


class FullFile(io.BytesIO):
    """A file that finds no room when what was written goes to the disk."""

    def flush(self) -> NoReturn:
        refuse()


def refuse() -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("opened", [refuse, FullFile])
def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, opened: Any):
    monkeypatch.setattr(key_counts.tempfile, "TemporaryFile", opened)
    counts = KeyCounts(10 * ENTRY)
    with pytest.raises(SavingError, match="TMPDIR"):
        counts.add(np.arange(1, 100, dtype=np.uint64))
