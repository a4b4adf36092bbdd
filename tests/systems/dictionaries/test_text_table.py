"""Texts in two arrays: every text comes back, and damage is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.systems.dictionaries.text_table import TextWriter, check_texts


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)))
def test_texts_come_back(texts: list[str]) -> None:
    table = TextWriter(texts).table()
    assert [table.text(i) for i in range(len(table))] == texts
    assert check_texts(*table) is None


@pytest.mark.parametrize(
    ("content", "ends", "problem"),
    [
        (b"", [], None),
        (b"a", [], "no text"),
        (b"ab", [1], "does not fit"),
        (b"ab", [2, 1, 2], "does not fit"),
        (b"ab", [3], "does not fit"),
        ("é".encode(), [1, 2], "within a character"),
        (b"a\xff", [2], "UTF-8"),
        (b"a\xc3", [2], "UTF-8"),
    ],
)
def test_damaged_tables(content: bytes, ends: list[int], problem: str | None) -> None:
    found = check_texts(np.frombuffer(content, np.uint8), np.array(ends, dtype=np.int32))
    assert found is None if problem is None else problem in (found or "")


def test_a_character_across_blocks_is_valid() -> None:
    text = "é" * 20_001
    assert check_texts(*TextWriter(["a" + text, text]).table()) is None
