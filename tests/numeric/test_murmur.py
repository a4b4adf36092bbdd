"""Hashes of parts of texts are those of spaCy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from spacy.strings import hash_string

from spacy_cascade.numeric.murmur import BLOCK, hash_parts


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
