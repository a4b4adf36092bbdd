"""What the two formats of BioC share: passages and annotations with offsets in a document.

BioC's offsets count characters from the start of the document. Many files count bytes, or from the
start of a passage, or have texts that were changed after the offsets were counted. The texts of the
annotations tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ..bad_records import OnBad, each_counted
from ..texts import (
    AnnotatedText,
    Fail,
    LeftOut,
    Mention,
    Pair,
    Record,
    are_inside,
    checked_label,
    checked_pair,
    checked_text,
    text_at,
)
from .offsets import Piece, Pieces, Ruler, Unit, units_of

SCORE = "score"
"""Name of the infon with the score of a span."""
_LONGEST_GAPS = 1_000_000
_OVERLAP = "passages that overlap"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text at its offset; fail: raises an error that names its place."""

    offset: Any
    text: Any
    fail: Fail


@dataclass(frozen=True, slots=True)
class Annotation:
    """A span as its file has it; locations: pairs of offset and length.

    passage: number of the passage that has it, None if the document has it. origins: offsets of the
    sentence and the passage that have it, the inner one first. name: its own id.
    """

    label: Any
    locations: Sequence[tuple[Any, Any]]
    found: str
    fail: Fail
    passage: int | None = None
    origins: tuple[Any, ...] = ()
    name: str = ""


@dataclass(slots=True)
class Parts:
    """What a document has.

    on_bad: takes the error of an annotation that cannot be read. n_relations, n_bad: numbers of its
    relations, and of these annotations.
    """

    on_bad: OnBad
    passages: list[Passage] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    n_relations: int = 0
    n_bad: int = 0


@dataclass(slots=True)
class Gaps:
    """The white space between the passages of a file; left: characters that may still be filled.

    It is a million characters, and as many as the passages have. So a small file cannot fill the
    memory.
    """

    left: int = _LONGEST_GAPS

    def fill(self, passages: Sequence[Passage]) -> None:
        """Raises `CorpusError` for a passage that is too far behind the one before it."""
        end = 0
        for passage in passages:
            self.left += len(passage.text) - max(0, passage.offset - end)
            if self.left < 0:
                passage.fail(
                    f"the offset {passage.offset:,} is far behind the text before it", "Correct it"
                )
            end = passage.offset + len(passage.text)


def records_of(name: str, where: str, parts: Parts, gaps: Gaps) -> Iterator[Record]:
    """The text of a document, in which each passage stands at its offset, and what is left out.

    A line break and then spaces fill the gaps between passages. A passage that begins before the
    end of the one before it begins on a new line, if all annotations fit their passages. Raises
    `CorpusError` where they do not. `parts.on_bad` takes the errors of those that are no spans.
    """
    for passage in parts.passages:
        checked_text(passage.text, passage.fail)
        if type(passage.offset) is not int or passage.offset < 0:
            passage.fail(f"the offset {passage.offset!r} is no number from 0", "Correct it")
    gaps.fill(parts.passages)
    yield from [LeftOut("relations")] * parts.n_relations
    spans = [one for one in parts.annotations if one.locations or not _is_relation(one)]
    n_relations = len(parts.annotations) - len(spans)
    yield from [LeftOut("relations written as annotations")] * n_relations
    annotations, n_bad = each_counted(spans, _located, parts.on_bad)
    reading = _best_reading(parts.passages, annotations)
    if reading.overlap is not None:
        unfit = next((one for one in annotations if not reading.fits(one)), None)
        if unfit is not None:
            reading.overlap.fail(
                f"the text at offset {reading.overlap.offset} begins before the end of the one "
                f"before it, and the annotation {unfit.found!r} is not at its offset",
                "BioC's offsets count characters from the start of the document. Correct them",
            )
    mentions, n_unfit = each_counted(annotations, lambda one: [reading.mention(one)], parts.on_bad)
    n_bad += parts.n_bad + n_unfit
    text = reading.pieces.text
    yield AnnotatedText(text, mentions, name, where, bad_spans=n_bad, reading=reading.name)


def _located(annotation: Annotation) -> Iterator[Annotation]:
    """The annotation. Raises `CorpusError` where it does not say where it is."""
    if not annotation.locations:
        annotation.fail("the annotation has no location", "Give it an offset and a length")
    for offset, length in annotation.locations:
        if type(offset) is not int or type(length) is not int:
            annotation.fail(
                f"the location {offset!r}, {length!r} is no pair of numbers", "Correct it"
            )
    yield annotation


def _is_relation(annotation: Annotation) -> bool:
    return not annotation.found or "relation" in str(annotation.label).lower()


class _Reading:
    """A way to understand the offsets of a document.

    name: what it differs in from what BioC says, "" if in nothing. overlap: the first passage that
    begins before the end of another one.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        unit: Unit,
        origin: Callable[[Annotation], int],
        name: str,
    ) -> None:
        self._origin = origin
        self.overlap: Passage | None = None
        pieces, end, is_first = [], 0, True
        for passage in passages:
            ruler = Ruler(passage.text, unit)
            gap = passage.offset - end
            if gap < 0 and self.overlap is None:
                self.overlap = passage
            before = (" " if is_first else "\n") + " " * (gap - 1) if gap else ""
            pieces.append(Piece(ruler, passage.offset, before))
            end = passage.offset + ruler.size
            is_first = is_first and not before and not passage.text
        self.pieces = Pieces(pieces)
        counted = f"offsets that count {unit.value}" if unit is not Unit.CHARACTERS else ""
        names = (counted, name, _OVERLAP if self.overlap else "")
        self.name = ", ".join(filter(None, names))

    def parts(self, annotation: Annotation) -> list[Pair]:
        """The characters of a span, inside of the text or not."""
        origin, within = self._origin(annotation), annotation.passage
        return [
            (
                self.pieces.character(origin + offset, within=within),
                self.pieces.character(origin + offset + length, is_end=True, within=within),
            )
            for offset, length in annotation.locations
        ]

    def fits(self, annotation: Annotation) -> bool:
        """Whether the text of an annotation is the one at its offsets; False if it has none."""
        whole, parts = self.pieces.text, self.parts(annotation)
        wanted = annotation.found.split()
        is_known = bool(wanted) and are_inside(whole, parts)
        return is_known and wanted == text_at(whole, parts).split()

    def mention(self, annotation: Annotation) -> Mention:
        """Raises `CorpusError` for what is no span of the text."""
        text, fail = self.pieces.text, annotation.fail
        parts = [checked_pair(text, *part, fail) for part in self.parts(annotation)]
        label = checked_label(annotation.label, fail)
        return Mention(tuple(sorted(parts)), label, annotation.found, name=annotation.name)


def _best_reading(passages: Sequence[Passage], annotations: Sequence[Annotation]) -> _Reading:
    """The reading in which most annotations have their own text; BioC's own among equals."""
    whole = "".join(passage.text for passage in passages)
    origins: list[tuple[Callable[[Annotation], int], str]] = [
        (lambda annotation: 0, ""),
        (lambda annotation: _origin(annotation, 0), "offsets from the start of a passage"),
        (lambda annotation: _origin(annotation, -1), "offsets from the start of a passage"),
    ]
    best, most = None, -1
    n_known = sum(bool(annotation.found.strip()) for annotation in annotations)
    for (origin, name), unit in product(origins, units_of(whole)):
        reading = _Reading(passages, unit, origin, name)
        n_fit = sum(map(reading.fits, annotations))
        if n_fit > most:
            best, most = reading, n_fit
        if most == n_known:
            break
    assert best is not None
    return best


def _origin(annotation: Annotation, which: int) -> int:
    numbers = [origin for origin in annotation.origins if type(origin) is int]
    return numbers[which] if numbers else 0


def infons_of(mention: Mention) -> dict[str, str]:
    """Type and score of a span, as BioC has them."""
    score = {} if mention.score is None else {SCORE: f"{mention.score:.6g}"}
    return {"type": mention.label, **score}
