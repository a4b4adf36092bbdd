"""Terms that the indexes find against scans of the whole dictionary."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from similar_spans import Words, all_spans, context_of, dictionary_of, search_of, tokens_of
from similarity_twins import nearest_by_jaccard, nearest_by_tfidf
from spacy_cascade.systems.dictionaries.similarity.dictionary import MOST_TOKENS, texts_of
from spacy_cascade.systems.dictionaries.similarity.measures import MEASURES

VOCABULARY = ["alpha", "alphas", "alpham", "beta", "betas", "gene", "genes", "of", "il2", "x"]
WORDS = st.sampled_from(VOCABULARY)
TERMS = st.lists(st.lists(WORDS, min_size=1, max_size=6), max_size=12, unique_by=tuple)
DOCS = st.lists(st.lists(WORDS | st.sampled_from(["alphaz", "new"]), max_size=7), max_size=3)
SCANS = {"jaccard": nearest_by_jaccard, "tfidf": nearest_by_tfidf}


@pytest.mark.parametrize("measure", SCANS)
@settings(max_examples=60)
@given(terms=TERMS, docs=DOCS, data=st.data())
def test_the_index_finds_what_a_scan_finds(
    measure: str, terms: list[list[str]], docs: list[Words], data: st.DataObject
) -> None:
    """Spans may come in any order."""
    words, spans = [word for doc in docs for word in doc], all_spans(docs)
    if data.draw(st.booleans()):
        spans = data.draw(st.permutations(spans))
    found = search_of(terms).nearest(measure, context_of(tokens_of(docs), spans))
    expected = [SCANS[measure](words[start:end], terms) for start, end in spans]
    np.testing.assert_allclose(found.similarity, expected, atol=1e-6)


@pytest.mark.parametrize("measure", SCANS)
def test_large_dictionaries(measure: str) -> None:
    """So many terms of a word that bounds decide which ones are looked at."""
    random = np.random.default_rng(0)
    words = [f"{letter}word" for letter in "abcdefghijklmnopqrstuvwxyz"]
    share = 1 / np.arange(1, len(words) + 1)
    draw = lambda n: random.choice(words, n, p=share / share.sum()).tolist()  # noqa: E731
    terms = [list(t) for t in {tuple(draw(random.integers(1, 7))) for _ in range(300)}]
    doc = draw(12)
    spans = [(s, e) for s, e in all_spans([doc]) if e - s <= 8]
    found = search_of(terms).nearest(measure, context_of(tokens_of([doc]), spans))
    expected = [SCANS[measure](doc[start:end], terms) for start, end in spans]
    np.testing.assert_allclose(found.similarity, expected, atol=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
def test_steps_are_those_of_the_similarities(measure: str) -> None:
    """The first time, and from the memory; equal terms are in the last step."""
    search = search_of([["alpha", "gene"], ["beta"], ["alpha", "betas", "of", "genes", "x"]])
    doc = ["the", "alpha", "gene", "of", "betas", "genes", "alpha", "gene", "beta", "x"]
    context, other = (context_of(tokens_of([d]), all_spans([d])) for d in (doc, doc[::-1]))
    edges = np.array(MEASURES[measure].steps)
    for searching in (search, search, pickle.loads(pickle.dumps(search))):
        for asked in (context, other):
            similarity = searching.nearest(measure, asked).similarity
            expected = np.digitize(similarity + 1e-6, edges)
            np.testing.assert_array_equal(searching.steps(measure, asked), expected)
            assert {0, len(edges)} <= set(expected.tolist())


@pytest.mark.parametrize("terms", [[], [["a"]], [["a"], ["a", "a"]], [["b", "a", "b"], ["a"]]])
def test_distinct_words_of_terms_and_their_weights(terms: list[list[str]]) -> None:
    """The rarest word first, which has the largest weight."""
    dictionary = dictionary_of(terms)
    words, sets = list(texts_of(dictionary)), dictionary.sets
    found = [[words[n] for n in sets.indices[a:b]] for a, b in pairwise(sets.indptr)]
    assert found == [sorted(set(term), reverse=True) for term in terms]
    n_terms = [sum(word in term for term in terms) for word in words]
    np.testing.assert_allclose(dictionary.weights, [np.log(1 + len(terms) / n) for n in n_terms])
    assert n_terms == sorted(n_terms)


def test_words_of_text_after_text() -> None:
    """The table of seen words grows; it begins anew once it has too many."""
    words = [f"{first}{n:03}" for first in ("gene", "alpha", "beta") for n in range(300)]
    search = search_of([[word] for word in words[::3]])
    for begin in range(0, len(words), 90):
        tokens = tokens_of([words[begin : begin + 90]])
        context = context_of(tokens, [(t, t + 1) for t in range(90)])
        for measure in MEASURES:
            found = search.nearest(measure, context).similarity
            np.testing.assert_array_equal(np.flatnonzero(found > 1 - 1e-6), np.arange(0, 90, 3))


def test_words_that_are_close_match() -> None:
    terms = [["receptor", "kinases"], ["other", "thing"]]
    tokens = tokens_of([["receptors", "kinase"]])
    context = context_of(tokens, [(0, 2)])
    assert search_of(terms).nearest("tfidf", context).similarity[0] > 0.9
    assert search_of(terms).nearest("jaccard", context).similarity[0] == 0.0


def test_without_texts_only_equal_words_match() -> None:
    search = search_of([["receptor", "kinases"], ["beta"]])
    tokens = tokens_of([["receptors", "kinases", "receptor", "kinases"]], with_texts=False)
    context = context_of(tokens, [(0, 2), (2, 4)])
    assert search.steps("jaro_winkler", context).tolist() == [0, 0]
    assert search.steps("tfidf", context).tolist() == [0, 5]
    assert search.steps("jaccard", context).tolist() == [0, 5]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_phrase_that_recurs_is_searched_for_once(measure: str) -> None:
    """Also in another batch, when the index has nothing any more."""
    search = search_of([["alpha", "gene"]])
    doc = ["new", "alpha", "gene"]
    first = search.steps(measure, context_of(tokens_of([doc]), all_spans([doc])))
    asked: Any = search.measure(measure)
    nothing = (
        {"terms": asked._index.terms[:0]}
        if measure == "jaro_winkler"
        else {"starts": np.zeros_like(asked._index.starts)}
    )
    asked._index = asked._index._replace(**nothing)
    context = context_of(tokens_of([doc]), all_spans([doc]))
    assert not search.nearest(measure, context).similarity.any()
    assert search.steps(measure, context).tolist() == first.tolist()
    assert first.max() == len(MEASURES[measure].steps)


@pytest.mark.parametrize("terms", [[], [["a"], ["b"]]])
@pytest.mark.parametrize("measure", MEASURES)
def test_an_empty_dictionary_no_spans_and_no_words(measure: str, terms: list[list[str]]) -> None:
    """Spans that can be similar to no term take no room in the memory."""
    context = context_of(tokens_of([["alpha", "beta"]]), [(0, 1), (0, 2), (1, 2)])
    search = search_of(terms)
    assert search.steps(measure, context).tolist() == [0, 0, 0]
    assert [memory.any() for memory in search._memories.values()] == [False]
    kinds = [each.dtype for each in search.nearest(measure, context)]
    assert kinds == [np.int32, np.float64, np.int32]
    assert search_of([["alpha"]]).steps(measure, context_of(tokens_of([]), [])).tolist() == []


@pytest.mark.parametrize("measure", MEASURES)
def test_empty_and_huge_terms_are_left_out(measure: str) -> None:
    huge = [f"word{n}" for n in range(10_000)]
    search = search_of([[], huge, huge[: MOST_TOKENS + 1], ["alpha"]])
    assert [search.dictionary.text(n) for n in range(len(search.dictionary))] == ["alpha"]
    tokens = tokens_of([["alpha", *huge]])
    context = context_of(tokens, [(0, 1), (1, 10_001), (0, 10_001)])
    assert search.steps(measure, context).tolist() == [len(MEASURES[measure].steps), 0, 0]


def test_the_longest_terms_and_spans_that_are_compared() -> None:
    words = [f"{n}" for n in range(MOST_TOKENS)]
    search = search_of([words, ["alpha"]])
    context = context_of(tokens_of([words]), [(0, MOST_TOKENS), (1, MOST_TOKENS)])
    for measure in SCANS:
        assert search.nearest(measure, context).similarity.tolist() == pytest.approx(
            [1.0, (63 / 64) ** (0.5 if measure == "tfidf" else 1)]
        )


@pytest.mark.parametrize("measure", ["tfidf", "jaro_winkler"])
@pytest.mark.parametrize(
    ("of_term", "of_span", "is_similar"),
    [(63, 64, True), (64, 64, True), (64, 63, True), (65, 64, False), (64, 65, False)],
)
def test_strings_of_up_to_64_characters_are_compared(
    measure: str, of_term: int, of_span: int, is_similar: bool
) -> None:
    word = "abcd" * 17
    search = search_of([[f"{word[: of_term - 1]}x"]])
    context = context_of(tokens_of([[word[:of_span]]]), [(0, 1)])
    assert (search.nearest(measure, context).similarity[0] > 0.95) == is_similar


def test_terms_are_kept_once_in_lower_case() -> None:
    dictionary = dictionary_of([["IL-2", "Gene"], ["il-2", "gene"], ["Gene"]])
    assert [dictionary.text(n) for n in range(len(dictionary))] == ["il-2 gene", "gene"]
