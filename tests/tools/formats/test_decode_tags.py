"""Tags read as spans, checked against conlleval's rules and against encoders."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from spacy_cascade.tools.formats.tags import (
    LabelledSpan,
    Scheme,
    TagError,
    decode_tags,
    find_slips,
)

Spans = list[tuple[int, int, str]]

LABELS = ("DNA", "cell_line", "A-B")
SCHEMES = (Scheme.IOB1, Scheme.IOB2, Scheme.BILOU)


def encode(
    length: int, spans: Spans, scheme: Scheme, single: str = "U", last: str = "L"
) -> list[str]:
    """Write spans as tags."""
    tags = ["O"] * length
    previous: tuple[int, str] = (-1, "")
    for start, end, label in spans:
        prefixes = ["I"] * (end - start)
        if scheme == Scheme.IOB2 or (scheme == Scheme.IOB1 and previous == (start, label)):
            prefixes[0] = "B"
        if scheme == Scheme.BILOU:
            prefixes = [single] if len(prefixes) == 1 else ["B", *prefixes[1:-1], last]
        tags[start:end] = [f"{prefix}-{label}" for prefix in prefixes]
        previous = (end, label)
    return tags


def conlleval(tags: list[str]) -> Spans:
    """The phrases that conlleval finds, by its tests on each pair of neighbouring tags."""
    spans: Spans = []
    begin = 0
    previous, previous_type = "O", ""
    for position, text in enumerate([*tags, "O"]):
        tag, _, kind = text.replace("L-", "E-").replace("U-", "S-").partition("-")
        other = kind != previous_type
        if (
            (previous in "BI" and tag in "BSO") or previous in "ES" or (previous != "O" and other)
        ) and previous != "O":
            spans.append((begin, position, previous_type))
        if (
            tag in "BS"
            or (previous in "ESO" and tag in "IE")
            or (tag != "O" and other)
        ):  # fmt: skip
            begin = position
        previous, previous_type = tag, kind
    return spans


def as_tuples(spans: tuple[LabelledSpan, ...]) -> Spans:
    return [(span.start, span.end, span.label) for span in spans]


def decode(tags: list[str], scheme: Scheme) -> Spans:
    (sentence,), _ = decode_tags([tags], scheme)
    return as_tuples(sentence.spans)


@st.composite
def labelled_spans(draw: st.DrawFn) -> tuple[int, Spans]:
    """A sentence length and spans that do not overlap, many of them adjacent."""
    position, spans = 0, []
    for _ in range(draw(st.integers(0, 6))):
        start = position + draw(st.sampled_from([0, 0, 1, 2]))
        position = start + draw(st.integers(1, 4))
        spans.append((start, position, draw(st.sampled_from(LABELS))))
    return position + draw(st.integers(0, 2)), spans


@pytest.mark.parametrize("scheme", SCHEMES)
@seed(0)
@settings(max_examples=50)
@given(case=labelled_spans(), single=st.sampled_from("US"), last=st.sampled_from("LE"))
def test_encoded_spans_come_back(
    scheme: Scheme, case: tuple[int, Spans], single: str, last: str
) -> None:
    """BILOU has synonyms."""
    length, spans = case
    tags = encode(length, spans, scheme, single, last)
    assert decode(tags, scheme) == spans
    assert conlleval(tags) == spans
    assert decode(tags, Scheme.AUTO) == spans


any_iob_tags = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=12)


@seed(0)
@settings(max_examples=50)
@given(tags=any_iob_tags)
def test_iob1_reads_whatever_conlleval_reads(tags: list[str]) -> None:
    assert decode(tags, Scheme.IOB1) == conlleval(tags)


@seed(0)
@settings(max_examples=50)
@given(tags=any_iob_tags)
def test_iob2_refuses_just_what_it_would_not_write(tags: list[str]) -> None:
    expected = encode(len(tags), conlleval(tags), Scheme.IOB2)
    if tags == expected:
        assert decode(tags, Scheme.IOB2) == conlleval(tags)
    else:
        with pytest.raises(TagError) as caught:
            decode(tags, Scheme.IOB2)
        first = next(i for i, tag in enumerate(tags) if tag != expected[i])
        assert (caught.value.sentence, caught.value.word) == (0, first)
        assert "--scheme iob1" in str(caught.value)


@seed(0)
@settings(max_examples=50)
@given(tags=st.lists(st.sampled_from(["O", "B-X", "I-X", "L-X", "U-X", "L-Y", "I-Y"]), max_size=8))
def test_bilou_refuses_just_what_it_would_not_write(tags: list[str]) -> None:
    try:
        spans = decode(tags, Scheme.BILOU)
    except TagError:
        assert encode(len(tags), conlleval(tags), Scheme.BILOU) != tags
    else:
        assert encode(len(tags), spans, Scheme.BILOU) == tags


@pytest.mark.parametrize(
    ("tags", "scheme", "expected"),
    [
        (["I-X", "I-X", "B-X", "I-Y", "I-X"], Scheme.IOB1,
         [(0, 2, "X"), (2, 3, "X"), (3, 4, "Y"), (4, 5, "X")]),
        (["B-X", "-", "B-X"], Scheme.IOB2, [(0, 1, "X"), (2, 3, "X")]),
        (["B", "I", "O", "B"], Scheme.AUTO, [(0, 2, "ENT"), (3, 4, "ENT")]),
        (["I", "I", "O", "I"], Scheme.AUTO, [(0, 2, "ENT"), (3, 4, "ENT")]),
        (["B", "L", "O", "U"], Scheme.AUTO, [(0, 2, "ENT"), (3, 4, "ENT")]),
        (["B", "E", "O", "S"], Scheme.AUTO, [(0, 2, "ENT"), (3, 4, "ENT")]),
        # The same word is a header only where it stands first.
        (["O", "label", "PER"], Scheme.AUTO, [(1, 2, "label"), (2, 3, "PER")]),
    ],
)  # fmt: skip
def test_phrases(tags: list[str], scheme: Scheme, expected: Spans) -> None:
    assert decode(tags, scheme) == expected


@pytest.mark.parametrize(
    ("sentences", "scheme"),
    [
        ([["B-X", "I-X", "O"], ["B-X", "B-X"]], Scheme.IOB2),
        ([["B-X", "I-X"], ["O", "I-X"]], Scheme.IOB1),
        ([["B-X", "I-Y"]], Scheme.IOB1),
        ([["B-X", "?", "I-X"]], Scheme.IOB1),
        ([["O"], ["B-X", "L-X"]], Scheme.BILOU),
        ([["S-X"], ["O"]], Scheme.BILOU),
        ([["U"], ["O"]], Scheme.BILOU),
        ([["O", "-"]], Scheme.IOB2),
        ([], Scheme.IOB2),
    ],
)
def test_scheme_is_told_from_all_tags(sentences: list[list[str]], scheme: Scheme) -> None:
    assert decode_tags(sentences)[1] == scheme


@pytest.mark.parametrize("scheme", [*SCHEMES, Scheme.AUTO])
def test_missing_annotation_is_not_outside(scheme: Scheme) -> None:
    (sentence,), _ = decode_tags([["-", "O", "?"]], scheme)
    assert sentence.missing == (0, 2)
    assert sentence.spans == ()


def test_a_negative_label_is_no_annotation_of_a_phrase() -> None:
    (sentence,), scheme = decode_tags([["B-X", "L-X", "U-!X", "O", "B-!Y", "L-!Y"]])
    assert (sentence.spans, scheme) == ((LabelledSpan(0, 2, "X"),), Scheme.BILOU)
    assert sentence.missing == (2, 4, 5)


@pytest.mark.parametrize(
    "tag",
    ["X-foo", "B-", "b-X", "o", "O-X", "", "BX", "B_X", "X-B", "NN", "B-\xa0", "B-x\udce9", "--"],
)
def test_what_is_not_a_tag_is_refused(tag: str) -> None:
    for scheme in set(Scheme) - {Scheme.IO}:
        with pytest.raises(TagError, match="is not a tag") as caught:
            decode_tags([["O"], ["O", tag]], scheme)
        assert (caught.value.sentence, caught.value.word) == (1, 1)


@pytest.mark.parametrize(
    ("tags", "scheme", "word", "problem"),
    [
        (["O", "I-X"], Scheme.BILOU, 1, "does not continue a X phrase, as BILOU .* Begin"),
        (["L-X"], Scheme.BILOU, 0, "does not continue a X phrase"),
        (["B-X", "O"], Scheme.BILOU, 0, "X phrase is not closed"),
        (["B-X", "I-X", "I-Y", "L-Y"], Scheme.BILOU, 1, "X phrase is not closed"),
        (["B-X", "U-X"], Scheme.BILOU, 0, "X phrase is not closed"),
        (["B-X", "-", "L-X"], Scheme.BILOU, 0, "X phrase is not closed"),
        (["U-X", "B-X"], Scheme.BILOU, 1, "X phrase is not closed"),
        (["B-X", "-", "I-X"], Scheme.IOB2, 2, "does not continue a X phrase, as IOB2 .*iob1"),
        (["O", "U-X"], Scheme.IOB1, 1, "not an IOB tag.*--scheme bilou"),
        (["O", "U-X"], Scheme.IOB2, 1, "not an IOB tag.*--scheme bilou"),
        (["B-X", "O", "B"], Scheme.AUTO, 2, "'B' has no type"),
        (["O", "PER"], Scheme.IOB2, 1, "'PER' is not a tag"),
        (["O", "PER", "LOC\xa0"], Scheme.AUTO, 1, "'PER' is not a tag"),
        (["O", "PER", "!LOC\xa0"], Scheme.IO, 2, r"'!LOC\\xa0' is not a tag"),
    ],
)
def test_errors_say_where(tags: list[str], scheme: Scheme, word: int, problem: str) -> None:
    for before in ([], [["O"]]):
        with pytest.raises(TagError, match=problem) as caught:
            decode_tags([*before, tags], scheme)
        assert (caught.value.sentence, caught.value.word) == (len(before), word)


def test_phrases_that_begin_as_in_iob1_are_told_from_those_of_iob2() -> None:
    """A phrase that begins with B- right after one of its type says nothing, nor do other tags."""
    sentences = [
        ["B-X", "O", "I-X", "I-X", "B-X", "B-Y", "I-Y", "Q-X", "I-X", "O"],
        ["I-X", "I-Y", "-", "I-Y"],
        ["B-Y", "B-Y", "O", "B-Y"],
    ]
    assert find_slips(sentences) == ([(0, 2), (0, 8), (1, 0), (1, 1), (1, 3)], 4)
