"""Membership in term lists: the longest term at each place, labels, and leaving own entries out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import left_out, longest_matches
from spacy_cascade.errors import TemplateError
from spacy_cascade.features.resources import InvalidArray, span_flags
from spacy_cascade.features.strings import hash_string
from spacy_cascade.numeric.hashing import HashFunction
from spacy_cascade.systems.dictionaries.lexicons import (
    BEGIN,
    INSIDE,
    Lexicon,
    TermTable,
    _fill,
    _find,
    _make_table,
)
from spacy_cascade.systems.dictionaries.listed_terms import ListedTerms
from spacy_cascade.systems.dictionaries.terms import Term, spell

NAMES: dict[int, str | None] = {0: None, int(BEGIN): "begin", int(INSIDE): "inside"}
WORDS = st.sampled_from(["a", "b", "c", "A", "Ä"])
TERMS = st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=8)
SENTENCES = st.lists(st.lists(WORDS, max_size=8), max_size=3)

Words = Sequence[str]
Form = Callable[[str], str]


def make_lexicon(terms: Sequence[Words], labels: Words = (), form: Form = str.lower) -> Lexicon:
    labelled = zip(terms, labels or [""] * len(terms), strict=True)
    return Lexicon.of(spell([Term(*term) for term in labelled], lambda word: [word]), form)


def hashes(words: Words, form: Form = str.lower) -> np.ndarray:
    return np.array([hash_string(form(word)) for word in words], dtype=np.uint64)


def starts(parts: Sequence[Words]) -> np.ndarray:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def matches(
    terms: Sequence[Words], sequences: Sequence[Words], form: Form = str.lower
) -> list[list[str | None]]:
    words = hashes([word for sequence in sequences for word in sequence], form)
    values = make_lexicon(terms, form=form).values(words, starts(sequences)).tolist()
    return [[NAMES[value] for value in values[a:b]] for a, b in pairwise(starts(sequences))]


@pytest.mark.parametrize("form", [str.lower, str])
@settings(max_examples=50)
@given(terms=TERMS, sequences=SENTENCES)
def test_longest_terms_from_the_left(form, terms, sequences):
    expected = [longest_matches(terms, words, form) for words in sequences]
    assert matches(terms, sequences, form) == expected


def test_terms_of_many_tokens():
    """Keys of all sizes: half of them have their highest bit set."""
    terms = [[f"first{n}", f"second{n}", f"third{n}"] for n in range(40)]
    found = matches(terms, [[*term, "else"] for term in terms])
    assert found == [["begin", "inside", "inside", None]] * 40


def test_terms_that_fall_into_the_same_place(unlucky):
    keys = np.arange(1, 100, dtype=np.uint64)
    lexicon = Lexicon(keys, np.ones(99, dtype=np.int32), [""])
    table = lexicon._table
    assert table.hashed.factor != 1
    places = np.empty(99, dtype=np.int64)
    _find(table, keys, places)
    np.testing.assert_array_equal(table.slots[places, 0], keys)
    np.testing.assert_array_equal(np.sort(table.slots[:, 0])[-99:], keys)


@pytest.mark.parametrize(("fifth", "fits"), [(2, True), (1, False)])
def test_a_table_is_crowded_if_steps_are_more_than_its_places(fifth: int, fits: bool) -> None:
    """Four keys belong in the first place, which takes 6 steps; the fifth takes 2 or 3 more."""
    table = TermTable(np.zeros((8, 2), dtype=np.uint64), HashFunction(np.uint64(1), np.uint64(61)))
    keys = np.array([1, 2, 3, 4, fifth << 61], dtype=np.uint64)
    assert _fill(keys, keys, table) == fits


def test_tables_are_a_third_to_two_thirds_full() -> None:
    for n in range(50):
        keys = np.arange(1, n + 1, dtype=np.uint64)
        size = len(_make_table(keys, np.ones(n, dtype=np.int32)).slots)
        assert 3 * n / 2 < size <= 3 * n + 2


def test_beginnings_of_terms_are_no_terms():
    terms = [["T", "cell", "receptor", "gene"], ["T", "cell"]]
    sentence = ["the", "t", "cell", "receptor", "of", "T", "CELL", "receptor", "gene", "T"]
    assert matches(terms, [sentence]) == [
        [None, "begin", "inside", None, None, "begin", "inside", "inside", "inside", None]
    ]


def test_labels_are_part_of_the_value():
    """As the tags of spans; a term of several labels has one of its own, in whatever order."""
    terms = [["p53"], ["il-2", "gene"], ["il-2"], ["IL-2"], ["p53"], ["c-fos"], ["C-Fos"]]
    labels = ["protein", "DNA", "protein", "protein", "DNA", "DNA", "protein"]
    lexicon = make_lexicon(terms, labels)
    words = ["IL-2", "gene", "il-2", "p53", "c-fos", "gene"]
    expected = ["B-DNA", "I-DNA", "B-protein", "B-DNA|protein", "B-DNA|protein"]
    values = lexicon.values(hashes(words), np.array([0, 6])).tolist()
    assert values == [*map(hash_string, expected), 0]
    assert lexicon.labels == ["protein", "DNA", "DNA|protein"]
    assert [lexicon.value_names[value] for value in values[:-1]] == expected


Span = tuple[int, int]
GoldDocs = list[list[tuple[list[str], list[Span]]]]


@st.composite
def gold_docs(draw: st.DrawFn) -> GoldDocs:
    """Docs as sentences with spans that do not overlap."""
    docs: GoldDocs = []
    for _ in range(draw(st.integers(0, 4))):
        docs.append([])
        for words in draw(st.lists(st.lists(WORDS, min_size=1, max_size=6), max_size=3)):
            bounds = sorted(draw(st.sets(st.integers(0, len(words)), max_size=4)))
            spans = [pair for pair in pairwise(bounds) if draw(st.booleans())]
            docs[-1].append((words, spans))
    return docs


def arrays(docs: GoldDocs):
    """Words, starts of sequences and of Docs, and gold flags."""
    sentences = [words for doc in docs for words, _ in doc]
    words = hashes([word for sentence in sentences for word in sentence])
    offsets = starts(sentences)
    spans = [
        (offset + start, offset + end)
        for offset, (_, found) in zip(offsets, (s for doc in docs for s in doc), strict=False)
        for start, end in found
    ]
    flags = span_flags(
        len(words),
        np.array(spans, dtype=np.int64).reshape(-1, 2),
        np.ones(len(words), dtype=np.bool_),
    )
    doc_starts = starts([[w for words, _ in doc for w in words] for doc in docs])
    return words, offsets, doc_starts, flags


def learnt(lexicon: Lexicon, *gold: np.ndarray) -> Lexicon:
    return lexicon.with_docs(lexicon.count_docs(*gold))


@settings(max_examples=50)
@given(TERMS, gold_docs())
def test_own_entries_are_left_out(terms, docs):
    words, sequence_starts, doc_starts, flags = arrays(docs)
    lexicon = learnt(make_lexicon(terms), words, doc_starts, flags)
    values = lexicon.values_of_others(words, sequence_starts, doc_starts, flags)
    expected = [
        value
        for own, others in left_out(terms, docs)
        for sentence, _ in own
        for value in longest_matches(others, sentence)
    ]
    assert [NAMES[value] for value in values.tolist()] == expected


def test_a_term_of_one_doc_only():
    """Seen by others, not by the Doc that has it as a span, wherever it stands there."""
    docs: GoldDocs = [
        [(["p53", "binds"], [(0, 1)]), (["no", "p53"], [])],
        [(["p53", "STAT5", "none"], [(1, 2)])],
        [(["STAT5", "none"], [(0, 1)])],
    ]
    words, sequence_starts, doc_starts, flags = arrays(docs)
    lexicon = make_lexicon([["p53"], ["stat5"], ["none"]])
    assert sorted(lexicon.count_docs(words, doc_starts, flags).tolist()) == [0, 1, 2]
    assert lexicon.count_docs(words, doc_starts, flags * 0).tolist() == [0, 0, 0]
    knowing = learnt(lexicon, words, doc_starts, flags)
    for _ in range(2):  # it changes nothing for later
        values = knowing.values_of_others(words, sequence_starts, doc_starts, flags)
        assert values.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]
        assert knowing.values(words, sequence_starts).tolist() == [1, 0, 0, 1, 1, 1, 1, 1, 1]


def test_a_shorter_term_takes_the_place_of_one_that_is_left_out():
    docs: GoldDocs = [
        [(["IL-2", "gene"], [(0, 2)])],
        [(["IL-2"], [(0, 1)])],
        [(["IL-2"], [(0, 1)])],
    ]
    words, sequence_starts, doc_starts, flags = arrays(docs)
    lexicon = learnt(make_lexicon([["il-2", "gene"], ["il-2"]]), words, doc_starts, flags)
    values = lexicon.values_of_others(words, sequence_starts, doc_starts, flags)
    assert values.tolist() == [BEGIN, 0, BEGIN, BEGIN]


LABELS = ["x", 'a "b], \\c\\', "é"]


@pytest.mark.parametrize("labels", [[], LABELS])
def test_saved_and_restored(labels: list[str]) -> None:
    listed = ListedTerms(make_lexicon([["a"], ["b"], ["a", "c"]], labels), False)
    arrays = listed.arrays()
    ListedTerms.check(arrays)
    again = ListedTerms.restore(arrays, None).lexicon
    words = hashes(["a", "b", "a", "c"])
    expected = listed.lexicon.values(words, np.array([0, 4]))
    np.testing.assert_array_equal(again.values(words, np.array([0, 4])), expected)
    assert list(again.labels) == (labels or [""])


@pytest.mark.parametrize(
    ("part", "content", "problem"),
    [
        ("complete", None, "has labels beyond its own"),
        ("labels", b"", "does not begin like a list"),
        ("labels", b'{"x", "y"]', "does not begin like a list"),
        ("labels", b"[]", "no label at byte 1"),
        ("labels", b'["x", "y"', "no label at byte 6"),
        ("labels", b'["x", y]', "no label at byte 6"),
        ("labels", b'["x", "y"] ', "goes on behind its end"),
        ("labels", b'["x", "\\ud800"]', "surrogates"),
        ("labels", b'["x", "\xff"]', "decode"),
        ("labels", b'["x", "y", "z", "u"]', "more than 3 labels"),
    ],
)
def test_damaged_arrays(
    part: str, content: bytes | None, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_cascade.systems.dictionaries.listed_terms.MAXIMUM_LABELS", 3)
    arrays = ListedTerms(make_lexicon([["a"], ["b"], ["c"]], LABELS), False).arrays()
    if content is None:
        arrays[part][-1] = len(LABELS) + 1
    else:
        arrays[part] = np.frombuffer(content, np.uint8)
    with pytest.raises(InvalidArray) as error:
        ListedTerms.check(arrays)
    assert error.value.part == part
    assert problem in error.value.problem


@pytest.mark.parametrize("labels", [["a", "b", "c"], ["a" * 5_001]])
def test_labels_that_cannot_be_saved_are_refused_before_training(labels, monkeypatch):
    monkeypatch.setattr("spacy_cascade.systems.dictionaries.lexicons.MAXIMUM_LABELS", 2)
    with pytest.raises(TemplateError, match="broader labels"):
        make_lexicon([["a"]] * len(labels), labels)
