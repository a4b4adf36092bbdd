"""Keys made so that they would all begin at one place of a table, or crowd together.

Where a known function would have every search go past all of them, tables draw another one: the
steps of searches are counted, which no load of the machine changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from spacy_cascade.numeric import index as index_module
from spacy_cascade.numeric.hashing import HashFunction, HashTable, draw_hash
from spacy_cascade.numeric.index import KeyIndex, frequent_keys

GOLDEN = 0x9E3779B97F4A7C15
"""A factor that everybody knows."""
N, N_TABLES = 2000, 5
MOST_STEPS, MOST_DRAWS = 5.0, 6
"""Of a search, on average; and functions that are drawn for both tables of a size."""


def of(numbers: Iterable[int]) -> np.ndarray:
    return np.array([number % 2**64 for number in numbers], dtype=np.uint64)


def in_one_place(n: int, factor: int, generator: np.random.Generator) -> np.ndarray:
    """Keys whose products with an odd factor have the same upper half, `[n]` or a few less."""
    products = np.unique(generator.integers(1, 2**32, n, dtype=np.uint64))
    return products * np.uint64(pow(factor, -1, 2**64))


def families(n: int, generator: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    known = KeyIndex(np.arange(1, n + 1, dtype=np.uint64))._table.hashed.factor
    step = int(generator.integers(2**63)) | 1
    yield "equal high bits", of(range(1, n + 1))
    yield "equal low bits", of(i << 44 for i in range(1, n + 1))
    yield "equal middle bits", of(i % 128 << 57 | i // 128 + 1 for i in range(n))
    yield "one high bit and low bits", of(i % 2 << 63 | i // 2 + 1 for i in range(n))
    yield "arithmetic progression", of(step * i for i in range(1, n + 1))
    yield "multiples of the known factor", of(GOLDEN * i for i in range(1, n + 1))
    yield "one place under the known factor", in_one_place(n, GOLDEN, generator)
    yield "one place of another table", in_one_place(n, int(known), generator)


def mean_steps(table: HashTable, queries: np.ndarray) -> float:
    """How many places searches go past, counted without the kernels."""
    places, known = table.places.tolist(), table.keys.tolist()
    steps = 0
    for key in queries.tolist():
        place = key * int(table.hashed.factor) % 2**64 >> int(table.hashed.shift)
        while places[place] >= 0 and known[places[place]] != key:
            place, steps = (place + 1) % len(places), steps + 1
    return steps / len(queries)


def test_no_keys_crowd_together(
    generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []

    def counted(n_places: int) -> HashFunction:
        drawn.append(n_places)
        return draw_hash(n_places)

    monkeypatch.setattr(index_module, "draw_hash", counted)
    for name, both in families(2 * N, generator):
        keys, others = both[: len(both) // 2], both[len(both) // 2 :]
        for _ in range(N_TABLES):
            drawn.clear()
            index = KeyIndex()
            for part in np.array_split(keys, 10):  # some at a time, as they come with Docs
                index.add(part)
            frequent_keys(keys, None, 1)
            assert max(map(drawn.count, drawn)) <= MOST_DRAWS, name
            np.testing.assert_array_equal(index.lookup(keys), np.arange(len(keys)))
            assert (index.lookup(others) == -1).all()
            assert mean_steps(index._table, keys) <= MOST_STEPS, name
            assert mean_steps(index._table, others) <= MOST_STEPS, name
