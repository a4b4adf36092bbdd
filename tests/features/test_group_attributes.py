"""Attributes of span groups: their values, and what they say of them to readers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from spacy.tokens import Doc, Span, SpanGroup

from helpers import blank
from spacy_cascade.errors import TemplateError
from spacy_cascade.features.registry import attribute_class
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import read_tokens

NLP = blank()
WORDS = ["Mr", "Kelm", "left", ".", "kelm", "said", "it", ".", "Kelm"]


def described(name: str, scores: Sequence[float] | None, found: Sequence[tuple[int, int, str]]):
    """What an attribute of the group `k` says of each token, None where it says nothing."""
    doc = Doc(NLP.vocab, words=WORDS)
    attributes = {} if scores is None else {"scores": scores}
    spans = [Span(doc, *span) for span in found]
    doc.spans["k"] = SpanGroup(doc, name="k", spans=spans, attrs=attributes)
    NLP.vocab.strings.add("O")
    (attribute,) = attribute_class(name).expand(name, "k", Templates(("word",), {}, {}))
    values = attribute.values(read_tokens([doc], span_keys=["k"]), None, None)

    def text_of(number: int) -> str:
        known = number in NLP.vocab.strings
        return str(NLP.vocab.strings[number]) if known else f"#{number:016x}"

    return [attribute.describe(v, text_of, None) if v else None for v in values.tolist()]


@pytest.mark.parametrize(
    ("name", "scores", "found", "expected"),
    [
        (
            "word_elsewhere", None, [(1, 2, "PER"), (8, 9, "PER")],
            {1: "PER sometimes", 4: "PER always", 8: "PER sometimes"},
        ),
        (
            "word_elsewhere", None, [(0, 2, "PER")],
            {1: "O always", 4: "PER sometimes", 8: "PER sometimes"},
        ),
        (
            "phrase_elsewhere", [0.9, 0.6], [(1, 2, "PER"), (8, 9, "LOC")],
            {1: "LOC begins, 50-70 %", 4: "PER begins, 85-95 %", 8: "PER begins, 85-95 %"},
        ),
        (
            "phrase_elsewhere", None, [(1, 2, "PER"), (4, 5, "PER")],
            dict.fromkeys((1, 4, 8), "PER begins, above 95 %"),
        ),
    ],
)  # fmt: skip
def test_what_is_said_of_other_occurrences(
    name: str,
    scores: Sequence[float] | None,
    found: list[tuple[int, int, str]],
    expected: dict[int, str],
) -> None:
    """A word that is found once sees that it is not elsewhere; without confidences a phrase is
    sure.
    """
    assert described(name, scores, found) == [expected.get(t) for t in range(len(WORDS))]


def test_the_tag_that_a_group_gives_a_token() -> None:
    doc = Doc(NLP.vocab, words=WORDS)
    doc.spans["k"] = [Span(doc, 1, 3, "PER")]
    (attribute,) = attribute_class("span").expand("span", "k", Templates(("word",), {}, {}))
    values = attribute.values(read_tokens([doc], span_keys=attribute.span_groups), None, None)
    tags = ["O", "B-PER", "I-PER", *["O"] * 6]
    assert values.tolist() == list(map(hash_string, tags))


@pytest.mark.parametrize("name", ["span", "word_elsewhere", "phrase_elsewhere"])
def test_the_key_of_a_group_is_needed(name: str) -> None:
    with pytest.raises(
        TemplateError, match=rf"needs the key of a span group, as in '{name}\(chunks"
    ):
        Templates((name,), {}, {})
