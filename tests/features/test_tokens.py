"""Docs as arrays: sentences, empty Docs, boundary words."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from helpers import blank
from spacy_cascade.features.lexemes import BOUNDARY
from spacy_cascade.features.slots import NO_OCCURRENCES
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.tokens import join_tokens, read_tokens
from spacy_cascade.features.units import lay_out

VOCAB = blank().vocab
FIELDS = ("words", "lower", "tags", "parts_of_speech", "sequence_starts", "doc_starts")
LENGTHS = st.lists(st.lists(st.integers(1, 3), max_size=3), max_size=4)
"""For each Doc the lengths of its sentences."""


def doc_of(lengths: list[int], marked: bool = True) -> Doc:
    """A Doc of numbered words; its sentences are marked or not."""
    words = [f"w{n}" for n in range(sum(lengths))]
    starts = [t == 0 for length in lengths for t in range(length)]
    return Doc(VOCAB, words=words, sent_starts=starts if marked else None)


EXAMPLES = settings(max_examples=30)


@EXAMPLES
@given(LENGTHS, st.integers(0, 4))
def test_a_sequence_is_a_sentence(lengths, cut):
    """Or the Doc, where there are none; batches of Docs can be joined."""
    tokens = read_tokens([doc_of(sentences) for sentences in lengths])
    assert tokens.as_documents().sequence_starts.tolist() == sorted({*tokens.doc_starts.tolist()})
    flat = [length for sentences in lengths for length in sentences]
    assert tokens.sequence_starts.tolist() == np.cumsum([0, *flat]).tolist()
    assert tokens.doc_starts.tolist() == np.cumsum([0, *map(sum, lengths)]).tolist()
    docs = [doc_of(sentences, marked=False) for sentences in lengths]
    whole = read_tokens(docs)
    sizes = [sum(sentences) for sentences in lengths if sentences]
    assert whole.sequence_starts.tolist() == np.cumsum([0, *sizes]).tolist()
    joined = join_tokens([read_tokens(docs[:cut]), read_tokens(docs[cut:])])
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))


def test_a_doc_starts_a_sequence_whatever_its_marks_say():
    """The first token of a Doc may carry no mark, or even a contrary one."""
    doc = Doc(VOCAB, words=["a", "b", "c"], sent_starts=[None, True, False])
    other = Doc(VOCAB, words=["a", "b"], sent_starts=[False, None])
    tokens = read_tokens([doc, other, Doc(VOCAB, words=["a"], sent_starts=[False])])
    assert tokens.sequence_starts.tolist() == [0, 1, 3, 5, 6]


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ([True, False, False], True), ([None, True, None], True), ([None, False, None], True),
        ([None] * 3, False), ([True, None, None], False), ([None], True), ([], True),
    ],
)  # fmt: skip
def test_sentences_are_set_where_another_token_than_the_first_says_so(
    starts: list[bool | None], expected: bool
) -> None:
    doc = Doc(VOCAB, words=["a"] * len(starts), sent_starts=starts or None)
    tokens = join_tokens([read_tokens([doc_of([2], marked=False), doc]), read_tokens([doc])])
    assert tokens.has_sentences.tolist() == [False, expected, expected]


def test_tokens_know_the_texts_of_their_words() -> None:
    nothing, tokens = read_tokens([]), read_tokens([doc_of([1])])
    assert (nothing.text_of, nothing.words.dtype) == (None, np.uint64)
    for each in (tokens, join_tokens([nothing, tokens]), join_tokens([tokens, nothing])):
        assert each.text_of(each.words[0]) == "w0"


def test_words_tags_and_parts_of_speech():
    doc = Doc(VOCAB, words=["The", "IL-2"], tags=["DT", ""], pos=["DET", ""])
    tokens = read_tokens([doc])
    strings = VOCAB.strings
    assert tokens.words.tolist() == [strings["The"], strings["IL-2"]]
    assert tokens.lower.tolist() == [strings["the"], strings["il-2"]]
    assert tokens.tags.tolist() == [strings["DT"], 0]
    assert tokens.parts_of_speech.tolist() == [doc[0].pos, 0]
    for name in FIELDS[:4]:
        assert getattr(tokens, name).dtype == np.uint64
        assert getattr(tokens, name).flags.c_contiguous


@pytest.mark.parametrize("further", [(), ("tags",), ("parts_of_speech", "lower")])
def test_only_what_is_asked_for_is_read(further):
    docs = [Doc(VOCAB, words=["The", "IL-2"], tags=["DT", ""], pos=["DET", ""])] * 2
    whole, tokens = read_tokens(docs), read_tokens(docs, further)
    for name in FIELDS:
        expected = getattr(whole, name)
        if name in FIELDS[1:4] and name not in further:
            expected = expected[:0]
        np.testing.assert_array_equal(getattr(tokens, name), expected)


@EXAMPLES
@given(LENGTHS, st.integers(1, 3), st.booleans())
def test_boundary_words_stand_around_every_sequence(lengths, margin, has_further):
    tokens = read_tokens([doc_of(sentences) for sentences in lengths])
    n_tokens = len(tokens.words)
    lexemes = np.arange(1, n_tokens + 1, dtype=np.int32)
    of_words = np.append(7, lexemes * 10).astype(np.uint64)[:, None]
    further = [(lexemes * 100).astype(np.uint64)] if has_further else []
    table = SimpleNamespace(attributes=of_words)
    no_offsets = np.zeros(0, dtype=np.int32)
    positions = lay_out(tokens, table, lexemes, 1, further, margin, no_offsets, str)

    of_boundary = [[7, 0] if has_further else [7]] * margin
    line, value_line = [BOUNDARY] * margin, [*of_boundary]
    of_token = []
    starts = tokens.sequence_starts.tolist()
    for begin, end in pairwise(starts):
        of_token += range(len(line), len(line) + end - begin)
        line += lexemes[begin:end].tolist() + [BOUNDARY] * margin
        factors = [10, 100] if has_further else [10]
        value_line += [[lexeme * f for f in factors] for lexeme in lexemes[begin:end].tolist()]
        value_line += of_boundary
    assert positions.lexemes.tolist() == line
    assert positions.values.of_rows[positions.values.row].tolist() == value_line
    assert positions.of_token.tolist() == of_token
    numbers = positions.lexemes, positions.of_token, positions.values.row, positions.doc_starts
    assert {each.dtype for each in numbers} == {np.dtype(np.int32)}
    assert (positions.values.of_rows is of_words) == (not has_further)  # no copies in vain
    assert positions.occurrences is NO_OCCURRENCES
    assert positions.text_of is str
    bounds = positions.doc_starts.tolist()
    for doc, (begin, end) in enumerate(pairwise(bounds)):
        inside = tokens.doc_starts[doc : doc + 2].tolist()
        expected = of_token[slice(*inside)]
        assert [position for position in of_token if begin <= position < end] == expected


def tags_of(names: str) -> list[int]:
    return [hash_string(name) if name != "-" else 0 for name in names.split()]


def test_the_longest_of_overlapping_spans_counts() -> None:
    """In whatever order they stand in the group."""
    doc = doc_of([5])
    spans = [Span(doc, 0, 3, "A"), Span(doc, 1, 2, "B"), Span(doc, 2, 4, "C"), Span(doc, 0, 3, "D")]
    for group in (spans, [*reversed(spans[:3]), spans[3]]):
        doc.spans["np"] = group
        values = read_tokens([doc], (), ["np"]).groups["np"].tags.tolist()
        assert values == tags_of("B-D I-D I-D I-C O")


def test_tags_of_spans() -> None:
    doc, other, bare = doc_of([5]), doc_of([1]), doc_of([2])
    doc.spans["np"] = [Span(doc, 0, 2, "NP"), Span(doc, 2, 3, "VP")]
    other.spans["np"] = []
    expected = tags_of("B-NP I-NP B-VP O O O - -")
    tokens = read_tokens([doc, other, bare], (), ["np"])
    assert tokens.groups["np"].tags.tolist() == expected
    joined = join_tokens([read_tokens([d], (), ["np"]) for d in (doc, other, bare)])
    assert joined.groups["np"].tags.tolist() == expected
    assert read_tokens([doc]).groups == {}
    assert read_tokens([], (), ["np"]).groups["np"].tags.tolist() == []
