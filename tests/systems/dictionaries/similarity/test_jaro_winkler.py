"""The Jaro-Winkler similarity against its definition and rapidfuzz; terms it is taken to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import JaroWinkler

from similar_spans import Words, all_spans, context_of, search_of, tokens_of
from similarity_twins import jaro_winkler as slow
from spacy_cascade.systems.dictionaries.similarity.jaro_winkler import jaro_winkler, most_similar

STRINGS = st.text("ab", min_size=1, max_size=8) | st.text("abcd", min_size=1, max_size=64)
PAIRS = st.tuples(STRINGS, STRINGS) | st.tuples(STRINGS, st.integers(0, 63)).map(
    lambda pair: (pair[0], pair[0][: pair[1]] + "x" + pair[0][pair[1] + 1 :][:62])
)


def fast(one: str, other: str) -> float:
    codes = (np.frombuffer(text.encode("latin-1"), dtype=np.uint8) for text in (one, other))
    return float(jaro_winkler(*codes))


@settings(max_examples=60)
@given(PAIRS)
@example(("abcdefgh", "abxxxxxx"))
@example(("abcdef", "bcadef"))
def test_similarity_of_any_strings(pair: tuple[str, str]) -> None:
    """Those of rapidfuzz and of the definition, also of close ones."""
    expected = JaroWinkler.similarity(*pair, prefix_weight=0.1)
    assert fast(*pair) == pytest.approx(expected, abs=1e-12)
    assert fast(*pair) == pytest.approx(slow(*pair), abs=1e-12)
    assert fast(*pair) <= most_similar(*map(len, pair)) + 1e-12


@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 4), (4, 7), (64, 9), (40, 64)])
def test_lengths_alone_bound_the_similarity(n: int, m: int) -> None:
    """One string that begins the other one reaches the bound."""
    assert most_similar(n, m) == pytest.approx(fast("a" * n, "a" * m), abs=1e-12)


def test_known_values() -> None:
    """From Winkler's papers."""
    for one, other, value in (("martha", "marhta", 0.961), ("dixon", "dicksonx", 0.813)):
        assert fast(one, other) == pytest.approx(value, abs=5e-4)


WORDS = st.text("abé", min_size=1, max_size=6)
PHRASES = st.lists(WORDS, min_size=1, max_size=3)


def slow_nearest(span: Words, terms: list[list[str]]) -> float:
    text = "".join(span)
    head = text[: max(2, min(len(text) // 2 - 2, 16))]
    near = (term for term in map("".join, terms) if len(text) > 1 and term.startswith(head))
    best = max((slow(text, term) for term in near), default=0.0)
    return best if best >= 0.85 - 1e-9 else 0.0


@settings(max_examples=50)
@given(st.lists(PHRASES, max_size=8), PHRASES)
@example([["abcdefghxxxxxxxxxxxxxx"], ["abcdefgxijklmnopqrst"]], ["abcdefghijklmnopqrst"])
@example([["abcdxxxxxxxxxxxx"]], ["abcd"])
def test_few_terms_are_all_compared_that_begin_in_the_same_way(
    terms: list[list[str]], doc: list[str]
) -> None:
    for spans in (all_spans([doc]), all_spans([doc])[::-1]):
        found = search_of(terms).nearest("jaro_winkler", context_of(tokens_of([doc]), spans))
        expected = [slow_nearest(doc[start:end], terms) for start, end in spans]
        np.testing.assert_allclose(found.similarity, expected, atol=1e-9)


def test_tokens_may_be_split_in_another_way() -> None:
    search = search_of([["il-2", "receptor"], ["nf-kappab"]])
    tokens = tokens_of([["il", "-", "2", "receptor", "nf", "kappab"]])
    found = search.nearest("jaro_winkler", context_of(tokens, [(0, 4), (4, 6)]))
    assert [search.dictionary.text(n) for n in found.term] == ["il-2 receptor", "nf-kappab"]
    assert found.similarity[0] == 1.0
    assert found.similarity[1] > 0.95


def test_of_terms_with_the_same_characters_the_first_one_is_found() -> None:
    context = context_of(tokens_of([["il-", "2"]]), [(0, 2)])
    assert search_of([["il", "-2"], ["il-2"]]).nearest("jaro_winkler", context).term.tolist() == [0]


def test_among_many_terms_the_same_one_is_always_found() -> None:
    terms = [[f"gene{n}"] for n in range(1_000)]
    tokens = tokens_of([[f"gene{n}" for n in range(0, 1_000, 7)]])
    spans = [(t, t + 1) for t in range(len(tokens.words))]
    found = search_of(terms).nearest("jaro_winkler", context_of(tokens, spans))
    assert (found.similarity == 1.0).all()
