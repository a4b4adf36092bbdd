"""Segments and their features, against all segments one by one with features written as texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from helpers import blank
from reference import Extractor, Word
from spacy_cascade.features.resources import span_flags
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.features.units import TokenSource, Units
from spacy_cascade.numeric.dense import DenseRows
from spacy_cascade.numeric.design import SegmentRows
from spacy_cascade.systems.semi_markov import features as segments
from spacy_cascade.systems.semi_markov.features import SegmentSettings, blocks
from spacy_cascade.systems.semi_markov.segments import Segments
from spacy_cascade.systems.semi_markov.space import SegmentSpace
from spacy_cascade.systems.semi_markov.structure import _repeated

VOCAB = blank().vocab
PATTERNS, LEXICONS = {"digit": "[0-9]"}, {"genes": ["p53", "IL-2 receptor"]}
LINES = [
    "bias", "size", "lower@all", "brief_class@all", "size & lower@first", "size & lower@last",
    "lower@first & lower@last", "lower@first-1 & lower@last+1", "word@first+1", "suffix(1)@last-2",
    "pattern(digit)@all", "tag@first & tag@last", "lexicon(genes)@last", "lower@first-1",
    "lower@last+1 & size & brief_class@all", "word@first & word@last & word@first-1",
]  # fmt: skip
WORD = st.builds(
    Word, st.sampled_from(["IL-2", "receptor", "p53", "a", "A"]), st.sampled_from(["NN", "DT"])
)
DOCS = st.lists(
    st.lists(st.lists(WORD, min_size=1, max_size=6), max_size=3), min_size=1, max_size=3
)

Sentences = list[list[Word]]
Segment = tuple[int, int, int, int, int]
"""Number of the Doc and of the sentence, first and last token there, first token of the batch."""


def all_segments(docs: Sequence[Sentences], longest: int) -> list[Segment]:
    """By end, and of one end the shortest first."""
    found, offset = [], 0
    for d, sentences in enumerate(docs):
        for s, sentence in enumerate(sentences):
            for last in range(len(sentence)):
                for first in range(last, max(-1, last - longest), -1):
                    found.append((d, s, first, last, offset + first))
            offset += len(sentence)
    return found


def bounds_of(found: Sequence[Segment]) -> list[tuple[int, int]]:
    return [(start, start + last + 1 - first) for _, _, first, last, start in found]


def some_gold(docs: Sequence[Sentences], pick: Sequence[bool]) -> list[Segment]:
    """Of all segments some that do not overlap."""
    gold: list[Segment] = []
    end = 0
    for segment, is_wanted in zip(all_segments(docs, 4), pick, strict=False):
        start, after = bounds_of([segment])[0]
        if is_wanted and start >= end:
            gold.append(segment)
            end = after
    return gold


def space_of(lines: Sequence[str], longest: int | None, min_count: int = 1) -> SegmentSpace:
    templates = Templates(tuple(lines), PATTERNS, LEXICONS)
    of_tokens = Templates(("word",), {}, {})
    space = SegmentSpace(of_tokens, SegmentSettings(templates, longest, min_count))
    space.read_resources(str.split)
    return space


def units_of(space: SegmentSpace, docs: Sequence[Sentences], gold: Sequence[Segment]) -> Units:
    made = []
    for sentences in docs:
        flat = [word for sentence in sentences for word in sentence]
        starts = [t == 0 for sentence in sentences for t in range(len(sentence))]
        words, tags = [word.text for word in flat], [word.tag for word in flat]
        made.append(Doc(VOCAB, words=words, tags=tags, sent_starts=starts))
    tokens = read_tokens(made)
    n = len(tokens.words)
    spans = np.array(bounds_of(gold), dtype=np.int64).reshape(-1, 2)
    flags = span_flags(n, spans, np.ones(n, dtype=np.bool_))
    text_of = VOCAB.strings.__getitem__
    positions = space.positions(tokens, text_of, flags)
    source = TokenSource(tokens, text_of, flags)
    return Units(positions, positions.of_token, positions.of_token, source=source)


def learnt_rows(space: SegmentSpace, units: Units) -> SegmentRows:
    """Rows of all segments, when only the features of segments are known."""
    space.learn(units, minimum=10**6)
    return space.segment_rows(units)


def columns(rows: SegmentRows) -> list[tuple[int, ...]]:
    features = rows.features
    dense = np.zeros((len(rows.length), features.n_columns), dtype=int)
    for row in range(len(dense)):
        of_row = features.indices[features.indptr[row] : features.indptr[row + 1]]
        assert len(of_row) > 0
        assert len(set(of_row.tolist())) == len(of_row)
        dense[row, of_row] = 1
    return sorted(map(tuple, dense.T.tolist()))


@settings(max_examples=60)
@given(
    DOCS,
    st.lists(st.sampled_from(LINES), min_size=1, max_size=5, unique=True),
    st.lists(st.booleans(), max_size=60),
    st.integers(1, 7),
    st.integers(1, 2),
)
def test_rows_are_those_of_all_segments_that_have_known_features(
    docs, lines, pick, longest, min_count
):
    """And features are those of gold spans, in the order of the segments, whatever their ids."""
    space = space_of(lines, longest, min_count)
    gold = some_gold(docs, pick)
    rows = learnt_rows(space, units_of(space, docs, gold))

    expanded = [template.text for template in Templates(lines, PATTERNS, LEXICONS).expanded()]
    extractor = Extractor(expanded, PATTERNS, LEXICONS)

    def features(segment: Segment) -> Counter[str]:
        d, s, first, last, _ = segment
        return extractor.features(docs[d], s, first, last)

    counts = sum(map(features, gold), Counter())
    known = [text for text, n in counts.items() if n >= min_count]
    expected = []
    for segment in all_segments(docs, longest):
        of_segment = features(segment)
        row = [of_segment[text] for text in known]
        if any(row):
            expected.append((bounds_of([segment])[0], row))
    assert [tuple(bounds) for bounds in rows.bounds.tolist()] == [bounds for bounds, _ in expected]
    matrix = np.array([row for _, row in expected], dtype=int).reshape(len(expected), len(known))
    assert columns(rows) == sorted(map(tuple, matrix.T.tolist()))
    assert len(rows.ends) == 1 + sum(len(sentence) for doc in docs for sentence in doc)
    assert rows.longest == longest


SENTENCE = [Word(text, "NN") for text in ["a", "p53", "IL-2", "receptor", "a", "p53", "A"]]
DOCUMENTS = [[SENTENCE, SENTENCE[2:]], [], [SENTENCE[:1], SENTENCE]]
EVERY_SECOND = [n % 2 == 0 for n in range(200)]


@pytest.mark.parametrize("size", [1, 6, 17])
def test_blocks_can_be_cut_anywhere(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*LINES, "brackets"]
    found = []
    for block in (1 << 16, size):
        monkeypatch.setattr(segments, "_BLOCK", block)
        space = space_of(lines, 4)
        units = units_of(space, DOCUMENTS, some_gold(DOCUMENTS, EVERY_SECOND))
        found.append(learnt_rows(space, units))
    one, other = found
    assert len(one.length) > 20
    for name in ("ends", "length"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.features.indptr, other.features.indptr)
    np.testing.assert_array_equal(one.features.indices, other.features.indices)


def test_a_block_has_as_many_segments_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the segments that end at one unit, where these are too many."""
    monkeypatch.setattr(segments, "_BLOCK", 6)
    found = list(blocks(np.array([1, 2, 3, 3, 1, 2, 7, 1, 2, 3, 1])))
    assert found == [(0, 3), (3, 6), (6, 7), (7, 10), (10, 11)]
    assert list(blocks(np.zeros(0, dtype=np.int64))) == []


def test_copies_of_a_sequence_have_its_segments(generator: np.random.Generator) -> None:
    ends, length = np.array([5, 5, 7, 8]), np.array([1, 2, 1], dtype=np.int32)
    scores, of_lengths = generator.normal(size=(2, 3, 2))
    found = _repeated(Segments(ends, length, scores, of_lengths), 3)
    assert found.ends.tolist() == [0, 0, 2, 3, 3, 5, 6, 6, 8, 9]
    assert found.length.tolist() == [1, 2, 1] * 3
    np.testing.assert_array_equal(found.scores, np.concatenate([scores] * 3))
    assert found.of_lengths is of_lengths


def test_vectors_of_tokens_are_kept_beside_segments() -> None:
    space = space_of(["size"], 3)
    units = units_of(space, DOCUMENTS, some_gold(DOCUMENTS, EVERY_SECOND))
    rows, vectors = learnt_rows(space, units), np.ones((len(units.first), 2))
    encoder: Any = SimpleNamespace(of_units=lambda: vectors)
    of_vectors, of_segments = space.encode_others(replace(units, vectors=encoder))
    assert isinstance(of_vectors, DenseRows)
    assert (of_vectors.values is vectors, of_vectors.first) == (True, len(space))
    assert isinstance(of_segments, SegmentRows)
    np.testing.assert_array_equal(of_segments.ends, rows.ends)


def test_the_longest_segment_is_that_of_the_corpus() -> None:
    space = space_of(["size"], None)
    wanted = [(0, 3), (4, 6)]
    gold = [s for s in all_segments(DOCUMENTS, 3) if bounds_of([s])[0] in wanted]
    units = units_of(space, DOCUMENTS, gold)
    assert units.source is not None
    assert units.source.own_flags is not None
    space.learn_resources(units.source.tokens, units.source.own_flags)
    assert learnt_rows(space, units).longest == 3


@pytest.mark.parametrize("docs", [[[]], [[], []], DOCUMENTS])
def test_without_gold_spans_nothing_is_known(docs: list[Sentences]) -> None:
    space = space_of(["lower@all", "brackets"], 3)
    rows = learnt_rows(space, units_of(space, docs, []))
    assert (len(space), len(rows.length), rows.features.n_rows) == (0, 0, 0)
    assert not rows.ends.any()


def test_keys_and_known_features_of_given_segments() -> None:
    """Those of a segment are the same, alone or among all."""
    space = space_of(LINES, 4)
    units = units_of(space, DOCUMENTS, some_gold(DOCUMENTS, EVERY_SECOND))
    rows = learnt_rows(space, units)
    looked_at = space.features_of(units)
    found = looked_at.known(space.index, rows.bounds)
    np.testing.assert_array_equal(found.indptr, rows.features.indptr)
    np.testing.assert_array_equal(found.indices, rows.features.indices)
    ids = space.index.lookup(looked_at.keys(rows.bounds))
    for row, of_row in enumerate(ids):
        expected = rows.features.indices[found.indptr[row] : found.indptr[row + 1]]
        assert of_row[of_row >= 0].tolist() == expected.tolist()


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_what_is_read_of_the_segment_itself(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here opening brackets minus closing ones, with the number of tokens."""
    monkeypatch.setattr(segments, "_BLOCK", size)
    texts = ["(", "a", ")", "b", "(", "(", "c", ")", "d"]
    docs = [[[Word(text) for text in texts], [Word(text) for text in texts[::-1]]]]
    space = space_of(["brackets & size"], 4)
    gold = [s for s in all_segments(docs, 4) if bounds_of([s])[0] in ((0, 3), (4, 6))]
    rows = learnt_rows(space, units_of(space, docs, gold))
    expected = []
    for segment in all_segments(docs, 4):
        _, s, first, last, _ = segment
        inside = [word.text for word in docs[0][s][first : last + 1]]
        if (inside.count("(") - inside.count(")"), len(inside)) in ((0, 3), (2, 2)):
            expected.append(list(bounds_of([segment])[0]))
    assert len(expected) > 4
    assert rows.bounds.tolist() == expected


def test_features_of_tokens_and_of_segments_are_different_ones() -> None:
    """Even where a template and its value are the same."""
    templates = Templates(("word",), {}, {})
    space = SegmentSpace(templates, SegmentSettings(templates, 1, 1))
    docs = [[[Word("p53")]]]
    units = units_of(space, docs, all_segments(docs, 1))
    space.learn(units, minimum=1)
    assert len(space) == 2
