"""What is remembered of phrases, against a dict that forgets nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade.systems.dictionaries.similarity.memory import (
    MISSING,
    make_memory,
    no_memory,
    recall,
    remember,
)

KEYS = st.integers(0, 2**64 - 1).map(np.uint64)
FOUND = st.integers(0, 254)


@settings(max_examples=30)
@given(st.lists(st.tuples(KEYS, FOUND), max_size=60), st.sampled_from([8, 256 * 8]))
def test_it_may_forget_and_is_never_wrong(entries: list[tuple[np.uint64, int]], size: int) -> None:
    """With eight slots all keys share them. The last 8 bits of a key belong to its place."""
    memory, known = np.zeros(size, dtype=np.uint64), {}
    for key, found in entries:
        key = key & ~np.uint64(0xFF) if size == 8 else key
        if recall(memory, key) == MISSING:
            remember(memory, key, found)
            known[int(key)] = found
        assert recall(memory, key) == known[int(key)]
    for key, found in known.items():
        assert recall(memory, np.uint64(key)) in (MISSING, found)


def test_eight_phrases_with_the_same_place_are_kept() -> None:
    memory = make_memory()
    keys = [np.uint64((n << 40) + 5) for n in range(1, 10)]
    for n, key in enumerate(keys[:8]):
        remember(memory, key, n)
    assert [recall(memory, key) for key in keys] == [*range(8), MISSING]
    remember(memory, keys[8], 200)
    assert recall(memory, keys[8]) == 200
    assert sum(recall(memory, key) == MISSING for key in keys) == 1
    remember(no_memory(), keys[0], 3)
    assert recall(no_memory(), keys[0]) == MISSING
