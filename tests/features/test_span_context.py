"""SpanContext of spans against a twin that looks at words."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from helpers import blank
from spacy_cascade.errors import TemplateError
from spacy_cascade.features.placed_attributes import CONTEXT
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.span_context import FoundSpans, SpanContext, value_text
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.features.units import Units
from spacy_cascade.systems.abbreviations.attributes import Explained, TypeOfLongForm

VOCAB = blank().vocab
WORDS = ["a", "B", "b", "(", ")", "and"]
LABELS = ["X", "Y"]
PART = (["b", "a", "B"], [(0, 3)], [(0, 1, "X"), (2, 3, "Y")], [(0, 1), (1, 2), (2, 3)])

Span = tuple[int, int]
Found = tuple[int, int, str]


class Twin:
    """The attributes as Python values; None for "no value"."""

    def __init__(self, words: list[str], sentences: list[Span], found: list[Found]) -> None:
        self.words = [word.lower() for word in words]
        self.sentences = sentences
        self.found = found

    def values(self, span: Span) -> dict[str, object]:
        start, end = span
        sentence = next(s for s in self.sentences if s[0] <= start < s[1])
        text = self.words[start:end]
        same = [
            label
            for s, e, label in self.found
            if self.words[s:e] == text and (s, e) != (start, end)
        ]
        counts = {label: same.count(label) for label in sorted(set(same))}
        before = [f for f in self.found if f[1] <= start and f[0] >= sentence[0]]
        after = [f for f in self.found if f[0] >= end and f[0] < sentence[1]]
        return {
            "brackets": text.count("(") - text.count(")"),
            "elsewhere": min(3, len(same)),
            "type_elsewhere": max(counts, key=lambda k: counts[k]) if counts else None,
            "type_before": before[-1][2] if before else "nothing",
            "gap_before": self.gap(before[-1][1], start) if before else "nothing",
            "type_after": after[0][2] if after else "nothing",
            "gap_after": self.gap(end, after[0][0]) if after else "nothing",
        }

    def gap(self, start: int, end: int) -> object:
        return tuple(self.words[start:end]) if end - start <= 3 else "far"


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[str], list[Span], list[Found], list[Span]]:
    """Words, sentences, spans found without overlap, and spans that are asked for."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
    cuts = sorted(draw(st.sets(st.integers(1, len(words) - 1)))) if len(words) > 1 else []
    edges = [0, *cuts, len(words)]
    sentences = list(pairwise(edges))
    found = []
    for start, end in sentences:
        t = start
        while t < end:
            length = draw(st.integers(0, min(3, end - t)))
            if length:
                found.append((t, t + length, draw(st.sampled_from(LABELS))))
            t += max(1, length)
    asked = [(s, e) for a, z in sentences for s in range(a, z) for e in range(s + 1, z + 1)]
    return words, sentences, found, asked


def surroundings(
    parts: list[tuple[list[str], list[Span], list[Found], list[Span]]],
) -> SpanContext:
    docs, found, asked, offset = [], [], [], 0
    for words, sentences, spans, wanted in parts:
        starts = {start for start, _ in sentences}
        docs.append(Doc(VOCAB, words=words, sent_starts=[i in starts for i in range(len(words))]))
        found += [(s + offset, e + offset, hash_string(label)) for s, e, label in spans]
        asked += [(s + offset, e + offset) for s, e in wanted]
        offset += len(words)
    bounds = np.array([f[:2] for f in found], dtype=np.int64).reshape(-1, 2)
    labels = np.array([f[2] for f in found], dtype=np.uint64)
    start, end = np.array(asked, dtype=np.int64).reshape(-1, 2).T
    return SpanContext(read_tokens(docs), start, end, FoundSpans(*bounds.T, labels))


def values_of(spans: SpanContext, names: list[str]) -> np.ndarray:
    return np.stack([getattr(spans, name)() for name in names], axis=1)


@settings(max_examples=20)
@given(st.lists(documents(), min_size=1, max_size=3))
def test_values_tell_apart_what_the_twin_tells_apart(parts) -> None:
    values = values_of(surroundings(parts), list(CONTEXT))
    expected = [
        Twin(words, sentences, found).values(span)
        for words, sentences, found, asked in parts
        for span in asked
    ]
    for column, name in enumerate(CONTEXT):
        pairs = {(e[name], v) for e, v in zip(expected, values[:, column].tolist(), strict=True)}
        assert len({e for e, _ in pairs}) == len({v for _, v in pairs}) == len(pairs)
        assert all((e is None) == (v == 0) for e, v in pairs)


@pytest.mark.parametrize(
    ("found", "value"),
    [
        ([(0, 3, "X"), (7, 8, "Y")], "X"),
        ([(1, 3, "X")], "X"),
        ([(2, 5, "Y")], "Y"),
        ([(0, 2, "X"), (4, 5, "Y")], "nothing"),
        ([], "nothing"),
    ],
)
def test_type_of_the_long_form(found: list[Found], value: str) -> None:
    """The span found at the last word of the long form says what an abbreviation is."""
    words = ["heat", "shock", "protein", "(", "HSP", ")", "the", "HSPs", "here"]
    asked = [(4, 5), (6, 8), (7, 8), (7, 9), (0, 3)]
    other = (["HSP"], [(0, 1)], [(0, 1, "X")], [(0, 1)])
    spans = surroundings([(words, [(0, 6), (6, 9)], found, asked), other])
    (attribute,) = TypeOfLongForm.expand("type_of_long_form", None, Templates(("bias",), {}, {}))
    values = attribute.values(spans, Explained()).tolist()
    texts = {hash_string(label): label for label in LABELS}
    assert [value_text(v, texts.__getitem__) for v in values[:3]] == [value] * 3
    assert values[3:] == [0, 0, 0]


@pytest.mark.parametrize("n", range(5))
def test_of_spans_that_overlap_the_earlier_ones_count(n: int) -> None:
    """In whatever order they come; of those with the same start the shorter one."""
    found = [(0, 3), (1, 2), (3, 4), (3, 6), (4, 5), (5, 7), (6, 8)]
    drawn = np.random.default_rng(n).permutation(len(found))
    bounds = np.array(found)[drawn]
    spans = FoundSpans.of(bounds, drawn.astype(np.uint64))
    kept = [0, 2, 4, 5]
    assert spans.label.tolist() == kept
    assert [*zip(spans.start, spans.end, strict=True)] == [found[i] for i in kept]
    both = FoundSpans.of(np.array([[1, 3], [0, 2]]), np.array([7, 8], dtype=np.uint64))
    assert list(map(list, both)) == [[0], [2], [8]]
    apart = FoundSpans.of(np.array([[3, 4], [0, 2]]), np.array([7, 8], dtype=np.uint64))
    assert list(map(list, apart)) == [[0, 3], [2, 4], [8, 7]]


@pytest.mark.parametrize("n", range(6))
def test_short_gaps_are_told_apart_by_their_words(n: int) -> None:
    words = ["x", *"abcde"[:n], "y"]
    found = [(0, 1, "X"), (n + 1, n + 2, "Y")]
    spans = surroundings([(words, [(0, len(words))], found, [found[0][:2], found[1][:2]])])
    gaps = {int(spans.gap_before()[1]), int(spans.gap_after()[0])}
    assert {value_text(gap, str) for gap in gaps} == {"far" if n > 3 else str(min(gaps))}
    assert value_text(int(spans.gap_before()[0]), str) == "nothing"


@pytest.mark.parametrize("brackets", ["(", ")", "[(", "])]", "a"])
def test_values_as_readers_see_them(brackets: str) -> None:
    """Numbers below zero, too; what is no number is a label."""
    spans = surroundings([([*brackets], [(0, len(brackets))], [], [(0, len(brackets))])])
    (value,) = spans.brackets().tolist()
    n = sum((text in "([") - (text in ")]") for text in brackets)
    texts = {1 << 33: "one", 0: "another"}
    assert value_text(value, texts.__getitem__) == str(n)
    assert [value_text(label, texts.__getitem__) for label in texts] == ["one", "another"]


def test_labels_are_values_themselves_and_no_spans_are_none() -> None:
    values = values_of(surroundings([PART]), ["type_elsewhere", "type_before", "type_after"])
    x, y = hash_string("X"), hash_string("Y")
    assert values[:, 0].tolist() == [y, 0, x]
    assert values[1, 1:].tolist() == [x, y]
    nothing = surroundings([(["a"], [(0, 1)], [], [])])
    assert values_of(nothing, list(CONTEXT)).shape == (0, len(CONTEXT))
    assert values_of(nothing, list(CONTEXT)).dtype == np.uint64
    assert surroundings([(["a"], [(0, 1)], [], [(0, 1)])]).values([]).shape == (1, 0)


def test_templates_read_them() -> None:
    space = FeatureSpace(Templates(("type_before", "type_before & gap_before", "size"), {}, {}))
    docs = [Doc(VOCAB, words=PART[0])]
    tokens = read_tokens(docs)
    positions = space.positions(tokens, VOCAB.strings.__getitem__)
    context = surroundings([PART]).values(space.plan.context)
    units = Units(positions, positions.of_token, positions.of_token, context)
    space.learn(units, 1)
    # Before the first span there is nothing, before the others X: next to it, and a word away.
    assert len(space) == 2 + 3 + 1
    assert np.diff(space.unit_features(units).indptr).tolist() == [3, 3, 3]
    alone = replace(units, context=np.zeros((0, 0), dtype=np.uint64))
    assert np.diff(space.unit_features(alone).indptr).tolist() == [1, 1, 1]
    assert np.count_nonzero(space.unit_keys(alone), axis=1).tolist() == [1, 1, 1]


@pytest.mark.parametrize("template", ["type_before@1", "elsewhere(X)", "gap_after@last"])
def test_they_have_no_place(template: str) -> None:
    with pytest.raises(TemplateError, match=template.split("@")[0].split("(")[0]):
        Templates((template,), {}, {})
