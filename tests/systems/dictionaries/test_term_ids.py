"""Entries of lists that phrases match, compared with a search through all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade.errors import TemplateError
from spacy_cascade.features.resources import InvalidArray
from spacy_cascade.features.strings import hash_strings
from spacy_cascade.systems.dictionaries.term_ids import LOWER, WRITTEN, TermIds
from spacy_cascade.systems.dictionaries.text_table import TextWriter, check_texts

WORD = st.sampled_from(["a", "A", "b", "a-b", "A-b", "-"])
PHRASE = st.lists(WORD, min_size=1, max_size=3)
ROW = st.tuples(PHRASE, st.sampled_from(["", "1", "2"]), st.sampled_from(["", "x", "y"]))


def tokenize(word: str) -> list[str]:
    """Splits hyphens off."""
    return word.replace("-", " - ").split()


def read(folder: Path, rows: list[tuple[list[str], str, str]], name: str = "l") -> TermIds:
    path = folder / f"{name}.tsv"
    path.write_text(
        "".join(f"{' '.join(words)}\t{i}\t{label}\n" for words, i, label in rows), encoding="utf8"
    )
    return TermIds.read({name: str(path)}, tokenize)


def find(ids: TermIds, form: str, phrases: list[list[str]]) -> list[list[tuple[str, ...]]]:
    """The entries of phrases, each without the name of the list."""
    words = [word.lower() if form == LOWER else word for phrase in phrases for word in phrase]
    cuts = np.cumsum([0, *map(len, phrases)])
    found = ids.find(form, hash_strings(words), cuts[:-1], cuts[1:])
    return [[ids.entry(number)[1:] for number in numbers] for numbers in found]


@settings(max_examples=50)
@given(rows=st.lists(ROW, max_size=8), phrases=st.lists(PHRASE, min_size=1, max_size=6))
def test_entries_of_phrases(rows: Any, phrases: Any, tmp_path: Path) -> None:
    """Of a term that the tokenizer splits both spellings match."""
    with_id = [row for row in rows if row[1]]
    if not with_id:
        with pytest.raises(TemplateError, match="'l' has an id"):
            read(tmp_path, rows)
        return
    ids = read(tmp_path, rows)
    assert len(ids) == len(with_id)
    for form, change in ((WRITTEN, str), (LOWER, str.lower)):
        expected = [
            [
                (" ".join(term), i, label)
                for term, i, label in with_id
                if [change(w) for w in phrase]
                in ([change(w) for w in term], [change(p) for w in term for p in tokenize(w)])
            ]
            for phrase in phrases
        ]
        assert find(ids, form, phrases) == expected


def test_entries_come_in_the_order_of_the_lists(tmp_path: Path) -> None:
    for name, rows in (("b", "x\t2\nx\t1\n"), ("a", "x\t0\nx\t2\n")):
        (tmp_path / f"{name}.tsv").write_text(rows, encoding="utf8")
    ids = TermIds.read({name: str(tmp_path / f"{name}.tsv") for name in ("b", "a")}, tokenize)
    numbers = ids.find(WRITTEN, hash_strings(["x"]), np.array([0]), np.array([1]))[0]
    entries = [ids.entry(n) for n in numbers]
    assert [e.list_name + e.id for e in entries] == ["b2", "b1", "a0", "a2"]


def test_each_list_needs_an_id(tmp_path: Path) -> None:
    for name, rows in (("a", "x\t1\n"), ("b", "y\n")):
        (tmp_path / f"{name}.tsv").write_text(rows, encoding="utf8")
    with pytest.raises(TemplateError, match=r"lexicon 'b' has an id \(.*b\.tsv\)"):
        TermIds.read({name: str(tmp_path / f"{name}.tsv") for name in "ab"}, tokenize)


@pytest.fixture
def saved(tmp_path: Path) -> dict[str, Any]:
    ids = read(tmp_path, [(["é-b"], "1", "x"), (["A"], "2", ""), (["a"], "3", "x")])
    return {name: array.copy() for name, array in ids.arrays().items()}


def test_saved_arrays_come_back(saved: dict[str, Any]) -> None:
    ids = TermIds.restore(["l"], saved)
    assert find(ids, LOWER, [["A"]]) == [[("A", "2", ""), ("a", "3", "x")]]
    assert TermIds.shapes(saved) == {
        name: (array.shape, array.dtype.str[1:]) for name, array in saved.items()
    }
    assert {size for size, _ in TermIds.shapes({}).values()} == {(0,)}


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("content", 0, ord("1")),
        ("content", 1, 0),
        ("content", 2, 255),
        ("ends", 0, 1),
        ("ends", -1, 2),
        ("written_keys", 0, 2**64 - 1),
        ("written_keys", -2, 2**64 - 1),
        ("written_ends", 0, 2),
        ("written_ends", -1, 9),
        ("lower_ends", 0, 0),
        ("lower_entries", 0, 3),
    ],
)
def test_damaged_arrays(name: str, place: Any, value: int, saved: dict[str, Any]) -> None:
    saved[name][place] = value
    with pytest.raises(InvalidArray):
        TermIds.restore(["l"], saved)


# Their texts, in two arrays


def test_texts_come_back() -> None:
    """A character may lie in two blocks of the check."""
    texts = ["", "a" + "é" * 20_001, "日本", "x\ny"]
    table = TextWriter(texts).table()
    assert [table.text(n) for n in range(len(table))] == texts
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
