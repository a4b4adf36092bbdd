"""Texts as numbers of characters, against plain Python."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest

from spacy_cascade.systems.dictionaries.similarity.characters import Alphabet, bits_of, packed

TEXTS = ["", "abc", "a", "", "b\U0001f600\ud800c", ""]


def test_characters_have_numbers_and_foreign_ones_are_zero() -> None:
    """The most frequent ones first, of equals the smaller code point."""
    alphabet = Alphabet.of(["bca", "cb", "c"])
    encoded = alphabet.encode(["cabx", "", "\u00e9c"])
    assert encoded.characters.tolist() == [1, 3, 2, 0, 0, 1]
    assert encoded.starts.tolist() == [0, 4, 4, 6]
    taken = encoded.take(np.array([2, 1, 0, 2], dtype=np.int32))
    assert taken.characters.tolist() == [0, 1, 1, 3, 2, 0, 0, 1]
    assert taken.starts.tolist() == [0, 2, 2, 6, 8]
    assert Alphabet.of([]).encode(["ab"]).characters.tolist() == [0, 0]


def test_rare_characters_share_a_number() -> None:
    """Of 300 characters that are there once, the first 254 have one of their own."""
    characters = "".join(map(chr, range(1000, 1300)))
    numbers = Alphabet.of([characters]).encode([characters]).characters.tolist()
    assert numbers == [*range(1, 255), *[255] * 46]


@pytest.mark.parametrize("texts", [TEXTS, [""], []])
def test_signs_have_a_bit_for_each_character(texts: list[str]) -> None:
    encoded = Alphabet.of(TEXTS).encode(texts)
    values = encoded.characters
    rows = [values[a:b].tolist() for a, b in pairwise(encoded.starts)]
    expected = [reduce(lambda sign, value: sign | 1 << value % 64, row, 0) for row in rows]
    assert bits_of(values, encoded.starts).tolist() == expected
    far = (values.astype(np.int32) + 64, encoded.starts)
    assert bits_of(*far).tolist() == expected


@pytest.mark.parametrize(("offset", "n"), [(0, 8), (0, 2), (1, 3), (2, 8), (9, 1)])
def test_some_characters_in_one_number(offset: int, n: int) -> None:
    encoded = Alphabet.of(TEXTS).encode(TEXTS)
    rows = [bytes(encoded.characters[a:b]) for a, b in pairwise(encoded.starts)]
    expected = [int.from_bytes(row[offset : offset + n].ljust(n, b"\0"), "big") for row in rows]
    assert packed(encoded, offset, n).tolist() == expected
