"""Spans as tags and back, and what may follow what."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import spans_of
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.schemes import ENDED, SCHEMES, UNOBSERVED, TagSet
from strategies import LABELS, random_path, tag_sets


@st.composite
def span_lists(draw: st.DrawFn) -> tuple[TagSet, list[int], list[tuple[int, int, int]]]:
    """A tag set, lengths of sequences, and spans that do not overlap or cross sequences."""
    tag_set = draw(tag_sets())
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    spans, offset = [], 0
    for length in lengths:
        cuts = draw(st.lists(st.integers(0, length), max_size=6, unique=True))
        cuts.sort()
        for start, end in pairwise(cuts):
            label = draw(st.integers(-1, len(tag_set.labels) - 1))
            separates = SCHEMES[tag_set.scheme].separates
            touches = bool(spans) and spans[-1][1:] == (offset + start, label) and start > 0
            if label >= 0 and (separates or not touches):
                spans.append((offset + start, offset + end, label))
        offset += length
    return tag_set, lengths, spans


def written(tag_set: TagSet, length: int, spans: list[tuple[int, int, int]]) -> np.ndarray:
    tags = np.zeros(length, dtype=np.int32)
    tag_set.write(tags, *np.array(spans, dtype=np.int64).reshape(-1, 3).T)
    return tags


@given(span_lists())
def test_spans_survive_the_way_through_tags(example):
    tag_set, lengths, spans = example
    tags = written(tag_set, sum(lengths), spans)
    starts = np.cumsum([0, *lengths], dtype=np.int64)
    found = tag_set.spans(tags, starts)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == spans
    named = [(start, end, tag_set.labels[label]) for start, end, label in spans]
    by_sequence = [
        (start + begin, end + begin, label)
        for begin, after in pairwise(starts.tolist())
        for start, end, label in spans_of([tag_set.tags[tag] for tag in tags[begin:after]])
    ]
    assert by_sequence == named


@given(span_lists())
def test_written_tags_are_legal(example):
    tag_set, lengths, spans = example
    tags = [tag_set.tags[tag] for tag in written(tag_set, sum(lengths), spans)]
    scheme = SCHEMES[tag_set.scheme]
    begin = 0
    for length in lengths:
        sequence = ["O", *tags[begin : begin + length]]
        begin += length
        assert all(map(scheme.follows, sequence, sequence[1:]))
        assert scheme.ends(sequence[-1])


@given(tag_sets(), st.integers(1, 20), st.integers(0, 9))
def test_legal_tags_survive_the_way_through_spans(tag_set, length, number):
    lattice = tag_set.lattice(label_pairs=False)
    tags = random_path(np.random.default_rng(number), lattice, length)
    tags = np.array(tags, dtype=np.int32)
    found = tag_set.spans(tags, np.array([0, length], dtype=np.int64))
    spans = list(zip(*(column.tolist() for column in found), strict=True))
    np.testing.assert_array_equal(written(tag_set, length, spans), tags)


def test_spans_that_touch_are_one_under_io():
    tag_set = TagSet("IO", LABELS)
    tags = written(tag_set, 6, [(0, 1, 0), (1, 3, 0), (3, 4, 1), (4, 6, 0)])
    assert tags.tolist() == [1, 1, 1, 2, 1, 1]
    found = tag_set.spans(tags, np.array([0, 5, 6], dtype=np.int64))
    assert [column.tolist() for column in found] == [[0, 3, 4, 5], [3, 4, 5, 6], [0, 1, 0, 0]]


def test_a_span_may_go_on_where_nothing_is_known_under_io():
    tags = np.array([UNOBSERVED] * 3, dtype=np.int32)
    TagSet("IO", LABELS).write(tags, np.array([1]), np.array([2]), np.array([0]))
    assert tags.tolist() == [UNOBSERVED, 1, UNOBSERVED]


@pytest.mark.parametrize("scheme", ["BILOU", "IOB2"])
def test_what_is_not_known_after_a_span_is_not_part_of_it(scheme):
    tag_set = TagSet(scheme, LABELS)
    tags = np.array([UNOBSERVED] * 5 + [0, UNOBSERVED], dtype=np.int32)
    tag_set.write(tags, *np.array([[1, 3, 0], [4, 5, 1], [6, 7, 0]]).T)
    assert (tags == UNOBSERVED).tolist() == [True, *[False] * 6]
    assert (tags == ENDED).tolist() == [False, False, False, True, False, False, False]
    assert tags[5] == 0


def test_reading_spans_leaves_the_tags_alone():
    tag_set = TagSet("IOB2", LABELS)
    tags = np.array([1, 2, 0, 2], dtype=np.int32)
    found = tag_set.spans(tags, np.array([0, 3, 4], dtype=np.int64))
    assert tags.tolist() == [1, 2, 0, 2]
    assert found.start.tolist() == [0, 3]
    assert found.end.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("scheme", "paths"),
    [
        (SCHEMES["IOB2"], ["B", "BI", "BII", "BIII"]),
        (SCHEMES["BILOU"], ["U", "BL", "BIL", "BIIL"]),
        (SCHEMES["IO"], ["I", "II", "III", "IIII"]),
    ],
)
def test_paths(scheme, paths):
    assert [scheme.path(n) for n in range(1, 5)] == paths


@pytest.mark.parametrize(
    ("scheme", "illegal"),
    [
        ("IOB2", ["O I-x", "B-y I-x", "I-y I-x"]),
        (
            "BILOU",
            [
                *("O I-x", "O L-x", "U-x I-x", "U-x L-x", "L-x I-x", "L-x L-x"),
                *("B-x O", "B-x B-x", "B-x U-x", "I-x O", "I-x B-x", "I-x U-x"),
                *("B-y I-x", "B-y L-x", "I-y I-x", "I-y L-x", "B-x B-y", "I-x U-y"),
            ],
        ),
    ],
)
def test_illegal_pairs(scheme, illegal):
    for pair in illegal:
        assert not SCHEMES[scheme].follows(*pair.split())


def test_pairs_that_are_legal():
    # All pairs of tags of two labels: a tag after O or a finished span starts anew.
    n_legal = {name: len(TagSet(name, ("x", "y")).lattice(True).source) for name in SCHEMES}
    # IOB2: 3 tags that start anew after each of 5, and I after B and I of its label.
    # BILOU: 5 free tags after each of 5 finished ones, and I, L after B, I of the label.
    # IO: any tag after any.
    assert n_legal == {"IOB2": 3 * 5 + 2 * 2, "BILOU": 5 * 5 + 2 * 2 * 2, "IO": 3 * 3}


def test_where_sequences_may_end():
    for scheme, unfinished in (("IOB2", set()), ("BILOU", {"B-x", "I-x"})):
        tag_set = TagSet(scheme, ("x",))
        final = tag_set.lattice(label_pairs=False).final
        assert {
            tag for tag, last in zip(tag_set.tags, final, strict=True) if not last
        } == unfinished


def test_no_labels():
    tag_set = TagSet("IOB2", ())
    assert tag_set.tags == ["O"]
    found = tag_set.spans(np.zeros(3, dtype=np.int32), np.array([0, 3], dtype=np.int64))
    assert [len(column) for column in found] == [0, 0, 0]


def test_no_tokens():
    found = TagSet("BILOU", LABELS).spans(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
    assert [len(column) for column in found] == [0, 0, 0]


def test_unknown_scheme():
    with pytest.raises(ConfigError, match=r"'IOB1'.*IOB2, BILOU, IO"):
        TagSet("IOB1", LABELS)


@given(tag_sets())
def test_every_tag_knows_the_label_of_its_spans(tag_set):
    names = [None if label < 0 else tag_set.labels[label] for label in tag_set.span_labels]
    assert names == [tag.partition("-")[2] or None for tag in tag_set.tags]
