"""Mixed keys are well spread, places of keys; hashes of parts of texts are those of spaCy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.strings import hash_string

from spacy_cascade.numeric.hashing import draw_hash, home, mix
from spacy_cascade.numeric.murmur import BLOCK, hash_parts

KEYS = st.integers(0, 2**64 - 1).map(np.uint64)


@settings(max_examples=20)
@given(KEYS, KEYS, st.integers(1, 40))
def test_never_zero_and_places_of_a_table(state, value, bits):
    """Saved models have such keys."""
    key = int(mix(state, value))
    assert 0 < key < 2**64
    product = (int(state) ^ int(value)) * 0x9E3779B97F4A7C15 % 2**64
    assert key == (product ^ product >> 32) | 1
    hashed = draw_hash(1 << bits)
    assert home(hashed, value) == int(value) * int(hashed.factor) % 2**64 >> (64 - bits)


def test_small_values_do_not_collide():
    """Spans' sizes are the least random input; salts are hashes of templates."""
    salts = [np.uint64(hash_string(f"size & word@first{offset:+d}")) for offset in range(-9, 9)]
    keys = {int(mix(salt, np.uint64(value))) for salt in salts for value in range(1, 400)}
    assert len(keys) == len(salts) * 399


def test_pairs_of_hashes_do_not_collide(generator):
    """In either order."""
    values = generator.integers(0, 2**63, 100, dtype=np.uint64)
    salt = np.uint64(0x1234)
    keys = {int(mix(np.uint64(mix(salt, a)), b)) for a in values for b in values}
    assert len(keys) == len(values) ** 2


@settings(max_examples=20)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_parts_have_the_hashes_of_strings(texts):
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)])
    content = np.frombuffer(b"".join(encoded) + bytes(BLOCK), dtype=np.uint8)
    hashes = hash_parts(content, ends[:-1], ends[1:])
    assert hashes.dtype == np.uint64
    assert hashes.tolist() == [hash_string(text) for text in texts]


def test_every_length_of_the_last_block():
    text = "NF-kappaB binds IL-2"
    content = np.frombuffer(text.encode() + bytes(BLOCK), dtype=np.uint8)
    bounds = np.array([(i, j) for i in range(len(text)) for j in range(i, len(text) + 1)])
    hashes = hash_parts(content, bounds[:, 0].copy(), bounds[:, 1].copy())
    assert hashes.tolist() == [hash_string(text[i:j]) for i, j in bounds.tolist()]
