"""The attribute `nested_span`: the tag of the outermost span, and how much is inside of that."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.tokens import Doc, Span

from helpers import blank
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.tokens import Tokens, read_tokens
from spacy_cascade.systems.nested.attributes import NestedSpan

VOCAB = blank().vocab
WORDS = [
    "the",
    "mayor",
    "of",
    "the",
    "town",
    "of",
    "Oslo",
    "met",
    "Ada",
    "and",
    "the",
    "king",
    "of",
    "Spain",
    "there",
]
SPANS = [
    [(0, 7), (3, 7), (6, 7), (8, 9), (10, 14), (10, 12)],
    [(0, 9), (0, 2), (1, 2), (3, 7), (10, 12), (10, 11), (11, 12), (13, 14)],
    [(0, 9), (0, 8), (0, 7), (0, 6), (9, 12)],
    [],
]
INSIDE = ["", ", around one level", ", around two levels or more"]


def read(spans: list[tuple[int, int]]) -> Tokens:
    doc = Doc(VOCAB, words=WORDS)
    doc.spans["sc"] = [Span(doc, start, end, "ENT") for start, end in spans]
    return read_tokens([doc], (), ["sc"])


def n_levels(spans: list[tuple[int, int]], span: tuple[int, int]) -> int:
    """How many levels of spans are inside of one."""
    inside = [one for one in spans if one != span and span[0] <= one[0] and one[1] <= span[1]]
    return max((1 + n_levels(spans, one) for one in inside), default=0)


def text_of(value: int) -> str:
    known = {hash_string(text): text for text in ("O", "B-ENT", "I-ENT")}
    return known.get(value, f"#{value:x}")


@pytest.mark.parametrize("spans", SPANS)
def test_levels_inside_are_told_apart_up_to_two(spans: list[tuple[int, int]]) -> None:
    attribute = NestedSpan("nested_span", "sc")
    found = attribute.values(read(spans), None, None)
    shown = [attribute.describe(value, text_of, None) for value in found.tolist()]
    expected = ["O"] * len(WORDS)
    for start, end in sorted(spans, key=lambda span: span[0] - span[1], reverse=True):
        inside = INSIDE[min(n_levels(spans, (start, end)), 2)]
        tags = ["B-ENT", *["I-ENT"] * (end - start - 1)]
        expected[start:end] = [tag + inside for tag in tags]
    assert shown == expected
    assert len(np.unique(found)) == len(set(expected))


def test_an_unknown_value_is_shown_as_it_is() -> None:
    assert NestedSpan("nested_span", "sc").describe(5, text_of, None) == "#5"
