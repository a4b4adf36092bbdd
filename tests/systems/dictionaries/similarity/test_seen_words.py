"""Words of texts as a dictionary sees them: which ones are close, and how their table grows."""

from __future__ import annotations

from itertools import product

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


@pytest.mark.parametrize("is_repeated", [False, True])
def test_characters_bound_how_close_words_are(is_repeated: bool) -> None:
    """Those in common stand first; so the similarity is the largest one of such words."""
    for n, m, common in product(range(4, 13), range(4, 13), range(4, 13)):
        if common <= min(n, m):
            foreign = [20] * (m - common) if is_repeated else [*range(20, 20 + m - common)]
            one, other = [*range(n)], [*range(common), *foreign]
            signs = bits_of(np.array(one + other, dtype=np.uint8), np.array([0, n, n + m]))
            similarity = jaro_winkler(*("".join(map(chr, word)) for word in (one, other)))
            assert _can_be_close(n, m, *signs) == (similarity >= 0.9 - 1e-9)
            assert _can_be_close(m, n, *signs[::-1]) == (similarity >= 0.9 - 1e-9)


@pytest.mark.parametrize("number", [0, 1, 1 << 63, 0x8001_F00F_0110_7FFE, 2**64 - 1])
def test_bits_are_counted(number: int) -> None:
    assert _n_bits(np.uint64(number)) == f"{number:b}".count("1")


def test_words_of_the_least_similarity_are_close() -> None:
    assert closeness("abcdefgh", "abcdefxy") == pytest.approx(0.9, abs=1e-12)
    context = context_of(tokens_of([["abcdefxy"]]), [(0, 1)])
    found = search_of([["abcdefgh"]]).nearest("tfidf", context)
    assert found.similarity[0] == pytest.approx(0.9)


def test_the_most_similar_words_are_close() -> None:
    """The word itself first, of equally similar ones the first of the dictionary."""
    heads, ends = ("abc", "abf", "xyz"), [*product("de", repeat=2), *product("de", repeat=3), ()]
    texts = [head + "".join(end) for head in heads for end in ends]
    terms = [*texts[::2], *(f"{text}-dedede{text}" for text in texts)]
    dictionary = dictionary_of([[text] for text in terms])
    known = list(texts_of(dictionary))
    # The table has words by their hashes.
    texts += ["a", "ab", "abz", "zzzde", *(f"ab0-dedede{head}" for head in heads)]
    texts.sort(key=lambda text: hash_strings([text])[0])
    tokens = tokens_of([texts])
    assert tokens.text_of is not None
    close = SeenWords(dictionary).see(tokens.lower, tokens.text_of).table.close
    for row, text in enumerate(texts):
        found = slice(*close.starts[row : row + 2])
        pairs = [(closeness(text, word), n) for n, word in enumerate(known)]
        expected = sorted((-value, n) for value, n in pairs if value)[:MOST_CLOSE]
        assert close.numbers[found].tolist() == [n for _, n in expected]
        np.testing.assert_allclose(close.closeness[found], [-value for value, _ in expected])


@pytest.mark.parametrize("letter", "abc")
def test_of_many_equally_similar_words_the_first_ones_are_close(letter: str) -> None:
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


def test_tables_with_and_without_texts_have_arrays_of_the_same_kinds() -> None:
    """So kernels are compiled once for both."""
    words = SeenWords(dictionary_of([["alpha"]]))
    keys = hash_strings(["alpha", "beta"])
    kinds = [
        [array.dtype for array in (*table[:3], *table.equal, *table.close)]
        for table in (words.see(keys, lambda key: "a").table, words.see_without_texts(keys).table)
    ]
    assert kinds[0] == kinds[1]
    assert kinds[0][:3] == [np.int32, np.uint8, np.int64]


def test_the_table_waits_for_the_lock() -> None:
    words = SeenWords(dictionary_of([["alpha"]]))
    assert waits_for_lock(lambda: words.see(hash_strings(["beta"]), lambda key: "beta"))


def test_more_values_are_written_where_there_is_room() -> None:
    """Arrays grow to twice their size at least, so that few are copied."""
    array = np.zeros(4)
    assert _with(array, 1, np.arange(1.0, 4.0)) is array
    assert _with(array, 4, np.full(1, 4.0)).tolist() == [0, 1, 2, 3, 4, 0, 0, 0]
    assert len(_with(array, 3, np.ones(9))) == 12
