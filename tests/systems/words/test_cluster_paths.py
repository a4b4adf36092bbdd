"""Files of word clusters: what can be read, what cannot, and what is written."""

from __future__ import annotations

import gzip
import unicodedata
from pathlib import Path

import pytest

from spacy_cascade.errors import TemplateError
from spacy_cascade.systems.words.paths import ClusteredWord, read_paths, write_paths

WORDS = [ClusteredWord("0110", "gene", 12), ClusteredWord("1", "κ-chain", 3)]


@pytest.mark.parametrize("name", ["paths", "paths.txt", "paths.txt.gz"])
def test_what_is_written_is_read(name: str, tmp_path: Path) -> None:
    for folder in ("new", "again"):
        write_paths(tmp_path / folder / name, WORDS)
        assert list(read_paths("mine", str(tmp_path / folder / name))) == WORDS
    assert (tmp_path / "new" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_any_words_survive(tmp_path: Path) -> None:
    """All characters that a line can hold, spaces and such among them."""
    characters = [chr(c) for c in range(0x20, 0x3100) if unicodedata.category(chr(c)) != "Cc"]
    words = [ClusteredWord("01" * 30, character, 10**12) for character in characters]
    write_paths(tmp_path / "paths.txt", words)
    assert list(read_paths("mine", str(tmp_path / "paths.txt"))) == words


def test_blank_lines_and_other_ends_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "paths.txt"
    path.write_bytes("\ufeff0110\tgene\t12\r\n\n1\tκ-chain\t3".encode())
    assert list(read_paths("mine", str(path))) == WORDS


@pytest.mark.parametrize(
    "line",
    ["0110 gene 12", "0110\tgene", "012\tgene\t1", "\tgene\t1", "01\t\t1", "01\tgene\t-1",
     "01\tgene\tmany", "0" * 61 + "\tgene\t1", "01\tgene\t1\t1"],
)  # fmt: skip
def test_damaged_lines_are_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "paths.txt").write_text(f"0\tthe\t99\n{line}\n", "utf8")
    with pytest.raises(TemplateError, match="Line 2 of the clusters 'mine' is not 'path TAB"):
        list(read_paths("mine", str(tmp_path / "paths.txt")))


@pytest.mark.parametrize(
    ("name", "content"),
    [("cut.gz", gzip.compress(b"0\tthe\t9\n" * 99, mtime=0)[:-12]), ("no.gz", b"0\tthe\t9\n"),
     ("latin.txt", "0\tcafé\t9\n".encode("latin-1")), ("none.txt", None)],
)  # fmt: skip
def test_files_that_cannot_be_read(name: str, content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TemplateError, match=r"Cannot read the clusters 'mine'.*templates\.cluste"):
        list(read_paths("mine", str(tmp_path / name)))
