"""Levels of spans inside each other, against what is read off every pair of spans."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.pipeline.spans.nesting import LEVELS, nesting
from spacy_cascade.pipeline.spans.placing import LabelledSpan

SPANS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 4), st.sampled_from("AB")).map(
        lambda span: (span[0], span[0] + span[1], span[2])
    ),
    max_size=10,
)


def is_inside(one: LabelledSpan, other: LabelledSpan) -> bool:
    if one[:2] == other[:2]:
        return one[2] < other[2]
    return other[0] <= one[0] and one[1] <= other[1]


def crosses(one: LabelledSpan, other: LabelledSpan) -> bool:
    share = one[0] < other[1] and other[0] < one[1]
    return share and one != other and not is_inside(one, other) and not is_inside(other, one)


@given(SPANS)
def test_depths_and_heights_are_those_of_the_longest_chains(spans: list[LabelledSpan]) -> None:
    distinct = set(spans)

    @cache
    def depth(span: LabelledSpan) -> int:
        return 1 + max((depth(o) for o in distinct if is_inside(span, o)), default=-1)

    @cache
    def height(span: LabelledSpan) -> int:
        return 1 + max((height(o) for o in distinct if is_inside(o, span)), default=-1)

    found = nesting(spans)
    assert set(found.spans) == distinct
    assert len(found.spans) == len(distinct)
    assert found.depths == [depth(span) for span in found.spans]
    assert found.heights == [height(span) for span in found.spans]
    crossing = [
        i for i, span in enumerate(found.spans) if any(crosses(span, o) for o in found.spans[:i])
    ]
    assert found.crossing == crossing


@given(SPANS)
def test_spans_of_a_level_are_not_inside_each_other(spans: list[LabelledSpan]) -> None:
    for chosen in LEVELS.values():
        level = nesting(spans).take(chosen)
        assert level == sorted(level)
        assert not any(is_inside(one, other) for one in level for other in level if one != other)
        assert level or not spans


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("innermost", [(0, 1, "PER"), (3, 5, "ORG"), (7, 8, "LOC")]),
        ("outermost", [(0, 1, "PER"), (2, 9, "EVENT")]),
    ],
)
def test_of_equal_bounds_the_first_label_is_inside(
    level: str, expected: list[LabelledSpan]
) -> None:
    spans = [(0, 1, "PER"), (2, 9, "EVENT"), (2, 8, "EVENT"), (3, 5, "PLACE"), (3, 5, "ORG")]
    found = nesting([*spans, (7, 8, "LOC")])
    assert found.take(LEVELS[level]) == expected
    assert found.take(lambda depth, height: height == 1) == [(3, 5, "PLACE")]
