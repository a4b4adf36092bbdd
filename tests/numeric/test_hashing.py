"""Mixed keys: the same with and without the compiler, and well spread; places of keys."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.features.strings import hash_string
from spacy_cascade.numeric.hashing import draw_hash, home, mix

KEYS = st.integers(0, 2**64 - 1).map(np.uint64)


@given(KEYS, KEYS)
def test_never_zero_and_always_the_same(state, value):
    key = int(mix(state, value))
    assert 0 < key < 2**64
    assert key == int(mix(state, value))


def test_order_matters():
    a, b, salt = np.uint64(0xABCDEF), np.uint64(0x123456789), np.uint64(77)
    forward = mix(np.uint64(mix(salt, a)), b)
    backward = mix(np.uint64(mix(salt, b)), a)
    assert forward != backward


def test_small_values_do_not_collide():
    """Spans' sizes are the least random input; salts are hashes of templates."""
    salts = [np.uint64(hash_string(f"size & word@first{offset:+d}")) for offset in range(-9, 9)]
    keys = {int(mix(salt, np.uint64(value))) for salt in salts for value in range(1, 400)}
    assert len(keys) == len(salts) * 399


def test_pairs_of_hashes_do_not_collide(generator):
    values = generator.integers(0, 2**63, 300, dtype=np.uint64)
    salt = np.uint64(0x1234)
    keys = {int(mix(np.uint64(mix(salt, a)), b)) for a in values for b in values}
    assert len(keys) == len(values) ** 2


@given(KEYS, st.integers(1, 40))
def test_homes_are_places_of_the_table(key, bits):
    hashed = draw_hash(1 << bits)
    product = int(key) * int(hashed.factor) % 2**64
    assert home(hashed, key) == product >> (64 - bits)
