"""What is found elsewhere in a Doc, against twins that look at every pair of places."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span, SpanGroup

from helpers import blank
from spacy_cascade.features.group_spans import read_group
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.tokens import Tokens, join_tokens, read_tokens
from spacy_cascade.systems.second_look.attributes import phrases_elsewhere, words_elsewhere

VOCAB = blank().vocab
OUTSIDE = hash_string("O")
NUMBERS = {"O": OUTSIDE, **{label: VOCAB.strings.add(label) for label in ("PER", "LOC")}}
"""Of labels: one that is a hash, and one of those that spaCy gives small numbers."""
Found = list[tuple[int, int, str, float]]
"""Spans of a Doc: start, end, label, confidence."""


@st.composite
def drawn_docs(draw: st.DrawFn) -> list[tuple[list[str], Found]]:
    """Docs of few words with spans without overlap; some Docs have no word."""
    docs = []
    for _ in range(draw(st.integers(1, 3))):
        words = draw(st.lists(st.sampled_from(["a", "A", "b", "c", "."]), max_size=12))
        spans: Found = []
        start = 0
        while start < len(words):
            length = draw(st.integers(0, 3))
            if length and start + length <= len(words):
                confidence = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))
                label = draw(st.sampled_from(["PER", "LOC"]))
                spans.append((start, start + length, label, confidence))
            start += max(1, length)
        docs.append((words, spans))
    return docs


def batch_of(docs: list[tuple[list[str], Found]]) -> Tokens:
    """All Docs but the last, joined with that one."""
    found = []
    for words, spans in docs:
        doc = Doc(VOCAB, words=words)
        group = SpanGroup(doc, name="k", spans=[Span(doc, s, e, x) for s, e, x, _ in spans])
        group.attrs["scores"] = [confidence for *_, confidence in spans]
        doc.spans["k"] = group
        found.append(doc)
    parts = [read_tokens(part, span_keys=["k"]) for part in (found[:-1], found[-1:])]
    return join_tokens(parts) if len(docs) > 1 else parts[1]


def twin_of_words(words: list[str], spans: Found) -> dict[int, tuple[set[str], int, int]]:
    """For each token: the labels most others have, how many have them, and how many there are."""
    labels = ["O"] * len(words)
    for start, end, label, _ in spans:
        labels[start:end] = [label] * (end - start)
    lower = [word.lower() for word in words]
    found = {}
    for t, word in enumerate(lower):
        same = [u for u, other in enumerate(lower) if other == word]
        others = [labels[u] for u in same if u != t]
        if others and any(labels[u] != "O" for u in same):
            counts = Counter(others)
            most = max(counts.values())
            best = {label for label, n in counts.items() if n == most}
            found[t] = (best - {"O"} or best, most, len(others))
    return found


@settings(max_examples=40)
@given(drawn_docs())
def test_words_elsewhere_agree_with_all_pairs_of_places(
    docs: list[tuple[list[str], Found]],
) -> None:
    tokens = batch_of(docs)
    found = words_elsewhere(tokens, tokens.groups["k"].disjoint, OUTSIDE)
    wanted = {
        t + offset: value
        for (words, spans), offset in zip(docs, tokens.doc_starts.tolist(), strict=False)
        for t, value in twin_of_words(words, spans).items()
    }
    assert found.token.tolist() == sorted(wanted)
    for t, label, n_agreeing, n_others in zip(*found, strict=True):
        labels, most, n = wanted[int(t)]
        assert int(label) in {NUMBERS[text] for text in labels}
        assert (int(n_agreeing), int(n_others)) == (most, n)


def twin_of_phrases(words: list[str], spans: Found) -> list[tuple[int, int, set[str], list[float]]]:
    """Longest phrases found elsewhere: bounds, labels that can be theirs, possible confidences."""
    lower = [word.lower() for word in words]
    phrases = []
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            others = [
                (label, confidence)
                for s, e, label, confidence in spans
                if lower[s:e] == lower[start:end] and (s, e) != (start, end)
            ]
            if others:
                of_label = {x: [c for label, c in others if label == x] for x, _ in others}
                most = max(map(sum, of_label.values()))
                best = {x: c for x, c in of_label.items() if sum(c) == pytest.approx(most)}
                means = [float(np.mean(c)) for c in best.values()]
                phrases.append((start, end, set(best), means))
    phrases.sort(key=lambda p: (p[0] - p[1], p[0]))
    kept: list[tuple[int, int, set[str], list[float]]] = []
    for phrase in phrases:
        if all(phrase[1] <= other[0] or other[1] <= phrase[0] for other in kept):
            kept.append(phrase)
    return sorted(kept, key=lambda p: p[0])


@settings(max_examples=40)
@given(drawn_docs())
def test_phrases_elsewhere_agree_with_all_pairs_of_places(
    docs: list[tuple[list[str], Found]],
) -> None:
    tokens = batch_of(docs)
    found = phrases_elsewhere(tokens, tokens.groups["k"].disjoint)
    wanted = [
        (start + offset, end + offset, labels, means)
        for (words, spans), offset in zip(docs, tokens.doc_starts.tolist(), strict=False)
        for start, end, labels, means in twin_of_phrases(words, spans)
    ]
    assert [(s, e) for s, e, *_ in wanted] == list(
        zip(found.start.tolist(), found.end.tolist(), strict=True)
    )
    for (_, _, labels, means), label, mean in zip(
        wanted, found.label, found.confidence, strict=True
    ):
        assert int(label) in {NUMBERS[text] for text in labels}
        assert any(mean == pytest.approx(other) for other in means)


def test_of_overlapping_spans_the_longest_is_read_with_its_own_confidence() -> None:
    doc = Doc(VOCAB, words=["a", "b", "c", "d"])
    spans = [
        Span(doc, 0, 1, "PER"),
        Span(doc, 0, 2, "LOC"),
        Span(doc, 1, 2, "PER"),
        Span(doc, 3, 4, "PER"),
    ]
    doc.spans["k"] = SpanGroup(doc, spans=spans, attrs={"scores": [0.1, 0.2, 0.3, 0.4]})
    group = read_group([doc], "k", np.array([0, 4])).disjoint
    assert group.start.tolist() == [0, 3]
    assert group.end.tolist() == [2, 4]
    assert group.label.tolist() == [VOCAB.strings["LOC"], VOCAB.strings["PER"]]
    assert group.confidence.tolist() == [0.2, 0.4]
    assert not len(read_group([doc], "other", np.array([0, 4])).disjoint.start)


def test_spans_of_a_batch_are_read_as_if_alone() -> None:
    """In any order, with or without confidences, of Docs with and without the group."""
    docs = [Doc(VOCAB, words=["a", "b", "c"]) for _ in range(4)]
    docs[0].spans["k"] = [Span(docs[0], 2, 3, "PER"), Span(docs[0], 0, 2, "LOC")]
    scores = {"scores": [0.5]}
    docs[2].spans["k"] = SpanGroup(docs[2], spans=[Span(docs[2], 1, 3, "LOC")], attrs=scores)
    docs[3].spans["k"] = [docs[3][1:1]]  # no token
    group = read_group(docs, "k", np.array([0, 3, 6, 9, 12]))
    assert [part.tolist() for part in group.disjoint] == [
        [0, 2, 7],
        [2, 3, 9],
        [NUMBERS[label] for label in ("LOC", "PER", "LOC")],
        [1.0, 1.0, 0.5],
    ]
    assert group.is_given.tolist() == [True] * 3 + [False] * 3 + [True] * 6
    assert group.tags[9:].tolist() == [OUTSIDE] * 3
