"""What a corpus has and what is odd about it, before anything is trained on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..pipeline.spans.gold import same_tokens

LONG = 12
"""Entities of more tokens are looked at."""
_OPENING, _CLOSING = "([{", ")]}"


class Oddity(Enum):
    """What may be a slip of an annotator."""

    SPACE = "begins or ends with white space"
    PUNCTUATION = "begins or ends with punctuation"
    BRACKETS = "has a bracket without its partner"
    LONG = f"has more than {LONG} tokens"
    CROSSING = "crosses a sentence boundary, which no chain can find"


@dataclass(frozen=True)
class Size:
    """Counts of a corpus; sentences is None where no Doc has sentence starts.

    empty: Docs without entities. unannotated: tokens without entity annotation. labels: entities
    by label.
    """

    documents: int
    sentences: int | None
    tokens: int
    entities: int
    empty: int
    unannotated: int
    labels: Counter[str]


@dataclass(frozen=True)
class Overlap:
    """What of a second corpus the first has, too: shares from 0 to 1.

    documents, sentences: whole texts. mentions: entities whose words are an entity with the
    same label there.
    """

    documents: float
    sentences: float
    mentions: float


def measure_size(docs: Sequence[Doc]) -> Size:
    """The counts of a corpus."""
    has_sentences = any(doc.has_annotation("SENT_START") for doc in docs)
    return Size(
        len(docs),
        sum(len(list(_sentences(doc))) for doc in docs) if has_sentences else None,
        sum(map(len, docs)),
        sum(len(doc.ents) for doc in docs),
        sum(not doc.ents for doc in docs),
        sum(int((np.asarray(doc.to_array(ENT_IOB)) == 0).sum()) for doc in docs),
        Counter(entity.label_ for doc in docs for entity in doc.ents),
    )


def find_oddities(docs: Iterable[Doc]) -> dict[Oddity, list[Span]]:
    """Entities that are odd, by what is odd about them, in the order of `Oddity`."""
    found: dict[Oddity, list[Span]] = {kind: [] for kind in Oddity}
    for doc in docs:
        for entity in doc.ents:
            for kind in _oddities(entity):
                found[kind].append(entity)
    return {kind: entities for kind, entities in found.items() if entities}


def _oddities(entity: Span) -> Iterator[Oddity]:
    ends = entity[0], entity[-1]
    if any(token.is_space for token in ends):
        yield Oddity.SPACE
    if any(token.is_punct and not token.is_bracket for token in ends):
        yield Oddity.PUNCTUATION
    if not _is_balanced(entity.text):
        yield Oddity.BRACKETS
    if len(entity) > LONG:
        yield Oddity.LONG
    if any(token.is_sent_start for token in entity[1:]):
        yield Oddity.CROSSING


def _is_balanced(text: str) -> bool:
    stack: list[str] = []
    for character in text:
        if character in _OPENING:
            stack.append(_CLOSING[_OPENING.index(character)])
        elif character in _CLOSING and (not stack or stack.pop() != character):
            return False
    return not stack


def count_misaligned(examples: Iterable[Example]) -> int:
    """Gold entities that the tokens of the pipeline cannot express."""
    return sum(
        not example.get_aligned_spans_y2x([entity])
        for example in examples
        if not same_tokens(example)
        for entity in example.reference.ents
    )


def find_ambiguous(docs: Iterable[Doc]) -> dict[str, Counter[str]]:
    """Labels of the texts that have several, the most frequent texts first."""
    labels: dict[str, Counter[str]] = {}
    for doc in docs:
        for entity in doc.ents:
            labels.setdefault(entity.text, Counter())[entity.label_] += 1
    several = {text: counts for text, counts in labels.items() if len(counts) > 1}
    return dict(sorted(several.items(), key=lambda item: -item[1].total()))


def measure_overlap(train: Sequence[Doc], dev: Sequence[Doc]) -> Overlap:
    """How much of dev stands in train."""
    return Overlap(
        _share_known(_texts(train), _texts(dev)),
        _share_known(
            (s.text for doc in train for s in _sentences(doc)),
            (s.text for doc in dev for s in _sentences(doc)),
        ),
        _share_known(_mentions(train), _mentions(dev)),
    )


def _texts(docs: Iterable[Doc]) -> Iterator[str]:
    return (doc.text for doc in docs)


def _mentions(docs: Iterable[Doc]) -> Iterator[tuple[str, str]]:
    return ((entity.text, entity.label_) for doc in docs for entity in doc.ents)


def _sentences(doc: Doc) -> Iterator[Span]:
    return doc.sents if doc.has_annotation("SENT_START") else iter([doc[:]])


def _share_known(known: Iterable[object], wanted: Iterable[object]) -> float:
    there = set(known)
    found = [item in there for item in wanted]
    return sum(found) / len(found) if found else 0.0
