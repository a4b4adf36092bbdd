"""How long spans are, and what the longest segment leaves out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spacy_cascade.features.resources import InvalidArray, span_flags
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.systems.semi_markov.features import LONGEST, SpanLengths, gold_bounds
from spacy_cascade.systems.semi_markov.structure import length_basis

LENGTHS = st.lists(st.integers(1, 100), max_size=40)


def counted(lengths: list[int]) -> SpanLengths:
    """As it is learnt from spans of these lengths, one token apart."""
    starts = np.cumsum([0, *(n + 1 for n in lengths)])
    spans = np.array([[s, s + n] for s, n in zip(starts, lengths, strict=False)], np.int64)
    size = int(starts[-1])
    flags = span_flags(size, spans.reshape(-1, 2), np.ones(size, dtype=np.bool_))
    assert gold_bounds(flags).tolist() == spans.reshape(-1, 2).tolist()
    return SpanLengths.empty().learn(read_tokens([]), flags)


@settings(max_examples=25)
@given(LENGTHS, st.integers(1, 120))
def test_lengths_are_counted(lengths: list[int], longest: int) -> None:
    found = counted(lengths)
    assert found.n_longer(longest) == sum(n > longest for n in lengths)
    assert found.n_longer(0) == len(lengths)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 70), st.integers(1, 2000)), max_size=6))
@example([])
@example([(1, 998), (2, 2)])
@example([(1, 997), (2, 3)])
@example([(100, 5)])
def test_no_more_than_two_of_a_thousand_spans_are_longer(groups: list[tuple[int, int]]) -> None:
    """In whole numbers, and no shorter segment would do."""
    lengths = [n for n, times in groups for _ in range(times)]
    counts = np.bincount(np.array([0, *lengths]), minlength=1)[1:].astype(np.int32)
    found = SpanLengths(counts)

    def is_enough(longest: int) -> bool:
        return 1000 * sum(n > longest for n in lengths) <= 2 * len(lengths)

    expected = next(n for n in range(1, 101) if is_enough(n))
    assert found.longest() == min(expected, LONGEST)


def test_weights_of_lengths_add_to_their_own_length_and_make_a_parabola() -> None:
    basis = length_basis(18)
    for length, (*own, linear, squared) in enumerate(basis.tolist(), 1):
        assert own == [float(min(length, 16) == d) for d in range(1, 17)]
        assert (linear, squared) == pytest.approx((length / 10, length * length / 100))
    assert length_basis(3).tolist() == basis[:3].tolist()


def test_it_is_saved_and_restored() -> None:
    found = counted([1, 2, 2, 5])
    again = SpanLengths.restore(found.arrays(), None)
    assert again.counts.tolist() == found.counts.tolist() == [1, 2, 0, 0, 1]
    SpanLengths.check(found.arrays())
    with pytest.raises(InvalidArray, match="negative"):
        SpanLengths.check({"counts": np.array([1, -1], dtype=np.int32)})


def test_adaptation_does_not_change_it() -> None:
    """The weights are those of segments of the first training."""
    found = counted([1, 2])
    flags = span_flags(9, np.array([[0, 9]]), np.ones(9, dtype=np.bool_))
    assert found.add(read_tokens([]), flags) is found
