"""Annotation that contradicts itself: labels that differ in case only, texts annotated twice."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from spacy.attrs import ENT_IOB, IDX, SENT_START
from spacy.tokens import Doc

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
        states, begins, places = doc.to_array([ENT_IOB, SENT_START, IDX]).T
        has_sentences = bool((begins[1:] != 0).any())
        starts = [0, *(np.flatnonzero(begins[1:] == 1) + 1).tolist()] if has_sentences else [0]
        missing = np.flatnonzero(states == 0).tolist()
        ends = [*starts[1:], len(doc)]
        text, characters = doc.text, [*places.tolist(), len(doc.text)]
        entities = deque(sorted((e.start, e.end, e.label_) for e in doc.ents))
        for i, (start, end) in enumerate(zip(starts, ends, strict=True), start=1):
            spans = set()
            while entities and entities[0][0] < end:
                first, last, label = entities.popleft()
                spans.add((first - start, last - start, label))
            if bisect_left(missing, start) == bisect_left(missing, end):
                where = f"{name}, document {number}" + f", sentence {i}" * has_sentences
                words = text[characters[start] : characters[end]].rstrip(" ")
                yield Piece(where, words, frozenset(spans))


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
