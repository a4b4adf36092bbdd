"""Term lists: the longest term at each place, and lists that cannot be read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import longest_matches

from spacy_cascade.errors import TemplateError
from spacy_cascade.features.lexicons import BEGIN, INSIDE, Lexicon, read_terms
from spacy_cascade.features.strings import hash_string

NAMES = {0: None, int(BEGIN): "begin", int(INSIDE): "inside"}
TOKENS = st.sampled_from(["a", "b", "c", "A", "Ä"])
TERMS = st.lists(st.lists(TOKENS, min_size=1, max_size=4), max_size=8)


def matches(terms, sequences) -> list[list[str | None]]:
    words = [word for sequence in sequences for word in sequence]
    lower = np.array([hash_string(word.lower()) for word in words], dtype=np.uint64)
    starts = np.cumsum([0, *map(len, sequences)], dtype=np.int64)
    values = [NAMES[value] for value in Lexicon.of(terms).values(lower, starts).tolist()]
    return [values[a:b] for a, b in pairwise(starts)]


@given(TERMS, st.lists(st.lists(TOKENS, max_size=8), max_size=3))
def test_longest_terms_from_the_left(terms, sequences):
    expected = [longest_matches(terms, words) for words in sequences]
    assert matches(terms, sequences) == expected


def test_terms_of_many_tokens():
    """Keys of all sizes: half of them have their highest bit set."""
    terms = [[f"first{n}", f"second{n}", f"third{n}"] for n in range(40)]
    found = matches(terms, [[*term, "else"] for term in terms])
    assert found == [["begin", "inside", "inside", None]] * 40


def test_beginnings_of_terms_are_no_terms():
    terms = [["T", "cell", "receptor", "gene"], ["T", "cell"]]
    sentence = ["the", "t", "cell", "receptor", "of", "T", "CELL", "receptor", "gene", "T"]
    assert matches(terms, [sentence]) == [
        [None, "begin", "inside", None, None, "begin", "inside", "inside", "inside", None]
    ]


def test_terms_do_not_cross_sequences():
    assert matches([["a", "b"]], [["a"], ["b"]]) == [[None], [None]]


def test_no_terms_and_no_words():
    assert matches([], [["a", "b"]]) == [[None, None]]
    assert matches([["a"]], []) == []


def test_terms_from_a_file(tmp_path):
    path = tmp_path / "genes.txt"
    path.write_text("p53\n\n  STAT 5 \r\nκ-Kette\n", encoding="utf8")
    assert read_terms("genes", str(path)) == ["p53", "STAT 5", "κ-Kette"]


def test_terms_from_the_config():
    assert read_terms("genes", ["p53 ", "", "STAT 5"]) == ["p53", "STAT 5"]


def test_file_that_is_not_there(tmp_path):
    with pytest.raises(TemplateError, match=r"lexicon 'genes'.*none\.txt.*UTF-8 text file"):
        read_terms("genes", str(tmp_path / "none.txt"))


def test_folder_instead_of_a_file(tmp_path):
    with pytest.raises(TemplateError, match="Cannot read the lexicon 'genes'"):
        read_terms("genes", str(tmp_path))


def test_file_in_another_encoding(tmp_path):
    path = tmp_path / "genes.txt"
    path.write_bytes("größe".encode("latin-1"))
    with pytest.raises(TemplateError, match="Cannot read the lexicon 'genes'"):
        read_terms("genes", str(path))


@pytest.mark.parametrize("terms", [[], ["", "  "]])
def test_list_without_terms(terms):
    with pytest.raises(TemplateError, match="'genes' has no terms"):
        read_terms("genes", terms)
