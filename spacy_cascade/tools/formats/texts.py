"""Annotated texts: what files of annotation tools hold, with offsets in characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias

Fail: TypeAlias = Callable[[str, str], NoReturn]
"""Raises a `CorpusError` that says where, from the problem and the advice."""
Pair: TypeAlias = tuple[int, int]
"""First character of a text, from 0, and the end (exclusive)."""
_MOST_DIGITS = 18
_WITHOUT_WIDTH = re.compile("[\xad\u200b-\u200f\u2060\ufeff]")


@dataclass(frozen=True, slots=True)
class Mention:
    """An annotated span.

    parts: its characters; more than one pair if it is discontinuous. found: its text as the file
    has it, "" if the file has none. score: confidence from 0 to 1, None if unknown. name: what the
    file calls it, "" if nothing.
    """

    parts: tuple[Pair, ...]
    label: str
    found: str = ""
    score: float | None = None
    name: str = field(default="", compare=False)

    @property
    def start(self) -> int:
        """First character of the first piece."""
        return self.parts[0][0]

    @property
    def end(self) -> int:
        """The character after the last piece."""
        return self.parts[-1][1]

    def text_in(self, text: str) -> str:
        """Its characters in a text."""
        return text_at(text, self.parts)


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text with its annotated spans.

    name: of the document in its file. where: file and line, for messages. words: characters of each
    token, if the file has tokens. sentences: first character of each sentence, if the file says.
    is_annotated: whether anybody looked at the text. is_partial: whether only the spans were looked
    at, so that other words may be entities or not. bad_spans: number of those that could not be
    read, and so may be anywhere. reading: how the offsets of its file were understood, "" if as its
    format says. unknown: characters of which nothing is known. annotator: who has annotated it, ""
    if the file does not say.
    """

    text: str
    mentions: tuple[Mention, ...] = ()
    name: str = ""
    where: str = ""
    words: tuple[Pair, ...] = ()
    sentences: tuple[int, ...] = field(default=(), kw_only=True)
    is_annotated: bool = field(default=True, kw_only=True)
    is_partial: bool = field(default=False, kw_only=True)
    bad_spans: int = field(default=0, kw_only=True)
    reading: str = field(default="", kw_only=True)
    unknown: tuple[Pair, ...] = field(default=(), kw_only=True)
    annotator: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record of a file that is not used, and why: such as `answered reject`."""

    reason: str


Record: TypeAlias = AnnotatedText | LeftOut


def without_words(record: Record) -> Record:
    """The record without the words of its file, so that a tokenizer splits the text."""
    return replace(record, words=()) if isinstance(record, AnnotatedText) else record


def text_at(text: str, parts: Iterable[Pair]) -> str:
    """The characters of a span, with a blank between its parts."""
    return " ".join(text[start:end] for start, end in parts)


def are_inside(text: str, parts: Iterable[Pair]) -> bool:
    """Whether all parts of a span are in the text."""
    return all(0 <= start <= end <= len(text) for start, end in parts)


def same_text(one: str, other: str) -> bool:
    """Whether texts are the same but for white space and characters without width."""
    return one == other or _visible(one) == _visible(other)


def _visible(text: str) -> list[str]:
    return _WITHOUT_WIDTH.sub("", text).split()


def checked_mention(
    text: str, start: Any, end: Any, label: Any, fail: Fail, found: str = ""
) -> Mention:
    """A span of one part. Raises `CorpusError` for values that are no offsets or no label."""
    return Mention((checked_pair(text, start, end, fail),), checked_label(label, fail), found)


def checked_pair(text: str, start: Any, end: Any, fail: Fail) -> Pair:
    """Offsets of a span. Raises `CorpusError` unless they are numbers within the text."""
    if type(start) is not int or type(end) is not int:
        fail(f"the offsets {start!r} and {end!r} are not whole numbers", "Correct them")
    if not 0 <= start <= end <= len(text):
        fail(
            f"a span goes from character {start} to {end}, but the text has {len(text)}",
            "Offsets count characters from 0, the end exclusive. Correct them",
        )
    return start, end


def checked_label(label: Any, fail: Fail) -> str:
    """Raises `CorpusError` for a label that is no text or has no characters."""
    if not isinstance(label, str) or not label.strip():
        fail(f"the label {label!r} is not a text", "Give each span the name of its type")
    return checked_text(label, fail)


def is_offset(text: str) -> bool:
    """Whether a text is a whole number that a file can have as an offset.

    Python refuses to make numbers of thousands of digits.
    """
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def checked_text(text: Any, fail: Fail) -> str:
    """Raises `CorpusError` for what is no text, or none that spaCy can hold."""
    if text is None:
        fail("there is no text", "Give each document its text")
    if not isinstance(text, str):
        fail(f"the text is {type(text).__name__}, not a string", "Correct it")
    try:
        text.encode()
    except UnicodeEncodeError:
        fail("the text has half of a surrogate pair, which is no character", "Correct it")
    return text
