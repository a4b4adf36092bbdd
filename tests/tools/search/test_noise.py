"""Standard errors of differences, compared with the bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.tokens import Doc, Span

from helpers import blank, gold_doc
from spacy_cascade.tools.search.noise import count_outcomes, standard_error


def f1(counts: np.ndarray) -> float:
    right, gold, found = counts.sum(axis=0)
    return 2 * right / (gold + found)


def test_it_agrees_with_the_bootstrap(generator: np.random.Generator) -> None:
    n = 400
    gold = generator.poisson(2.0, n)
    both = [np.stack([generator.binomial(gold, p), gold, gold], axis=1) for p in (0.7, 0.75)]
    both[1][:, 2] += generator.poisson(0.3, n)
    one, other = both
    found = []
    for _ in range(3000):
        chosen = generator.integers(0, n, n)
        found.append(f1(other[chosen]) - f1(one[chosen]))
    assert standard_error(one, other) == pytest.approx(np.std(found), rel=0.06)
    assert standard_error(one, other) == pytest.approx(standard_error(other, one))


def test_an_error_that_is_worked_out_by_hand() -> None:
    """F1 is 4 / 6: the sentences add (4 - 4 * 2/3) / 6 and (0 - 2 * 2/3) / 6, that is ±2/9."""
    nothing = [[0, 2, 2], [0, 1, 1]]
    assert standard_error(nothing, [[2, 2, 2], [0, 1, 1]]) == pytest.approx(4 / 9)


def test_what_both_find_is_no_noise() -> None:
    counts = [[1, 2, 3], [0, 1, 0], [4, 4, 4]]
    assert standard_error(counts, counts) == 0.0
    assert standard_error([], []) == standard_error([[1, 1, 1]], [[0, 1, 1]]) == 0.0


def test_outcomes_of_sentences() -> None:
    vocab = blank().vocab
    gold = gold_doc(vocab, "Ada met Bob . Eve left .", [(0, 1, "P"), (2, 3, "P"), (4, 5, "P")],
                    sentence_starts=(0, 4))  # fmt: skip
    found = gold_doc(vocab, "Ada met Bob . Eve left .", [(0, 1, "P"), (2, 3, "Q"), (5, 6, "P")])
    assert count_outcomes([gold], [found]) == [[1, 2, 2], [0, 1, 1]]
    unmarked = gold_doc(vocab, "Ada met Bob .", [(0, 1, "P")])
    nothing = Doc(vocab)
    assert count_outcomes([unmarked, nothing], [unmarked, nothing]) == [[1, 1, 1]]


def test_other_tokens_of_the_same_text() -> None:
    vocab = blank().vocab
    gold = Doc(vocab, words=["New", "York-based"], spaces=[True, False])
    gold.set_ents([Span(gold, 0, 2, "A")])
    found = Doc(vocab, words=["New", "York", "-", "based"], spaces=[True, False, False, False])
    found.set_ents([Span(found, 0, 4, "A")])
    assert count_outcomes([gold], [found]) == [[1, 1, 1]]
