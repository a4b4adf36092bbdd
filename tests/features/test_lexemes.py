"""The table of distinct words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade.errors import NotTrainedError
from spacy_cascade.features.attributes import WordAttribute, Words
from spacy_cascade.features.lexemes import BOUNDARY, LexemeTable
from spacy_cascade.features.plan import make_plan
from spacy_cascade.features.resources import Resource, Resources, ResourceSpec, SpanWordCounts
from spacy_cascade.features.strings import hash_string
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.word_attributes import Lower, Share
from spacy_cascade.types import Keys1d
from strategies import words

TEMPLATES = Templates(
    ("word@0", "lower@0", "class@0", "prefix(3)", "pattern(digit)", "word@0 & length@1"),
    {"digit": "[0-9]"},
    {},
)


def table_for(templates: Templates) -> LexemeTable:
    attributes = make_plan(templates).attributes
    return LexemeTable(attributes, Resources(attribute.spec for attribute in attributes))


class OtherCounts(SpanWordCounts):
    """A second resource with codes."""


class Other(WordAttribute):
    """The code itself."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ResourceSpec(OtherCounts, "other"))

    def values(self, words: Words, resource: OtherCounts) -> Keys1d:
        return words.codes

    def describe(self, text: str, code: int, resource: OtherCounts) -> str:
        return f"{text}/{code}"


class Texts(dict):
    """Texts by hash; counts how often each is asked for."""

    def __init__(self, *texts: str):
        super().__init__((hash_string(text), text) for text in texts)
        self.asked: list[str] = []

    def text_of(self, key: int) -> str:
        self.asked.append(self[key])
        return self[key]


def keys_of(texts: list[str]) -> np.ndarray:
    return np.array([hash_string(text) for text in texts], dtype=np.uint64)


@settings(max_examples=30)
@given(st.lists(st.lists(words(), max_size=8), min_size=1, max_size=4))
def test_equal_words_share_a_row_with_their_attributes(batches):
    table = table_for(TEMPLATES)
    attributes = make_plan(TEMPLATES).attributes
    texts = Texts(*(word for batch in batches for word in batch))
    row_of: dict[str, int] = {}
    for batch in batches:
        for word, row in zip(batch, table.rows(keys_of(batch), [], texts.text_of), strict=True):
            assert row != BOUNDARY
            assert row_of.setdefault(word, row) == row
            values = [attribute.value(word) for attribute in attributes]
            expected = [0 if value is None else hash_string(value) for value in values]
            assert table.attributes[row].tolist() == expected
    assert len(set(row_of.values())) == len(row_of) == len(table) - 1
    assert len(texts.asked) == len(row_of)
    boundary = zip(attributes, table.attributes[BOUNDARY].tolist(), strict=True)
    assert {attribute.name for attribute, value in boundary if value} == {"word", "lower"}


OTHER = Templates(
    ("word@0", "suffix(2)", "pattern(digit)", "seen_inside@0", "prefix(3)"), {"digit": "[5-9]"}, {}
)
"""Further templates, and a pattern of the same name that is another one."""


@settings(max_examples=20)
@given(st.lists(st.tuples(st.booleans(), st.lists(words(), max_size=8)), max_size=6))
def test_a_table_that_takes_values_over_is_as_one_that_computes_them(batches):
    """Whichever of two tables meets a word first; a word has several rows where codes differ."""
    tables = table_for(TEMPLATES), table_for(OTHER)
    texts = Texts(*(word for _, batch in batches for word in batch))
    for which, batch in batches:
        code = [np.arange(len(batch), dtype=np.uint64) % 3] if which else []
        arguments = keys_of(batch), code, texts.text_of
        rows = tables[which].rows(*arguments, earlier=tables[not which])
        alone = table_for((TEMPLATES, OTHER)[which])
        own_rows = alone.rows(*arguments)
        expected = alone.attributes[own_rows]
        np.testing.assert_array_equal(tables[which].attributes[rows], expected)


@pytest.mark.parametrize(
    "lines", [("word@0",), ("word@0", "lower@0"), ("lower@0", "suffix(2)"), ("bias",)]
)
def test_texts_are_read_again_only_where_they_are_needed(lines):
    first, second = table_for(TEMPLATES), table_for(Templates(lines, {}, {}))
    texts = Texts("New7", "new7", "old")
    first.rows(keys_of(["New7", "new7", "old"]), [], texts.text_of)
    texts.asked.clear()
    rows = second.rows(keys_of(["New7", "old", "new7"]), [], texts.text_of, first)
    assert len(texts.asked) == (0 if lines == ("word@0", "lower@0") else 3)
    values = table_for(Templates(lines, {}, {}))
    own = values.rows(keys_of(["New7", "old", "new7"]), [], texts.text_of)
    np.testing.assert_array_equal(second.attributes[rows], values.attributes[own])
    forms = second.form_of[rows].tolist()
    assert forms[0] == forms[2] != forms[1]


def test_words_stand_in_the_order_of_the_text() -> None:
    """Also where the earlier table has met some of them."""
    first, second = table_for(TEMPLATES), table_for(TEMPLATES)
    words = ["b", "a", "C", "b", "c", "a"]
    texts = Texts(*words)
    first.rows(keys_of(["a", "c"]), [], texts.text_of)
    rows = second.rows(keys_of(words), [], texts.text_of, first)
    assert rows.tolist() == [1, 2, 3, 1, 4, 2]
    alone = table_for(TEMPLATES)
    alone.rows(keys_of(words), [], texts.text_of)
    np.testing.assert_array_equal(second.attributes, alone.attributes)
    np.testing.assert_array_equal(second.form_of, alone.form_of)
    assert second.rows(keys_of([]), [], texts.text_of, first).tolist() == []


def test_only_what_follows_from_the_text_is_taken_over():
    first, second = table_for(TEMPLATES), table_for(OTHER)
    texts = Texts("new7", "old")
    first.rows(keys_of(["new7"]), [], texts.text_of)
    first._attributes[:] = 1  # so that a copy of it can be told
    rows = second.rows(keys_of(["new7", "old"]), [np.zeros(2, np.uint64)], texts.text_of, first)
    names = [attribute.name for attribute in make_plan(OTHER).attributes]
    taken = {
        name for name, value in zip(names, second.attributes[rows[0]], strict=True) if value == 1
    }
    assert taken == {"word", "prefix(3)"}
    assert 1 not in second.attributes[rows[1]]


def test_rows_stay_where_they_are_until_there_is_no_room() -> None:
    """So that what a thread has read is not copied each time that another one adds a word."""
    table, texts = table_for(TEMPLATES), [f"w{n}" for n in range(300)]
    source, views = Texts(*texts), []
    for n in range(1, 300):
        table.rows(keys_of(texts[:n]), [], source.text_of)
        views.append((table.attributes, table.form_of, table.origins))
    for each in zip(*views, strict=True):
        moved = [not np.shares_memory(a, b) for a, b in pairwise(each)]
        assert 1 <= sum(moved) <= 4


def test_more_words_than_there_was_room_for():
    table = table_for(TEMPLATES)
    texts = [f"word{n}" for n in range(1000)]
    source = Texts(*texts)
    early = table.rows(keys_of(texts[:10]), [], source.text_of)
    before = table.attributes[early].copy()
    rows = table.rows(keys_of(texts), [], source.text_of)
    np.testing.assert_array_equal(rows[:10], early)
    np.testing.assert_array_equal(table.attributes[early], before)
    assert sorted(rows) == list(range(1, 1001))


class Lengths(Resource):
    """It knows words by their texts, once it was read."""

    gives_word_codes = True

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Any) -> Lengths:
        return cls()

    def word_codes(self, texts: Sequence[str]) -> Keys1d:
        return np.array([*map(len, texts)], dtype=np.uint64)

    arrays = shapes = restore = None  # type: ignore[assignment]


class LengthOf(Other):
    def __init__(self, name: str) -> None:
        WordAttribute.__init__(self, name, ResourceSpec(Lengths, "lengths"))


@pytest.mark.parametrize("codes", [[2, 2], [2, 0], [1, 4]])
def test_words_that_differ_in_a_bit_are_told_apart_whatever_their_codes(
    codes: list[int],
) -> None:
    attributes = [Other("other")]
    table = LexemeTable(attributes, Resources(attribute.spec for attribute in attributes))
    rows = table.rows(np.array([1, 3], np.uint64), [np.array(codes, np.uint64)], str)
    assert rows.tolist() == [1, 2]


def test_what_a_resource_says_of_words_is_asked_with_their_texts() -> None:
    resources = Resources([ResourceSpec(Lengths, "lengths")])
    attributes = [LengthOf("length"), Lower("lower")]
    words, source = keys_of(["ab", "ABC", "ab"]), Texts("ab", "ABC")
    with pytest.raises(NotTrainedError):
        LexemeTable(attributes, resources).rows(words, [], source.text_of)
    resources.read(str.split)
    earlier = table_for(TEMPLATES)
    earlier.rows(words, [], source.text_of)
    table = LexemeTable(attributes, resources)
    rows = table.rows(words, [], source.text_of, earlier)
    assert table.attributes[rows, 0].tolist() == [2, 3, 2]
    assert table.code_column(attributes[0]) is table.code_column(attributes[1]) is None
    assert table.describe(attributes[0], rows[1], source.text_of) == "ABC/3"


def test_codes_of_several_resources_tell_words_apart():
    attributes = [Share("seen_inside"), Other("other")]
    table = LexemeTable(attributes, Resources(attribute.spec for attribute in attributes))
    texts = Texts("a")
    codes = np.array([[0, 0, 0x21, 0x21], [5, 6, 5, 5]], dtype=np.uint64)
    rows = table.rows(keys_of(["a"] * 4), list(codes), texts.text_of)
    assert len(set(rows.tolist())) == 3
    np.testing.assert_array_equal(table.origins[rows, 1:], codes.T)
    np.testing.assert_array_equal(table.attributes[rows, 1], codes[1])
    assert (table.form_of.dtype, table.attributes.dtype) == (np.int32, np.uint64)
    described = [table.describe(attribute, rows[2], texts.text_of) for attribute in attributes]
    assert described == ["2-10 % of 1", "a/5"]
