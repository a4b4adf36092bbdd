"""Term lists: files and patterns that can be read, those that cannot, and the tokens of terms."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.lang.en import English

from spacy_cascade.errors import TemplateError
from spacy_cascade.systems.dictionaries.terms import (
    Spellings,
    Term,
    TermList,
    list_from,
    read_spellings,
    read_terms,
    spell,
)
from strategies import words

PATTERNS = [
    {"label": "DNA", "pattern": "IL-2  gene", "id": "il2"},
    {
        "label": "protein",
        "pattern": [{"LOWER": "nf"}, {"ORTH": "-"}, {"TEXT": "kappa"}],
        "id": 77,
    },
    {"label": "DNA", "pattern": [{"lower": "enhancer"}]},
]


def terms_of(spellings: Spellings) -> list[tuple[list[str], str]]:
    """All terms as texts, with their labels."""
    rows, texts = spellings.words, spellings.texts
    return [
        (
            [texts[i] for i in rows.indices[rows.indptr[n] : rows.indptr[n + 1]]],
            spellings.labels[spellings.label[n] - 1],
        )
        for n in range(rows.n_rows)
    ]


def read(source: Any, name: str = "genes") -> list[tuple[list[str], str]]:
    return terms_of(read_spellings(name, source, lambda word: [word]))


def write(path: Path, content: bytes) -> str:
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return str(path)


@pytest.mark.parametrize("name", ["genes", "genes.txt.gz"])
def test_terms_from_a_file(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, "\ufeffp53\n\n  STAT  5 \r\nκ-Kette".encode())
    assert read(path) == [(["p53"], ""), (["STAT", "5"], ""), (["κ-Kette"], "")]


def test_patterns_from_a_file(tmp_path: Path) -> None:
    lines = "\n\n".join(json.dumps(pattern) for pattern in PATTERNS)
    path = write(tmp_path / "genes.jsonl.gz", lines.encode())
    assert read(path) == [
        (["IL-2", "gene"], "DNA"),
        (["nf", "-", "kappa"], "protein"),
        (["enhancer"], "DNA"),
    ]
    ids = [term.id for term in read_terms("genes", path)]
    assert ids == ["il2", "77", ""]


def test_patterns_that_an_entity_ruler_saved(tmp_path: Path) -> None:
    nlp = English()
    ruler: Any = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{**pattern, "id": "x"} for pattern in PATTERNS])
    nlp.to_disk(tmp_path)
    found = read(str(tmp_path / "entity_ruler" / "patterns.jsonl"))
    words = [["IL-2", "gene"], ["enhancer"], ["nf", "-", "kappa"]]
    assert sorted(found) == list(zip(words, ("DNA", "DNA", "protein"), strict=True))


def test_columns_from_a_file(tmp_path: Path) -> None:
    content = "\ufeffp53\tG1\r\n\nSTAT  5\tG2\tprotein\nIL-2\t\tDNA\nNF kappa\n"
    path = write(tmp_path / "genes.tsv.gz", content.encode())
    assert [(list(words), label, i) for words, label, i in read_terms("genes", path)] == [
        (["p53"], "", "G1"),
        (["STAT", "5"], "protein", "G2"),
        (["IL-2"], "DNA", ""),
        (["NF", "kappa"], "", ""),
    ]
    assert read(path)[1] == (["STAT", "5"], "protein")


@pytest.mark.parametrize("line", ["\tG1", "p53\tG1\tprotein\tmore", " \t\tDNA"])
def test_columns_that_are_no_term(line: str, tmp_path: Path) -> None:
    path = tmp_path / "genes.tsv"
    path.write_text(f"p53\tG1\n{line}\n", encoding="utf8")
    with pytest.raises(TemplateError, match=r"Line 2 of the lexicon 'genes'.*tabs"):
        read(str(path))


@pytest.mark.parametrize("make", [list, TermList])
def test_terms_from_the_config(make: Any) -> None:
    assert read(make(["p53 ", "", "STAT 5"])) == [(["p53"], ""), (["STAT", "5"], "")]


def test_what_stands_under_lexicons() -> None:
    listed = TermList(["p53"], leave_out=True)
    assert list_from(listed) is listed
    assert list_from(Path("genes.tsv")) == list_from("genes.tsv") == TermList("genes.tsv")  # type: ignore[arg-type]
    for source in (5, None, ["p53", 5], {"p53": "G1"}):
        with pytest.raises(TemplateError, match="'lexicons' is the path of a file, terms or") as e:
            list_from(source)  # type: ignore[arg-type]
        assert f"not {source!r}." in str(e.value)


@pytest.mark.parametrize(
    "pattern",
    [
        "p53",
        "[]",
        "{",
        '{"pattern": "p53"}',
        '{"label": "DNA"}',
        '{"label": "", "pattern": "p53"}',
        '{"label": ["DNA"], "pattern": "p53"}',
        '{"label": "DNA", "pattern": " "}',
        '{"label": "DNA", "pattern": "p\\ud800"}',
        '{"label": "D\\ud800", "pattern": "p53"}',
        '{"label": "DNA", "pattern": []}',
        '{"label": "DNA", "pattern": 5}',
        '{"label": "DNA", "pattern": {"LOWER": "a"}}',
        '{"label": "DNA", "pattern": ["a"]}',
        '{"label": "DNA", "pattern": [{}]}',
        '{"label": "DNA", "pattern": [{"LOWER": "a b"}]}',
        '{"label": "DNA", "pattern": [{"LOWER": ""}]}',
        '{"label": "DNA", "pattern": [{"LOWER": "a", "OP": "+"}]}',
        '{"label": "DNA", "pattern": [{"LOWER": {"IN": ["a", "b"]}}]}',
        '{"label": "DNA", "pattern": [{"IS_DIGIT": true}]}',
        '{"label": "DNA", "pattern": "p53", "id": true}',
        '{"label": "DNA", "pattern": "p53", "id": 1.5}',
        '{"label": "DNA", "pattern": "p53", "id": "\\ud800"}',
        "[" * 100_000,
    ],
)
def test_patterns_that_no_term_list_can_express(pattern: str, tmp_path: Path) -> None:
    path = tmp_path / "genes.jsonl"
    path.write_text('{"label": "DNA", "pattern": "p53"}\n' + pattern, encoding="utf8")
    with pytest.raises(
        TemplateError, match=r"Line 2 of the lexicon 'genes'.*span_ruler.*span\(KEY"
    ):
        read(str(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("encoding.txt", "größe".encode("latin-1")),
        ("plain.txt.gz", b"p53"),
        ("cut.txt.gz", gzip.compress(b"p53 " * 99, mtime=0)[:20]),
        ("damaged.txt.gz", gzip.compress(b"p53 " * 99, mtime=0)[:12] + b"\xff" * 20),
        ("none.txt", None),
        (".", None),
    ],
)
def test_files_that_cannot_be_read(name: str, content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TemplateError, match=r"Cannot read the lexicon 'genes'.*UTF-8 text file"):
        read(str(tmp_path / name))


@pytest.mark.parametrize("terms", [[], ["", "  "]])
def test_list_without_terms(terms: list[str]) -> None:
    with pytest.raises(TemplateError, match="'genes' has no terms"):
        read(terms)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.lists(words(), min_size=1, max_size=4), st.sampled_from("abc"))))
def test_terms_as_split_and_as_tokenized(terms: list[tuple[list[str], str]]) -> None:
    """The second spelling is kept where it differs."""

    def tokenize(word: str) -> list[str]:
        return [word] if len(word) < 3 else [word[0], word[1:-1], word[-1]]

    tokenized = [([t for word in term for t in tokenize(word)], label) for term, label in terms]
    different = [new for new, old in zip(tokenized, terms, strict=True) if new != old]
    found = spell([Term(*term) for term in terms], tokenize)
    assert terms_of(found) == [*terms, *different]


def test_words_by_themselves_are_tokenized_as_in_the_term() -> None:
    """What makes it possible to tokenize each word once."""
    tokenizer = English().tokenizer
    for term in ("NF-kappa B", "don't (IL-2)", "U.S. p53-dependent, e.g. 5'-end", "a  b"):
        by_word = [t.text for word in term.split() for t in tokenizer(word)]
        assert by_word == [t.text for t in tokenizer(" ".join(term.split()))]


def test_numbers_of_labels_and_terms() -> None:
    """And each word is tokenized once."""
    seen: list[str] = []

    def tokenize(word: str) -> list[str]:
        seen.append(word)
        return word.split("-")

    found = spell([Term(["a"], "x"), Term(["b-c", "a"], ""), Term(["d"], "x")], tokenize)
    assert seen == ["a", "b-c", "d"]
    assert found.labels == ["x", ""]
    np.testing.assert_array_equal(found.label, [1, 2, 1, 2])
    np.testing.assert_array_equal(found.term, [0, 1, 2, 1])
