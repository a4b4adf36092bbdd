"""Annotation that contradicts itself: labels that differ in case only, texts annotated twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, Span

_SHOWN = 3
"""Places that are named."""
_SHOWN_CHARACTERS = 40


class Piece(NamedTuple):
    """A text that somebody annotated as a whole, and its place in a file or corpus.

    spans: sets of first place, end and label, by whatever counts places in the text.
    """

    where: str
    text: str
    spans: frozenset[tuple[int, int, str]]


def pieces_of(docs: Sequence[Doc], name: str) -> Iterator[Piece]:
    """The sentences of Docs, or whole Docs without sentences; name: of the corpus.

    A piece with a token that is not annotated is left out, as it contradicts nothing.
    """
    for number, doc in enumerate(docs, start=1):
        has_sentences = doc.has_annotation("SENT_START")
        is_missing = doc.to_array(ENT_IOB) == 0
        spans: dict[int, list[Span]] = {}
        for entity in doc.ents:
            spans.setdefault(entity.sent.start if has_sentences else 0, []).append(entity)
        for i, part in enumerate(doc.sents if has_sentences else [doc[:]], start=1):
            if not is_missing[part.start : part.end].any():
                first = part.start
                found = ((e.start - first, e.end - first, e.label_) for e in spans.get(first, ()))
                sentence = f", sentence {i}" if has_sentences else ""
                where = f"{name}, document {number}{sentence}"
                yield Piece(where, part.text, frozenset(found))


def find_contradictions(pieces: Iterable[Piece]) -> list[str]:
    """What contradicts itself, in sentences with the first places of each kind."""
    places: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    first: dict[str, Piece] = {}
    pairs: dict[str, tuple[str, str]] = {}
    for piece in pieces:
        for label in sorted({label for *_, label in piece.spans}):
            places.setdefault(label, []).append(piece.where)
        counts.update(label for *_, label in piece.spans)
        before = first.setdefault(piece.text, piece)
        if before.spans != piece.spans:
            pairs.setdefault(piece.text, (before.where, piece.where))
    return [*_case_only(counts, places), *_annotated_twice(pairs)]


def _case_only(counts: Counter[str], places: dict[str, list[str]]) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for label, _ in counts.most_common():
        alike.setdefault(label.casefold(), []).append(label)
    for usual, *others in alike.values():
        for other in others:
            yield (
                f"The labels '{usual}' ({counts[usual]:,}) and '{other}' ({counts[other]:,}) "
                f"differ in case only. '{other}': {_listed(places[other])}."
            )


def _annotated_twice(pairs: dict[str, tuple[str, str]]) -> Iterator[str]:
    if pairs:
        listed = _listed([f"{_clip(text)!r} ({a}; {b})" for text, (a, b) in pairs.items()])
        texts = "One text is" if len(pairs) == 1 else f"{len(pairs):,} texts are each"
        yield f"{texts} annotated in different ways: {listed}."


def _listed(items: Sequence[str]) -> str:
    return "; ".join([*items[:_SHOWN], *["…"] * (len(items) > _SHOWN)])


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
