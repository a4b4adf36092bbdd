"""Spans of several parts in BRAT."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_cascade.tools.formats.exchange.base import FormatOptions, TextFormat
from spacy_cascade.tools.formats.exchange.registry import find_sources
from spacy_cascade.tools.formats.texts import AnnotatedText


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("0 4;2 3;4 9", ((0, 9),)),  # one part is in another: its end is not that of the span
        ("4 9;0 4", ((0, 9),)),
        ("0 4;4 9", ((0, 9),)),
        ("0 3;2 4", ((0, 4),)),
        ("0 9;10 14", ((0, 14),)),  # a line break between them
        ("0 4;5 9", ((0, 4), (5, 9))),
    ],
)
def test_parts_that_touch_or_lie_in_each_other_are_one(
    parts: str, expected: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("abcdefghi\nklmn")
    (tmp_path / "a.ann").write_text(f"T1\tX {parts}\n")
    reader, (source,) = find_sources(tmp_path)
    assert isinstance(reader, TextFormat)
    (text,) = reader.read(source, FormatOptions())
    assert isinstance(text, AnnotatedText)
    (mention,) = text.mentions
    assert mention.parts == expected
