"""Keys and their ids."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.numeric import index as module
from spacy_cascade.numeric.index import KeyIndex, frequent_keys
from spacy_cascade.numeric.key_filter import may_have
from strategies import keys1d


def looked_up(known: dict[int, int], queries: np.ndarray) -> list[int]:
    return [known.get(key, -1) for key in queries.tolist()]


@given(keys1d(), keys1d(), st.lists(st.integers(0, 200), max_size=5))
def test_ids_are_those_of_a_dictionary(keys, queries, cuts):
    """Keys are added in several goes, so that the table grows in between."""
    index, known = KeyIndex(), {}
    for part in np.split(keys, sorted(cuts)):
        index.add(part)
        for key in part.tolist():
            known[key] = len(known)
        np.testing.assert_array_equal(index.lookup(queries), looked_up(known, queries))
    assert len(index) == len(keys)
    np.testing.assert_array_equal(index.keys, keys)
    np.testing.assert_array_equal(index.lookup(keys), np.arange(len(keys)))


def test_many_keys(generator):
    keys = np.unique(generator.integers(1, 2**63, 100_000, dtype=np.uint64))
    generator.shuffle(keys)
    index = KeyIndex(keys)
    np.testing.assert_array_equal(index.lookup(keys), np.arange(len(keys)))
    assert (index.lookup(keys + np.uint64(2**63)) == -1).all()


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


@given(keys1d(), keys1d())
def test_a_filter_passes_all_known_keys(keys, more):
    """Also those that were added when there was a filter already."""
    index = KeyIndex(keys)
    assert all(may_have(index.filter(), key) for key in keys)
    new = more[~np.isin(more, keys)]
    index.add(new)
    assert all(may_have(index.filter(), key) for key in index.keys)


def test_a_filter_stops_most_other_keys(generator):
    keys = np.unique(generator.integers(1, 2**62, 3000, dtype=np.uint64))
    known = KeyIndex(keys).filter()
    others = generator.integers(2**62, 2**63, 3000, dtype=np.uint64)
    assert np.mean([may_have(known, key) for key in others]) < 0.12
    assert not any(may_have(KeyIndex().filter(), key) for key in others[:100])


def test_a_key_added_twice_to_a_crowded_table(unlucky):
    with pytest.raises(ValueError, match="twice"):
        KeyIndex(np.append(np.arange(1, 16, dtype=np.uint64), np.uint64(15)))


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


def test_zero_is_never_found():
    index = KeyIndex(np.array([5], dtype=np.uint64))
    assert index.lookup(np.array([0, 5], dtype=np.uint64)).tolist() == [-1, 0]
    assert KeyIndex().lookup(np.array([0, 5], dtype=np.uint64)).tolist() == [-1, -1]


def test_ids_have_the_shape_of_the_queries(generator):
    index = KeyIndex(np.arange(1, 13, dtype=np.uint64))
    queries = np.arange(1, 13, dtype=np.uint64).reshape(3, 4)
    ids = index.lookup(queries)
    assert ids.dtype == np.int32
    np.testing.assert_array_equal(ids, np.arange(12).reshape(3, 4))
    assert index.lookup(queries[:, :0]).shape == (3, 0)


@pytest.mark.parametrize("n_before", [0, 3, 40])
def test_a_key_cannot_be_added_twice(n_before):
    index = KeyIndex(np.arange(1, n_before + 1, dtype=np.uint64))
    with pytest.raises(ValueError, match="twice"):
        index.add(np.array([90, 91, 90], dtype=np.uint64))
    assert len(index) == n_before
    with pytest.raises(ValueError, match="twice"):
        index.add(np.array([91, 92, 1] if n_before else [7, 7], dtype=np.uint64))


@given(
    st.lists(st.integers(0, 6), max_size=40).map(lambda k: np.array(k, dtype=np.uint64)),
    st.integers(1, 4),
)
def test_frequent_keys(keys, minimum):
    occurrences = sorted(Counter(keys.tolist()).items(), key=lambda item: (-item[1], item[0]))
    expected = [key for key, n in occurrences if key and n >= minimum]
    assert frequent_keys(keys, None, minimum).tolist() == expected
    counted, counts = np.unique(keys, return_counts=True)
    # The same keys with their counts beside them, split over several entries.
    twice = np.concatenate([counted, counted])
    shares = np.concatenate([counts - 1.0, np.ones(len(counts))])
    assert frequent_keys(twice, shares, minimum).tolist() == expected


def test_frequent_keys_of_a_matrix():
    keys = np.array([[3, 0], [3, 4]], dtype=np.uint64)
    assert frequent_keys(keys, None, 2).tolist() == [3]


def test_frequent_keys_that_fall_into_the_same_place(unlucky):
    keys = np.repeat(np.arange(1, 400, dtype=np.uint64), 2)
    assert frequent_keys(keys, None, 2).tolist() == list(range(1, 400))


def test_earlier_keys_stay_when_the_table_grows(generator):
    """Again and again, by many keys and by one; keys are as long as hashes are."""
    keys = np.unique(generator.integers(2**62, 2**63, 400, dtype=np.uint64))
    generator.shuffle(keys)
    index = KeyIndex()
    for begin, end in pairwise([0, 10, 16, 17, 60, 64, 65, len(keys)]):
        index.add(keys[begin:end])
        np.testing.assert_array_equal(index.lookup(keys[:end]), np.arange(end))
        assert (index.lookup(keys[end:]) == -1).all()
    assert index.keys.dtype == keys.dtype


def test_a_filter_is_made_once_for_the_same_keys():
    index = KeyIndex(np.arange(1, 5, dtype=np.uint64))
    known = index.filter()
    assert index.filter() is known
    index.add(np.array([9], dtype=np.uint64))
    assert index.filter() is not known


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


def test_frequent_keys_as_long_as_hashes(generator):
    keys = np.unique(generator.integers(2**62, 2**63, 50, dtype=np.uint64))
    found = frequent_keys(np.repeat(keys, 2), None, 2)
    assert found.dtype == np.uint64
    assert found.tolist() == keys.tolist()
