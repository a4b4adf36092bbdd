"""Spans that fit what was found, and sequences taken out of a batch."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_cascade.features.group_spans import GroupSpans
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.inference.schemes import Spans
from spacy_cascade.systems.nested.sequences import Labels, fitting, take_sequences, with_spans

CUTS = st.lists(st.integers(0, 12), max_size=10, unique=True).map(sorted)


def spans_of(cuts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Every second gap between the cuts, so that the spans do not overlap."""
    even = cuts[: len(cuts) // 2 * 2]
    start, end = np.array(even, dtype=np.int64).reshape(-1, 2).T
    return start, end


@given(CUTS, CUTS)
def test_a_span_fits_that_holds_all_it_touches(below: list[int], above: list[int]) -> None:
    start, end = spans_of(below)
    n = len(start)
    found = GroupSpans(start, end, np.zeros(n, dtype=np.uint64), np.ones(n))
    new = Spans(*spans_of(above), np.zeros(len(above) // 2, dtype=np.int32))
    expected = [
        all(
            (last <= s or first >= e) or (s <= first and last <= e and (s, e) != (first, last))
            for first, last in zip(start.tolist(), end.tolist(), strict=True)
        )
        for s, e in zip(new.start.tolist(), new.end.tolist(), strict=True)
    ]
    assert fitting(found, new).tolist() == expected


def test_sequences_are_taken_with_their_spans() -> None:
    words = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
    starts = [i in (0, 2, 5, 7) for i in range(9)]
    doc = Doc(Vocab(), words=words, sent_starts=starts)
    doc.spans["key"] = [Span(doc, *b, label="X") for b in ((0, 1), (2, 4), (4, 6), (7, 9), (8, 9))]
    doc.spans["key"].attrs["scores"] = [0.1, 0.2, 0.3, 0.4, 0.5]
    tokens = read_tokens([doc, doc], span_keys=["key"])
    chosen = np.array([1, 3, 4])  # d of the first Doc, its last sentence, and a b of the second
    taken, numbers = take_sequences(tokens, chosen)
    assert numbers.tolist() == [2, 3, 4, 7, 8, 9, 10]
    assert [doc.vocab.strings[word] for word in taken.words.tolist()] == list("cdehiab")
    assert taken.sequence_starts.tolist() == taken.doc_starts.tolist() == [0, 3, 5, 7]
    spans = taken.groups["key"].spans
    assert list(zip(spans.start.tolist(), spans.end.tolist(), strict=True)) == [
        (0, 2), (3, 5), (4, 5), (5, 6),
    ]  # fmt: skip
    assert spans.confidence.tolist() == [0.2, 0.4, 0.5, 0.1]
    assert taken.groups["key"].is_given.all()


def test_spans_are_added_to_a_group() -> None:
    doc = Doc(Vocab(), words=["a", "b", "c"])
    doc.spans["key"] = [Span(doc, 1, 2, label="X")]
    tokens = read_tokens([doc], span_keys=["key"])
    new = Spans(np.array([0]), np.array([3]), np.array([1], dtype=np.int32))
    labels = Labels(np.array([7, 8], dtype=np.uint64), ["seven", "eight"])
    group = with_spans(tokens, "key", new, labels, np.array([0.25])).groups["key"]
    spans = group.spans
    assert (spans.start.tolist(), spans.end.tolist()) == ([1, 0], [2, 3])
    assert (spans.label.tolist()[1], spans.confidence.tolist()) == (8, [1.0, 0.25])
    assert group.texts[8] == "eight"
    group = with_spans(tokens, "key", new, labels).groups["key"]
    assert group.spans.confidence.tolist() == [1.0, 1.0]
