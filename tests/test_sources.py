"""Which files of text there are, and the texts in them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from spacy_cascade.errors import CorpusError
from spacy_cascade.text_sources import find_sources, read_texts


def texts(path: Path, data: bytes, field: str = "text") -> list[str]:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return [text.strip() for text in read_texts(path, field)]


def test_files_and_folders_are_found_once_and_sorted(tmp_path: Path) -> None:
    names = ("b.txt", "a.jsonl.gz", "deep/c.spacy", "D.TXT.GZ", "notes.md", "out.txt", "work/x.txt")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = find_sources([tmp_path / "b.txt", tmp_path], [tmp_path / "out.txt", tmp_path / "work"])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == [
        "b.txt", "D.TXT.GZ", "a.jsonl.gz", "deep/c.spacy",
    ]  # fmt: skip


def test_what_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.md").touch()
    for path, message in (
        (tmp_path / "nowhere.txt", "There is no text at .*nowhere.txt"),
        (tmp_path / "notes.md", "is no file of text. Give files"),
        (tmp_path, "has no files of text. Give files"),
    ):
        with pytest.raises(CorpusError, match=message):
            find_sources([path])


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_lines_of_text(tmp_path: Path, name: str) -> None:
    data = "\ufeffIL-2 binds.\r\n\n \t\nCafé\u2028x\n".encode()
    assert texts(tmp_path / name, data) == ["IL-2 binds.", "Café\u2028x"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_texts_of_json(tmp_path: Path, name: str) -> None:
    data = b'{"body": "one\\ntwo", "text": 1}\n\n{"body": ""}\n{"body": "half \\ud83d!"}\n'
    assert texts(tmp_path / name, data, "body") == ["one\ntwo", "half \ufffd!"]


@pytest.mark.parametrize(
    "line", [b'{"text": ', b'["text"]', b'{"body": "x"}', b'{"text": 1}', b"1"]
)
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(CorpusError, match=r"Line 2 of .*a\.jsonl is no JSON object .* 'text'"):
        texts(tmp_path / "a.jsonl", b'{"text": "x"}\n' + line + b"\n")


def test_damaged_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"Cannot read .*a\.txt: .*utf-8"):
        texts(tmp_path / "a.txt", b"caf\xe9\n")
    path = tmp_path / "a.txt.gz"
    for data in (b"no gzip", gzip.compress(b"much text " * 1000)[:-20]):
        path.write_bytes(data)
        with pytest.raises(CorpusError, match=r"Cannot read .*a\.txt\.gz"):
            list(read_texts(path, "text"))
