"""Annotated texts of any file: of Docs, of a format with texts, and of words."""

from __future__ import annotations

from pathlib import Path

from spacy.tokens import DocBin, Span

from format_files import doccano, entities_of, written
from helpers import blank
from spacy_cascade.tools.formats.any_file import read_records
from spacy_cascade.tools.formats.exchange.base import FormatOptions
from spacy_cascade.tools.formats.exchange.registry import AUTO
from spacy_cascade.tools.formats.texts import AnnotatedText


def texts(path: Path, lang: str = "en") -> list[AnnotatedText]:
    found = list(read_records(path, AUTO, FormatOptions(), lang))
    assert all(isinstance(one, AnnotatedText) for one in found)
    return found  # type: ignore[return-value]


def test_docs(tmp_path: Path) -> None:
    docs = [blank().make_doc("Ada left."), blank().make_doc("Nobody knows.")]
    docs[0].ents = [Span(docs[0], 0, 1, "PER")]
    DocBin(docs=docs).to_disk(tmp_path / "in.spacy")
    first, second = texts(tmp_path / "in.spacy")
    assert (first.text, entities_of(first)) == ("Ada left.", [("Ada", "PER")])
    assert (first.is_annotated, second.is_annotated) == (True, False)
    assert [one.where for one in (first, second)] == [
        f"{tmp_path / 'in.spacy'}, document {n}" for n in (1, 2)
    ]


def test_texts_and_words(tmp_path: Path) -> None:
    rows = ("Ada left.", [(0, 3, "PER")]), ("Nothing.", [])
    assert entities_of(*texts(doccano(tmp_path / "in.jsonl", *rows))) == [("Ada", "PER")]
    path = written(
        tmp_path / "in.iob", "-DOCSTART- O\n\nl' B-X\nan I-X\n! O\n\n-DOCSTART- O\nb O\n"
    )
    first, second = texts(path, "fr")
    assert (first.text, second.text) == ("l'an !", "b")
    assert (entities_of(first), first.is_annotated) == ([("l'an", "X")], True)
    assert [one.where for one in (first, second)] == [f"{path}:3", f"{path}:8"]
    assert texts(path, "en")[0].text == "l' an!"
