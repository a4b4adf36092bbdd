"""Spans as tags and back, and what may follow what."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
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


@settings(max_examples=30)
@given(span_lists())
def test_spans_survive_the_way_through_tags(example):
    tag_set, lengths, spans = example
    tags = written(tag_set, sum(lengths), spans)
    starts, before = np.cumsum([0, *lengths], dtype=np.int64), tags.copy()
    found = tag_set.spans(tags, starts)
    np.testing.assert_array_equal(tags, before)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == spans
    by_sequence = []
    for begin, after in pairwise(starts.tolist()):
        names = [tag_set.tags[tag] for tag in tags[begin:after]]
        by_sequence += [
            (start + begin, end + begin, label) for start, end, label in spans_of(names)
        ]
        assert all(map(SCHEMES[tag_set.scheme].follows, ["O", *names], names)), "legal"
        assert SCHEMES[tag_set.scheme].ends(names[-1])
    assert by_sequence == [(start, end, tag_set.labels[label]) for start, end, label in spans]


@settings(max_examples=30)
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


@pytest.mark.parametrize(
    ("scheme", "paths"),
    [
        ("IOB2", ["B", "BI", "BII", "BIII"]),
        ("BILOU", ["U", "BL", "BIL", "BIIL"]),
        ("IO", ["I", "II", "III", "IIII"]),
    ],
)
def test_paths(scheme, paths):
    assert [SCHEMES[scheme].path(n) for n in range(1, 5)] == paths


@pytest.mark.parametrize(
    ("scheme", "legal", "unfinished"),
    [
        ("IO", {source: {"O", "I-x", "I-y"} for source in ("O", "I-x", "I-y")}, set()),
        (
            "IOB2",
            {
                "O": {"O", "B-x", "B-y"},
                **{f"{tag}-x": {"O", "B-x", "B-y", "I-x"} for tag in "BI"},
                **{f"{tag}-y": {"O", "B-x", "B-y", "I-y"} for tag in "BI"},
            },
            set(),
        ),
        (
            "BILOU",
            {
                **{
                    tag: {"O", "B-x", "B-y", "U-x", "U-y"}
                    for tag in ("O", "U-x", "U-y", "L-x", "L-y")
                },
                **{f"{tag}-x": {"I-x", "L-x"} for tag in "BI"},
                **{f"{tag}-y": {"I-y", "L-y"} for tag in "BI"},
            },
            {"B-x", "I-x", "B-y", "I-y"},
        ),
    ],
)
def test_what_may_follow_what_and_end_a_sequence(scheme, legal, unfinished):
    tag_set = TagSet(scheme, ("x", "y"))
    follows, tags = SCHEMES[scheme].follows, tag_set.tags
    assert {tag: {next_ for next_ in tags if follows(tag, next_)} for tag in tags} == legal
    final = tag_set.lattice(label_pairs=False).final
    assert {tag for tag, last in zip(tags, final, strict=True) if not last} == unfinished


@pytest.mark.parametrize(("labels", "length"), [((), 3), (LABELS, 0)])
def test_nothing_to_find(labels, length):
    tag_set = TagSet("IOB2", labels)
    found = tag_set.spans(np.zeros(length, dtype=np.int32), np.array([0, length])[: length + 1])
    assert [len(column) for column in found] == [0, 0, 0]
    assert tag_set.tags[0] == "O"


def test_unknown_scheme():
    with pytest.raises(ConfigError, match=r"'IOB1'.*IOB2, BILOU, IO"):
        TagSet("IOB1", LABELS)


@given(tag_sets())
def test_every_tag_knows_the_label_of_its_spans(tag_set):
    assert tag_set.span_labels.dtype == np.int32
    names = [None if label < 0 else tag_set.labels[label] for label in tag_set.span_labels]
    assert names == [tag.partition("-")[2] or None for tag in tag_set.tags]


def test_spans_of_tags_without_beginnings() -> None:
    """Another label, a token outside and the start of a sequence end what came before."""
    tags = np.array([1, 0, 1, 1, 2, 2, 2, 0, 0, 1], dtype=np.int32)
    spans = TagSet("IO", LABELS).spans(tags, np.array([0, 6, 10]))
    rows = list(zip(*map(list, spans), strict=True))
    assert rows == [(0, 1, 0), (2, 4, 0), (4, 6, 1), (6, 7, 1), (9, 10, 0)]
    some = spans.take(spans.label == 1)
    assert list(zip(*map(list, some), strict=True)) == rows[2:4]
