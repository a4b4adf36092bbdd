"""Terms by their words: what bounds hold, and similarities that are just enough."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from similar_spans import all_spans, context_of, dictionary_of, search_of, tokens_of
from similarity_twins import closeness, nearest_by_jaccard, nearest_by_tfidf
from spacy_cascade.systems.dictionaries.similarity.dictionary import texts_of
from spacy_cascade.systems.dictionaries.similarity.overlap import WordIndex

SCANS = {"jaccard": nearest_by_jaccard, "tfidf": nearest_by_tfidf}
WORDS = [f"{letter}word" for letter in "abcdefghijkl"]
RARER = [[word, f"{k}{word}"] for n, word in enumerate(WORDS) for k in range(n)]
"""Terms by which the first words of all are the rarest ones."""


@pytest.mark.parametrize(("is_jaccard", "least", "cosine"), [(True, 0.6, 0.75), (False, 0.8, 0.8)])
def test_norms_of_postings_are_rounded_up(is_jaccard: bool, least: float, cosine: float) -> None:
    """Postings that are left out are of words with too little behind them."""
    dictionary = dictionary_of([WORDS, WORDS[::2], WORDS[5:], *RARER])
    index = WordIndex.of(dictionary, is_jaccard, least)
    assert index.least_cosine == pytest.approx(cosine)
    assert index.least_share == pytest.approx(cosine**2)
    squares = np.ones(len(dictionary.weights)) if is_jaccard else dictionary.weights**2
    for word, (begin, end) in enumerate(pairwise(index.starts)):
        postings = [int(posting) for posting in index.postings[begin:end, 1]]
        found = {
            posting >> 24: [posting >> shift & 255 for shift in (16, 8, 0)] for posting in postings
        }
        assert [*found.values()] == sorted(found.values(), key=lambda norms: -norms[0])
        for term, (first, last) in enumerate(pairwise(dictionary.sets.indptr)):
            words = dictionary.sets.indices[first:last].tolist()
            if word not in words:
                assert term not in found
                continue
            k, of_term = words.index(word), squares[words] / squares[words].sum()
            norms = 255 * np.sqrt([of_term[k:].sum(), of_term[k], of_term[k + 1 :].sum()])
            if norms[0] >= 255 * cosine:
                assert term in found
            if term in found:
                assert found[term][0] >= 255 * cosine
                assert np.abs(found[term] - norms - 0.5).max() < 0.51


@pytest.mark.parametrize("measure", SCANS)
@pytest.mark.parametrize("n", range(1, len(WORDS) + 1))
def test_spans_of_some_words_of_a_term(measure: str, n: int) -> None:
    """Of the rarest ones, which are looked up first, and of the most frequent ones."""
    terms, spans = [WORDS[:n], *RARER], all_spans([WORDS[:n]])
    with np.errstate(divide="raise", invalid="raise"):
        found = search_of(terms).nearest(measure, context_of(tokens_of([WORDS[:n]]), spans))
    expected = [SCANS[measure](WORDS[start:end], terms) for start, end in spans]
    np.testing.assert_allclose(found.similarity, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("measure", "n_shared", "n_words", "similarity"),
    [
        ("tfidf", 16, 25, 0.8),
        ("jaccard", 3, 5, 0.6),
        ("tfidf", 15, 25, 0.0),
        ("jaccard", 4, 7, 0.0),
    ],
)
def test_the_least_similarity_that_counts(
    measure: str, n_shared: int, n_words: int, similarity: float
) -> None:
    """All words have the same weight; those that are not shared are in no term."""
    words = [f"{n}word" for n in range(n_words)]
    context = context_of(tokens_of([words]), [(0, n_words)])
    found = search_of([words[:n_shared]]).nearest(measure, context)
    assert found.similarity[0] == pytest.approx(similarity)
    assert found.term[0] == (0 if similarity else -1)


def test_of_words_that_add_as_much_the_first_one_matches() -> None:
    """The last word of the span is as close to both words of the term, and matches first."""
    search = search_of([["alphax", "alphay"]])
    first, second = texts_of(search.dictionary)
    tokens = tokens_of([[f"{word}{word[-1]}", "alphaz"] for word in (first, second)])
    similarity = search.nearest("tfidf", context_of(tokens, [(0, 2), (2, 4)])).similarity
    tie = closeness("alphaz", "alphax")
    totals = [tie + closeness("alphaxx", "alphay"), tie + closeness("alphaxx", "alphax")]
    assert similarity.tolist() == pytest.approx([total / 2 for total in totals])
