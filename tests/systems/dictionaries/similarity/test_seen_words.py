"""Words of texts as a dictionary sees them: which ones are close, and how their table grows."""

from __future__ import annotations

import numpy as np
import pytest

from locking import waits_for_lock
from similar_spans import context_of, dictionary_of, search_of, tokens_of
from similarity_twins import closeness, jaro_winkler
from spacy_cascade.features.strings import hash_strings
from spacy_cascade.systems.dictionaries.similarity.characters import bits_of
from spacy_cascade.systems.dictionaries.similarity.dictionary import texts_of
from spacy_cascade.systems.dictionaries.similarity.seen_words import (
    MOST_CLOSE,
    SeenWords,
    _can_be_close,
    _n_bits,
    _with,
)


def test_characters_bound_how_close_words_are() -> None:
    """Those in common stand first; so the similarity is the largest one of such words."""
    for n in range(4, 13):
        for m in range(4, 13):
            for common in range(4, min(n, m) + 1):
                one, other = [*range(n)], [*range(common), *range(20, 20 + m - common)]
                signs = bits_of(np.array(one + other, dtype=np.uint8), np.array([0, n, n + m]))
                similarity = jaro_winkler(*("".join(map(chr, word)) for word in (one, other)))
                assert _can_be_close(n, m, *signs) == (similarity >= 0.9 - 1e-9)


@pytest.mark.parametrize("number", [0, 1, 1 << 63, 0x8001_F00F_0110_7FFE, 2**64 - 1])
def test_bits_are_counted(number: int) -> None:
    assert _n_bits(np.uint64(number)) == f"{number:b}".count("1")


def test_words_of_the_least_similarity_are_close() -> None:
    assert closeness("abcdefgh", "abcdefxy") == pytest.approx(0.9, abs=1e-12)
    context = context_of(tokens_of([["abcdefxy"]]), [(0, 1)])
    found = search_of([["abcdefgh"]]).nearest("tfidf", context)
    assert found.similarity[0] == pytest.approx(0.9)


@pytest.mark.parametrize("letter", "abc")
def test_of_equally_similar_words_the_first_ones_are_close(letter: str) -> None:
    dictionary = dictionary_of([[f"{'abc'[n % 3]}receptor-kinase{n:03}"] for n in range(200)])
    text = f"{letter}receptor-kinasexyz"
    seen = SeenWords(dictionary).see(hash_strings([text]), lambda key: text)
    first = [n for n, word in enumerate(texts_of(dictionary)) if word.startswith(letter)]
    assert seen.table.close.numbers[:MOST_CLOSE].tolist() == first[:MOST_CLOSE]


def test_each_word_is_looked_at_once_until_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("spacy_cascade.systems.dictionaries.similarity.seen_words._MOST_SEEN", 2)
    words, asked = SeenWords(dictionary_of([["alpha"]])), []
    for text in ("alpha", "beta", "alpha", "gamma", "beta"):
        words.see(hash_strings([text]), lambda _, text=text: asked.append(text) or text)
    assert asked == ["alpha", "beta", "gamma", "beta"]


def test_the_table_waits_for_the_lock() -> None:
    words = SeenWords(dictionary_of([["alpha"]]))
    assert waits_for_lock(lambda: words.see(hash_strings(["beta"]), lambda key: "beta"))


def test_more_values_are_written_where_there_is_room() -> None:
    """Arrays grow to twice their size at least, so that few are copied."""
    array = np.zeros(4)
    assert _with(array, 1, np.arange(1.0, 4.0)) is array
    assert _with(array, 4, np.full(1, 4.0)).tolist() == [0, 1, 2, 3, 4, 0, 0, 0]
    assert len(_with(array, 3, np.ones(9))) == 12
