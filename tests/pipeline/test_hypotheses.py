"""Features of hypotheses, one small sentence each."""

from __future__ import annotations

from collections import Counter

import pytest

from spacy_cascade.pipeline.hypotheses import FEATURES, Elsewhere, Hypothesis, feature_values

NOTHING = Elsewhere(Counter(), Counter())


def value(name: str, text: str, *spans: tuple[int, int], elsewhere: Elsewhere = NOTHING) -> float:
    scores = [-0.5 * (i + 1) for i in range(len(spans))]
    hypothesis = Hypothesis(text.split(), spans, -2.0, scores, 4)
    return float(feature_values(hypothesis, elsewhere)[list(FEATURES).index(name)])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sequence_score", -2.0),
        ("type_score", -1.5),
        ("lowest_type_score", -1.0),
        ("reciprocal_rank", 0.25),
        ("n_spans", 2.0),
        ("total_length", 4.0),
        ("mean_length", 2.0),
        ("longest", 3.0),
    ],
)
def test_scores_and_sizes(name: str, expected: float) -> None:
    assert value(name, "a b c d e f", (0, 1), (2, 5)) == expected


@pytest.mark.parametrize(
    "name", [n for n in FEATURES if n not in ("sequence_score", "reciprocal_rank")]
)
def test_without_spans(name: str) -> None:
    assert value(name, "a ( b ) and c") == 0.0


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("( a ) b", (0, 3), 0.0),
        ("( a ) b", (0, 2), 1.0),
        ("( a ) b", (1, 3), 1.0),
        (") a ( b", (0, 4), 1.0),
        ("il(2)-x y", (0, 2), 0.0),
    ],
)
def test_brackets(text: str, span: tuple[int, int], expected: float) -> None:
    assert value("unbalanced_brackets", text, span) == expected


@pytest.mark.parametrize(("span", "expected"), [((0, 2), 1.0), ((1, 2), 0.0), ((1, 4), 1.0)])
def test_punctuation_at_the_edge(span: tuple[int, int], expected: float) -> None:
    assert value("punctuation_at_edge", "- a b , c", span) == expected


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("glucocorticoid receptor ( gr )", (0, 2), 1.0),
        ("glucocorticoid receptor ( gr )", (1, 2), 0.0),
        ("glucocorticoid receptor ( gr and )", (0, 2), 0.0),
        ("glucocorticoid receptor ( gr", (0, 2), 0.0),
    ],
)
def test_before_an_abbreviation(text: str, span: tuple[int, int], expected: float) -> None:
    assert value("before_abbreviation", text, span) == expected


def test_conjunction_inside() -> None:
    assert value("conjunction_inside", "a and b or c", (0, 3)) == 1.0
    assert value("conjunction_inside", "a and b or c", (0, 1), (2, 3)) == 0.0


def test_the_same_phrase_elsewhere() -> None:
    own = Hypothesis(["t", "cells", "grow"], [(0, 2)], 0.0, [0.0], 1)
    other = Hypothesis(["t", "cells", "and", "b"], [(0, 2), (3, 4)], 0.0, [0.0, 0.0], 1)
    first, second = Elsewhere.of([own, other])
    assert first.texts == Counter({"t cells": 1, "b": 1})
    assert second.words == Counter(["t", "cells"])
    assert value("agreement", "t cells grow", (0, 2), (2, 3), elsewhere=first) == 0.5
    assert value("missed_elsewhere", "t cells b b", (0, 1), elsewhere=first) == 3.0
    assert value("missed_elsewhere", "t cells b b", (0, 4), elsewhere=first) == 0.0
