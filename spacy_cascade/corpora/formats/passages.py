"""What the two formats of BioC share: passages and annotations with offsets in a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..bad_records import Item, OnBad, each_counted
from ..texts import AnnotatedText, Fail, Mention, checked_label, checked_pair, checked_text

SCORE = "score"
"""Name of the infon with the score of a span."""
_LONGEST_GAP = 1_000_000
"""Characters between passages, which are filled."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text at its offset; fail: raises an error that names its place."""

    offset: Any
    text: Any
    fail: Fail


@dataclass(frozen=True, slots=True)
class Annotation:
    """A span as its file has it; locations: pairs of offset and length."""

    label: Any
    locations: Sequence[tuple[Any, Any]]
    found: str
    fail: Fail


def make_text(
    name: str,
    where: str,
    passages: Sequence[Passage],
    annotations: Iterable[Item],
    read: Callable[[Item], Annotation],
    on_bad: OnBad,
) -> AnnotatedText:
    """The text of a document, in which each passage stands at its offset.

    A line break and then spaces fill the gaps between passages. on_bad: takes the error of an
    annotation that `read` cannot read, or that is no span of the text. Raises `CorpusError` where
    passages overlap.
    """
    text = ""
    for passage in passages:
        offset, part = passage.offset, checked_text(passage.text, passage.fail)
        if type(offset) is not int or offset < 0:
            passage.fail(f"the offset {offset!r} is no number from 0", "Correct it")
        if offset < len(text):
            passage.fail(
                f"the text at offset {offset} begins before the end ({len(text)}) of the one "
                "before it",
                "BioC's offsets must count characters, not bytes. Correct them",
            )
        gap = offset - len(text)
        if gap > _LONGEST_GAP:
            passage.fail(f"the offset {offset:,} is far behind the text before it", "Correct it")
        text += (("\n" if text else " ") + " " * (gap - 1) if gap else "") + part
    mentions, n_bad = each_counted(annotations, lambda one: [_mention(text, read(one))], on_bad)
    return AnnotatedText(text, mentions, name, where, bad_spans=n_bad)


def _mention(text: str, annotation: Annotation) -> Mention:
    fail, parts = annotation.fail, []
    for offset, length in annotation.locations:
        if type(offset) is not int or type(length) is not int:
            fail(f"the location {offset!r}, {length!r} is no pair of numbers", "Correct it")
        parts.append(checked_pair(text, offset, offset + length, fail))
    if not parts:
        fail("the annotation has no location", "Give it an offset and a length")
    return Mention(tuple(sorted(parts)), checked_label(annotation.label, fail), annotation.found)


def infons_of(mention: Mention) -> dict[str, str]:
    """Type and score of a span, as BioC has them."""
    score = {} if mention.score is None else {SCORE: f"{mention.score:.6g}"}
    return {"type": mention.label, **score}
