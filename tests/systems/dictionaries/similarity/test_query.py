"""Spans as a search by words sees them, against sums over all their words."""

from __future__ import annotations

import numpy as np
import pytest

from similar_spans import dictionary_of, tokens_of
from spacy_cascade.numeric.hashing import HashFunction
from spacy_cascade.numeric.key_filter import KeyFilter
from spacy_cascade.systems.dictionaries.similarity.query import (
    Query,
    Together,
    _pair,
    add_word,
    enter_close,
    enter_following,
    following_in,
    is_reachable,
    make_query,
    pairs_of,
    tokens_together,
)
from spacy_cascade.systems.dictionaries.similarity.seen_words import Matches, SeenWords

N_WORDS, N_TOKENS = 6, 12


class Text:
    """Tokens of few words, some of which match nothing, and which of the others are linked."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.squares = random.integers(1, 4, N_WORDS).astype(np.float64)
        counts = random.permutation(np.arange(N_WORDS) % 4)
        starts = np.append(0, np.cumsum(counts))
        numbers = [60 + np.sort(random.choice(8, n, replace=False)) for n in counts]
        closeness = random.uniform(0.9, 1, starts[-1])
        self.matches = Matches(starts, np.concatenate(numbers).astype(np.int32), closeness)
        linked = np.triu(random.random((N_WORDS, N_WORDS)) < 0.5, 1)
        self.is_linked = (linked | linked.T) & (counts > 0) & (counts > 0)[:, None]
        self.rows = random.integers(0, N_WORDS, N_TOKENS).astype(np.int32)
        self.square_of = np.where(counts > 0, self.squares, -self.squares)[self.rows]
        self.together = Together(*(
            np.array([
                sum(1 << k for k, other in enumerate(self.rows[t:]) if k and relation[row, other])
                for t, row in enumerate(self.rows)
            ], dtype=np.uint64)
            for relation in (self.is_linked, np.eye(N_WORDS, dtype=np.bool_))
        ))  # fmt: skip

    def matches_of(self, row: int) -> range:
        return range(*self.matches.starts[row : row + 2].tolist())

    def reach(self, row: int, words: list[int]) -> float:
        """What the word weighs and what is linked to it; nothing if it matches nothing."""
        linked = (self.squares[word] for word in words if self.is_linked[row, word])
        return sum(linked, self.squares[row]) if self.matches_of(row) else -np.inf

    def query(self, begin: int, end: int) -> tuple[Query, int]:
        query, n = make_query(), 0
        for array in query:
            array[:] = 9  # of an earlier span
        for t in range(end - 1, begin - 1, -1):
            n = add_word(query, self.rows, self.square_of, self.together, n, t, end)
        return query, n


@pytest.mark.parametrize("seed", range(3))
def test_words_and_what_they_reach(seed: int) -> None:
    text = Text(seed)
    for end in range(1, N_TOKENS + 1):
        for begin in range(end):
            query, n = text.query(begin, end)
            words = list(dict.fromkeys(text.rows[begin:end][::-1].tolist()))
            reach = [text.reach(word, words) for word in words]
            assert query.rows[:n].tolist() == words
            assert query.squares[:n].tolist() == text.squares[words].tolist()
            assert query.reach[:n].tolist() == reach
            for least in range(8):
                enough = sum(
                    text.squares[w] for w, r in zip(words, reach, strict=True) if r >= least
                )
                assert is_reachable(query, n, float(least)) == (enough > 0 and enough >= least)


@pytest.mark.parametrize("seed", range(3))
def test_what_the_words_of_a_span_match(seed: int) -> None:
    """In ascending order, with how strongly all that follows can match."""
    text = Text(seed)
    query, n = text.query(0, N_TOKENS)
    words, total = query.rows[:n].tolist(), query.squares[:n].sum()
    least = float(np.sort(query.reach[:n])[n // 2])
    size = enter_close(query, text.matches, n, total, least)
    numbers, closeness = text.matches.numbers, text.matches.closeness
    expected = sorted(
        (int(numbers[c]), k, np.sqrt(text.squares[word] / total) * closeness[c])
        for k, word in enumerate(words)
        for c in text.matches_of(word)
        if text.reach(word, words) >= least
    )
    assert 0 < size == len(expected) < len(numbers)
    found = zip(query.numbers, query.word, query.strength, strict=True)
    np.testing.assert_allclose([*found][:size], expected)
    for i, (_, own, _) in enumerate(expected):
        norm = enter_following(query, text.together.linked, i, size, n)
        after = [e for e in expected[i + 1 :] if text.is_linked[words[own], words[e[1]]]]
        strongest = {k: max(each for _, word, each in after if word == k) for _, k, _ in after}
        assert norm == pytest.approx(np.linalg.norm([*strongest.values()]))
        for sign in (1 << 5 | 1 << 61, 2**64 - 1, 1, 0):
            in_sign = {k for number, k, _ in after if sign >> (number & 63) & 1}
            within = following_in(query.bits, query.strongest, np.uint64(sign), n)
            assert within == pytest.approx(np.linalg.norm([strongest[k] for k in in_sign]))


def test_words_that_may_stand_in_one_term() -> None:
    """Those of one term do, those that match nothing and a word with itself do not."""
    dictionary = dictionary_of([["alpha", "beta", "gamma"], ["delta"], ["alpha", "of"]])
    doc = ["gamma", "new", "alpha", "gamma", "alpha", "of", "other", "beta", "delta", "new"]
    tokens = tokens_of([doc])
    assert tokens.text_of is not None
    seen = SeenWords(dictionary).see(tokens.lower, tokens.text_of)
    together = tokens_together(pairs_of(dictionary), seen.rows, seen.table.equal, 5)
    terms = [{"alpha", "beta", "gamma"}, {"alpha", "of"}]
    for t, word in enumerate(doc):
        same, linked = int(together.same[t]), int(together.linked[t])
        later = doc[t : t + 5]
        assert same == sum(1 << k for k, other in enumerate(later) if k and other == word)
        assert linked >> len(later) == linked & 1 == 0
        for k, other in enumerate(later[1:], start=1):
            if any({word, other} <= term for term in terms) and word != other:
                assert linked >> k & 1
            if word == other or {word, other} & {"new", "other"}:
                assert not linked >> k & 1


@pytest.mark.parametrize("lets_all_through", [True, False])
def test_only_different_words_may_stand_in_one_term(lets_all_through: bool) -> None:
    """As far as the filter lets their pair through; other rows may match the same word."""
    bits = np.full(1, 2**64 - 1 if lets_all_through else 0, dtype=np.uint64)
    pairs = KeyFilter(bits, HashFunction(np.uint64(1), np.uint64(58)))
    numbers = np.array([4, 4, 2], dtype=np.int32)
    matches = Matches(np.array([0, 1, 2, 3]), numbers, np.ones(3))
    together = tokens_together(pairs, np.arange(3, dtype=np.int32), matches, 3)
    assert together.linked.tolist() == ([4, 2, 0] if lets_all_through else [0, 0, 0])


def test_pairs_of_terms_have_a_bit_each_of_some_twenty_places() -> None:
    dictionary = dictionary_of([[f"{n}a", f"{n}b"] for n in range(18)] + [["c"], ["d", "e", "d"]])
    pairs = pairs_of(dictionary)
    assert 16 * 19 <= 64 * len(pairs.bits) <= 32 * 19
    assert 0 < sum(f"{bits:b}".count("1") for bits in pairs.bits.tolist()) <= 19
    assert pairs_of(dictionary) is pairs
    keys = {int(_pair(low, high)) for low in range(10) for high in range(low + 1, 10)}
    assert len(keys) == 45
