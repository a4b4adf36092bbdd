"""The spans of groups as arrays, against searches of all pairs of spans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span, SpanGroup
from spacy.vocab import Vocab

from spacy_cascade.features.group_spans import (
    BatchGroup,
    GroupSpans,
    join_groups,
    outermost,
    read_group,
)
from spacy_cascade.features.scored_spans import CONFIDENCE_ATTRIBUTE, FOUND, RECORD_ATTRIBUTE, pack
from spacy_cascade.features.strings import hash_string
from spacy_cascade.pipeline.spans.groups import LastingGroup
from spacy_cascade.pipeline.spans.tables import table_of

Bounds = tuple[int, int]
VOCAB = Vocab()
WORDS = ["a", "bc", "d", "e", "f"]
SPANS = st.lists(
    st.builds(lambda start, n: (start, start + n), st.integers(0, 5), st.integers(1, 4)),
    max_size=6,
)


def group_of(spans: Sequence[Bounds]) -> BatchGroup:
    """A group whose spans have their number as their label and as their confidence."""
    start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    numbers = np.arange(len(spans))
    of_spans = GroupSpans(start, end, numbers.astype(np.uint64), numbers / 8)
    is_given = np.ones(9, dtype=np.bool_)
    return BatchGroup(of_spans, is_given, {i: str(i) for i in range(len(spans))})


@given(SPANS, st.permutations(range(6)))
def test_outermost_spans_are_inside_no_other_one(spans: list[Bounds], ranks: list[int]) -> None:
    """Of equal ones the first by rank counts."""

    def is_inside(i: int, j: int) -> bool:
        (start, end), (begin, stop) = spans[i], spans[j]
        is_first = spans[i] != spans[j] or ranks[j] < ranks[i]
        return i != j and begin <= start and end <= stop and is_first

    n = len(spans)
    expected = [i for i in range(n) if not any(is_inside(i, j) for j in range(n))]
    start, end, *_ = group_of(spans).spans
    found = outermost(start, end, np.array(ranks[:n], dtype=np.int64))
    assert found.tolist() == sorted(expected, key=lambda i: spans[i])


@given(SPANS)
def test_longer_and_later_spans_come_before_others(spans: list[Bounds]) -> None:
    """Each that is kept takes its tokens; of tags, the span of each token counts alone."""
    order = sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], i))
    taken: set[int] = set()
    kept = []
    for i in reversed(order):
        if taken.isdisjoint(range(*spans[i])):
            taken.update(range(*spans[i]))
            kept.append((*spans[i], i, i / 8))
    group = group_of(spans)
    assert list(zip(*map(list, group.disjoint), strict=True)) == sorted(kept)
    tags = ["O"] * 9
    for i in order:
        begin, *inside = range(*spans[i])
        tags[begin] = f"B-{i}"
        for t in inside:
            tags[t] = f"I-{i}"
    assert group.tags.tolist() == list(map(hash_string, tags))


def test_tokens_of_spans_are_listed_span_by_span() -> None:
    assert group_of([(3, 5), (0, 1), (3, 6)]).spans.tokens().tolist() == [3, 4, 0, 3, 4, 5]
    assert group_of([]).spans.tokens().tolist() == []


def doc_with(
    spans: Sequence[tuple[int, int, str]] | None, scores: Sequence[float] | None, vocab: Vocab
) -> Doc:
    doc = Doc(vocab, words=WORDS)
    if spans is not None:
        attributes = {} if scores is None else {CONFIDENCE_ATTRIBUTE: scores}
        made = [Span(doc, *span) for span in spans]
        doc.spans["k"] = SpanGroup(doc, name="k", spans=made, attrs=attributes)
    return doc


def rows(group: BatchGroup) -> list[tuple[int, int, str, float]]:
    start, end, label, confidence = map(list, group.spans)
    texts = [group.texts[key] for key in label]
    return list(zip(start, end, texts, confidence, strict=True))


def test_spans_of_several_docs_are_counted_through() -> None:
    """A group may be missing or empty, and so may be a span; each Doc knows its own labels."""
    docs = [
        doc_with([(0, 2, "A"), (3, 3, "A"), (4, 5, "B")], [0.5, 0.75, 0.25], VOCAB),
        doc_with(None, None, VOCAB),
        doc_with([], None, Vocab()),
        doc_with([(2, 4, "of another vocabulary"), (1, 3, "A")], None, Vocab()),
    ]
    expected = [
        (0, 2, "A", 0.5), (4, 5, "B", 0.25),
        (17, 19, "of another vocabulary", 1.0), (16, 18, "A", 1.0),
    ]  # fmt: skip
    starts = np.arange(5) * len(WORDS)
    whole = read_group(docs, "k", starts)
    parts = [read_group(docs[:1], "k", starts[:2]), read_group(docs[1:], "k", starts[:4])]
    for group in (whole, join_groups(parts, [0, 5])):
        assert rows(group) == expected
        assert group.is_given.tolist() == [True] * 5 + [False] * 5 + [True] * 10
    nothing = read_group(docs[1:2], "k", starts[:2])
    assert (rows(nothing), nothing.tags.tolist()) == ([], [0] * 5)


SCORED = [(0, 1, "A"), (1, 3, "B")]


@pytest.mark.parametrize(
    ("spans", "scores", "expected"),
    [
        (SCORED, None, [1.0, 1.0]),
        (SCORED, [0.5], [1.0, 1.0]),
        (SCORED[::-1], [0.5, 0.25], [0.25, 0.5]),
        ([(1, 3, "A"), (3, 5, "C"), *SCORED], [0.5, 0.25], [1.0, 1.0, 0.5, 0.25]),
        (SCORED[::-1], [0.5, 0.75], [0.5, 0.75]),
    ],
)
def test_a_record_says_which_spans_confidences_belong_to(
    spans: list[tuple[int, int, str]], scores: list[float] | None, expected: list[float]
) -> None:
    """Unless the scores are others than those that were written with it."""
    doc = doc_with(spans, scores, VOCAB)
    keys = [Span(doc, *span) for span in SCORED]
    rows = zip(keys, (0.5, 0.25), strict=True)
    record = pack((s.start_char, s.end_char, s.label, score, FOUND) for s, score in rows)
    doc.spans["k"].attrs[RECORD_ATTRIBUTE] = record
    assert read_group([doc], "k", np.array([0, 5])).spans.confidence.tolist() == expected


def test_spans_of_a_component_are_read_from_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them is made. Confidences belong to their places until a span is exchanged."""
    doc = Doc(VOCAB, words=WORDS)
    spans = [Span(doc, 0, 2, "A"), Span(doc, 0, 2, "A"), Span(doc, 3, 5, "B")]
    scores = [0.5, 0.75, 0.25]
    record = pack(
        (s.start_char, s.end_char, s.label, score, FOUND)
        for s, score in zip(spans, scores, strict=True)
    )
    attributes = {CONFIDENCE_ATTRIBUTE: scores, RECORD_ATTRIBUTE: record}
    group = LastingGroup(doc, name="k", table=table_of(spans), attrs=attributes)
    doc.spans["k"] = group
    expected = [(0, 2, "A", 0.5), (0, 2, "A", 0.75), (3, 5, "B", 0.25)]
    with monkeypatch.context() as patched:
        patched.setattr(LastingGroup, "_make", None)
        assert rows(read_group([doc], "k", np.array([0, 5]))) == expected
    group[2] = Span(doc, 2, 3, "B")
    assert rows(read_group([doc], "k", np.array([0, 5])))[2] == (2, 3, "B", 1.0)
