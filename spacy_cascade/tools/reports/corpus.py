"""Counts of a corpus and oddities in its annotation, before training."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...pipeline.spans.gold import same_tokens

LONG = 12
"""Entities with more tokens count as an oddity."""
_OPENING, _CLOSING = "([{", ")]}"


class Oddity(Enum):
    """What may be an annotation error."""

    SPACE = "begins or ends with white space"
    PUNCTUATION = "begins or ends with punctuation"
    BRACKETS = "has an unbalanced bracket"
    LONG = f"has more than {LONG} tokens"
    CROSSING = "crosses a sentence boundary and cannot be found"


@dataclass(frozen=True)
class Size:
    """Counts of a corpus.

    sentences: None if no Doc has sentence starts. empty: Docs without entities. unannotated:
    tokens without entity annotation. labels: number of entities with each label.
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
    """Shares of a second corpus, from 0 to 1, that also occur in the first.

    documents, sentences: by their whole texts. mentions: entities, by their words and label.
    """

    documents: float
    sentences: float
    mentions: float


def measure_size(docs: Sequence[Doc]) -> Size:
    """Count documents, sentences, tokens and entities."""
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
    """The entities with each oddity, in the order of `Oddity`."""
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
    """Number of gold entities that do not match the token boundaries of the pipeline."""
    return sum(
        not example.get_aligned_spans_y2x([entity])
        for example in examples
        if not same_tokens(example)
        for entity in example.reference.ents
    )


def find_ambiguous(docs: Iterable[Doc]) -> dict[str, Counter[str]]:
    """Counts of the labels of each text with more than one, the most frequent texts first."""
    labels: dict[str, Counter[str]] = {}
    for doc in docs:
        for entity in doc.ents:
            labels.setdefault(entity.text, Counter())[entity.label_] += 1
    several = {text: counts for text, counts in labels.items() if len(counts) > 1}
    return dict(sorted(several.items(), key=lambda item: -item[1].total()))


def measure_overlap(train: Sequence[Doc], dev: Sequence[Doc]) -> Overlap:
    """Which entities of one corpus stand in the other one, too."""
    return Overlap(
        _share_known(*([doc.text for doc in docs] for docs in (train, dev))),
        _share_known(*([s.text for doc in docs for s in _sentences(doc)] for docs in (train, dev))),
        _share_known(*([(e.text, e.label) for d in docs for e in d.ents] for docs in (train, dev))),
    )


def _sentences(doc: Doc) -> Iterator[Span]:
    return doc.sents if doc.has_annotation("SENT_START") else iter([doc[:]])


def _share_known(known: Iterable[object], wanted: Iterable[object]) -> float:
    there = set(known)
    found = [item in there for item in wanted]
    return sum(found) / len(found) if found else 0.0
