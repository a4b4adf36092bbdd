"""Words cut into pieces, against a slow twin; their vectors and clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from spacy_cascade.errors import CorpusError
from spacy_cascade.systems.words.pieces import WordPieces, check
from spacy_cascade.systems.words.table import About, WordTable, values_of
from spacy_cascade.tools.words.tables import table_of_pieces

PIECES = [" a", " ab", " abc", "a", "b", "bc", "c", " c", " -", " é", "é", " a -", ""]
"""Those that go beyond a mark, and those without text, are part of no word."""
VECTORS = np.random.default_rng(0).normal(size=(len(PIECES), 8)).astype(np.float32)


def slow_pieces(word: str) -> list[str]:
    """The longest piece that fits, again and again."""
    cut: list[str] = []
    for run in word.replace("-", " - ").split():
        rest = f" {run}"
        while rest.strip():
            fitting = [piece for piece in PIECES if piece and rest.startswith(piece)]
            if not fitting and rest.startswith(" "):
                rest = rest[1:]  # Any piece may begin a word that none of those fits.
                continue
            if not fitting:
                break
            cut.append(max(fitting, key=len))
            rest = rest[len(cut[-1]) :]
    return cut


@given(st.lists(st.text("abc-x", max_size=6)))
def test_a_vector_is_the_mean_of_the_longest_pieces(words: list[str]) -> None:
    found = WordPieces.of(PIECES, VECTORS, is_lower=False).vectors(words)
    for word, vector in zip(words, found, strict=True):
        rows = [VECTORS[PIECES.index(piece)] for piece in slow_pieces(word)]
        # A number is rounded to a 127th of the largest one of its piece.
        wanted = np.mean(rows, axis=0) if rows else np.zeros(8)
        assert vector == pytest.approx(wanted, abs=float(np.abs(VECTORS).max()) / 250)
    assert found.dtype == np.float32


def test_numbers_are_rounded_to_a_127th_of_the_largest() -> None:
    vectors = np.random.default_rng(1).normal(size=(2, 4000)).astype(np.float32)
    pieces = WordPieces.of([" a", " b"], vectors, is_lower=False)
    for found, vector in zip(pieces.vectors(["a", "b"]), vectors, strict=True):
        largest = np.abs(vector).max()
        assert np.abs(found - vector).max() == pytest.approx(largest / 254, rel=0.003)


def test_there_may_be_no_pieces() -> None:
    pieces = WordPieces.of([], np.zeros((0, 8), np.float32), is_lower=False)
    assert not pieces.vectors(["a", ""]).any()
    check(pieces.arrays())


def test_case_and_accents() -> None:
    lower = WordPieces.of([" abc"], VECTORS[:1], is_lower=True)
    assert lower.vectors(["ABC", "Äbc", "abc"]).any(axis=1).all()
    cased = WordPieces.of([" abc", " é"], VECTORS[:2], is_lower=False)
    assert cased.vectors(["ABC", "é", ""]).any(axis=1).tolist() == [False, True, False]


@pytest.fixture(scope="module")
def table() -> WordTable:
    words = ["a", "ab", "abc", "c", "ac", "acc", "abcb", "aa", "abb", "cc", "ca", "cab"]
    pieces = WordPieces.of(PIECES, VECTORS, is_lower=False)
    better = -pieces.vectors(words[:2])
    return table_of_pieces(pieces, words, About("mine"), sizes=(2, 4), listed=better)


def test_words_without_any_piece_make_no_table() -> None:
    pieces = WordPieces.of(PIECES, VECTORS, is_lower=False)
    with pytest.raises(CorpusError, match=r"No piece is part of any of the 2 words"):
        table_of_pieces(pieces, ["xx", "yy"], About(), sizes=(2,))


def finest(table: WordTable, words: list[str]) -> list[int]:
    """The cluster of each word at the finest size, from 0."""
    return (values_of(table.word_codes(words), 1).astype(int) - 1).tolist()


def test_every_word_has_the_nearest_cluster_in_the_nearest_one(table: WordTable) -> None:
    """By SciPy, of the rounded directions that are saved."""
    arrays = table.arrays()
    coarse, fine = np.split(arrays["centroids"].astype(float) - 128, [2])
    words = ["abcabc", "cb", "acb", "c", "abc"]
    points = WordPieces.of(PIECES, VECTORS, is_lower=False).vectors(words)
    points = points / np.linalg.norm(points, axis=1, keepdims=True) - arrays["mean"]
    first = cdist(points, coarse, "cosine").argmin(axis=1)
    outside = arrays["groups"][0][None, :] != first[:, None]
    wanted = np.where(outside, np.inf, cdist(points, fine, "cosine")).argmin(axis=1)
    assert finest(table, words) == wanted.tolist()


def test_a_listed_word_has_the_cluster_of_its_own_vector(table: WordTable) -> None:
    """Not that of its pieces, whose vector is the opposite one here."""
    assert len(table.arrays()["keys"]) == 2
    listed = finest(table, ["ab"])
    arrays = {
        **table.arrays(),
        "keys": np.zeros(0, np.uint64),
        "clusters": np.zeros((2, 0), np.uint16),
    }
    assert finest(WordTable(None, arrays), ["ab"]) != listed


def test_a_word_without_a_known_piece_has_no_cluster(table: WordTable) -> None:
    assert table.word_codes(["xyz", "", "日本"]).tolist() == [0, 0, 0]
