"""What mistakes cost by the model's own probabilities, and where they cost most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .excerpts import Piece
from .mistakes import Comparison, Entity, Kind

SMALLEST = 1e-4
"""No probability counts as less: so far in the tail a model knows nothing of its own mistakes."""


Choice = tuple[Entity, float | None]
"""A span that may become an entity, and its confidence."""


@dataclass(frozen=True)
class Judged:
    """The entities of a Doc with what the pipeline thought of them.

    confidences: of the predicted ones. probabilities: of the gold ones. None where there is no
    such number. pieces: the Doc in pieces that cut no entity. choices: the spans that a threshold
    chooses entities from; none where it only leaves out predicted ones.
    """

    comparison: Comparison
    confidences: Sequence[float | None]
    probabilities: Sequence[float | None]
    pieces: Sequence[Piece]
    choices: Sequence[Choice] = ()


@dataclass(frozen=True)
class Mistake:
    """An entity that is not right.

    is_gold: whether it is a gold one. probability: that the pipeline gave to it, None where it
    gave none. cost: in nats, or 1.
    """

    entity: Entity
    is_gold: bool
    kind: Kind
    probability: float | None
    cost: float


@dataclass(frozen=True)
class BadPiece:
    """A piece with mistakes, those of gold entities first; cost: their sum."""

    doc: int
    piece: Piece
    mistakes: list[Mistake]
    cost: float


def negative_log_likelihood(probability: float | None) -> float:
    """Cost of the truth: `-ln p` nats with p not below `SMALLEST`; 1 where there is no p."""
    return 1.0 if probability is None else -math.log(min(1.0, max(probability, SMALLEST)))


def find_mistakes(judged: Judged) -> list[Mistake]:
    """The mistakes in a Doc, those of gold entities first.

    A missed gold entity costs its negative log-likelihood. A spurious entity costs that of not
    being one, which has the probability `1 - confidence`.
    """
    found = judged.comparison
    mistakes = [
        Mistake(entity, True, kind, p, negative_log_likelihood(p))
        for entity, kind, p in zip(found.gold, found.gold_kinds, judged.probabilities, strict=True)
        if kind is not Kind.RIGHT
    ]
    predicted = zip(found.predicted, found.predicted_kinds, judged.confidences, strict=True)
    mistakes.extend(
        Mistake(entity, False, kind, p, negative_log_likelihood(None if p is None else 1.0 - p))
        for entity, kind, p in predicted
        if kind is not Kind.RIGHT
    )
    return mistakes


def bad_pieces(docs: Iterable[Judged]) -> list[BadPiece]:
    """All pieces with mistakes, the most costly first, of equals the earlier."""
    found = []
    for number, judged in enumerate(docs):
        mistakes = find_mistakes(judged)
        for start, end in judged.pieces if mistakes else ():
            inside = [m for m in mistakes if start <= m.entity[0] < end]
            if inside:
                cost = math.fsum(m.cost for m in inside)
                found.append(BadPiece(number, (start, end), inside, cost))
    return sorted(found, key=lambda bad: -bad.cost)
