"""Which terms a span is compared with by its characters, against a sorted list."""

from __future__ import annotations

import random
from bisect import bisect_left
from itertools import pairwise, product, takewhile

import numpy as np

from similar_spans import Words, context_of, search_of, tokens_of
from similarity_twins import jaro_winkler as slow


def split(text: str) -> Words:
    """Words that are too short to be close to each other."""
    return [text[k : k + 2] for k in range(0, len(text), 2)]


def slow_nearest(text: str, terms: list[str]) -> tuple[int, float]:
    """Of the eight terms before the span, the next one first, and then of the eight after it."""
    order = sorted(range(len(terms)), key=terms.__getitem__)
    place = bisect_left([terms[n] for n in order], text)
    head = text[: max(2, len(text) // 2 - 2)]
    best, found = 0.0, -1
    for side in (order[:place][::-1], order[place:]):
        for term in takewhile(lambda n: terms[n].startswith(head), side[:8]):
            value = slow(text, terms[term])
            if value > best and value >= 0.85 - 1e-9:
                best, found = value, term
    return found, best


def test_a_span_is_compared_with_its_neighbours_in_alphabetical_order() -> None:
    """Many terms share their first eight characters; of equally similar ones the first counts."""
    ends = ["".join(letters) for n in range(2, 7) for letters in product("ab", repeat=n)]
    texts = [*ends, *("a" * 8 + end for end in ends)]
    random.Random(0).shuffle(texts)
    terms, asked = texts[:150], [*texts[150:], "a" * 8 + "!" * 12]
    bounds = np.cumsum([0, *(len(split(text)) for text in asked)])
    tokens = tokens_of([[word for text in asked for word in split(text)]])
    search = search_of([split(text) for text in terms])
    found = search.nearest("jaro_winkler", context_of(tokens, [*pairwise(bounds.tolist())]))
    expected = [slow_nearest(text, terms) for text in asked]
    assert found.term.tolist() == [term for term, _ in expected]
    np.testing.assert_allclose(found.similarity, [value for _, value in expected], atol=1e-9)


def test_single_characters_are_no_beginnings_of_terms() -> None:
    index = search_of([["a"], ["b"]]).measure("jaro_winkler")._index
    assert not index.beginnings.bits.any()
