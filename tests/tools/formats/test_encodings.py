"""Bytes as text: the encoding that they have or seem to have, and what is said of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.encodings import (
    decoded,
    other_encoding,
    problem_of,
    seeming_encoding,
)

PATH = Path("in.txt")
NAME_IT = "Save it as UTF-8, or name its encoding by --encoding."


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"caf\xe9", "cp1252"),
        (b"\x81", None),  # stands for nothing in any of them
        ("abcd漢字漢字漢字".encode("utf-16-le"), "utf-16-le"),
        ("abcd漢字漢字漢字".encode("utf-16-be"), "utf-16-be"),
        ("abc漢字漢字漢字漢".encode("utf-16-le"), None),  # too few zeros to tell
        (b"a\0" + b"bc" * 20, None),
        (b"\0", None),
        (b"\xe9" * 18 + b"\x01\n", "cp1252"),
        (b"\xe9" * 18 + b"\x01\x01", None),
    ],
)
def test_bytes_seem_to_have_an_encoding(data: bytes, encoding: str | None) -> None:
    assert seeming_encoding(data) == encoding


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"\n\xe9", None, "in.txt:2: the file is not UTF-8. It seems to be Windows-1252 or Latin-1:"
         " read it with --encoding cp1252, or save it as UTF-8."),
        (b"\x81", None, f"in.txt:1: the file is not UTF-8. {NAME_IT}"),
        ("ab".encode("utf-16-le"), None, "in.txt:1: the file is not UTF-8. It seems to be UTF-16-LE"
         ": read it with --encoding utf-16-le, or save it as UTF-8."),
        (b"a\n\xe9", "ascii", "in.txt:2: the file is not ASCII. It seems to be Windows-1252 or "),
        (b"a", "no", "There is no encoding 'no'. Give one as utf-8 or cp1252."),
    ],
)  # fmt: skip
def test_what_is_not_of_the_encoding_is_an_error(
    data: bytes, encoding: str | None, message: str
) -> None:
    with pytest.raises(CorpusError) as caught:
        decoded(PATH, data, encoding)
    assert str(caught.value).startswith(message)


def test_a_zero_byte_alone_makes_no_other_encoding() -> None:
    for data, encoding in ((b"a\0" + b"bc" * 20, None), (b"a\0b\0", "utf-8")):
        assert decoded(PATH, data, encoding) == data.decode()
    for name in ("utf-32", "utf-16"):
        text = "a\0" + "bc" * 20
        assert decoded(PATH, text.encode(name), None) == text


def test_an_encoding_is_not_proposed_for_itself() -> None:
    assert problem_of(b"caf\xe9", "cp1252") == f"the file is not CP1252. {NAME_IT}"


@pytest.mark.parametrize(
    ("words", "is_other"),
    [([b"\xe9", b"a"], True), ([b"\xe9", b"\xc3\xa9", b"\xe9"], True),
     ([b"\xe9", b"\xc3\xa9"], False), ([b"a"], False), ([b"\xc3\xa9"], False)],
)  # fmt: skip
def test_another_encoding_is_proposed_where_most_foreign_words_are_damaged(
    words: list[bytes], is_other: bool
) -> None:
    data = b"\n".join(words)
    said = other_encoding(data, [word.decode("utf-8", "surrogateescape") for word in words])
    assert said == ("The" + problem_of(data)[3:]) * is_other
