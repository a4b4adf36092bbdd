"""Gold and predicted entities of a Doc side by side: each right, or a mistake of one kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum

Entity = tuple[int, int, str]
"""Start, end (exclusive) and type of an entity."""


class Kind(Enum):
    """What became of an entity; each gold and each predicted one has exactly one kind."""

    RIGHT = "right"
    WRONG_TYPE = "wrong type"
    WRONG_BOUNDS = "wrong bounds"
    WRONG_BOTH = "wrong bounds and type"
    MISSED = "missed"
    SPURIOUS = "spurious"


@dataclass(frozen=True)
class Comparison:
    """The entities of a Doc and their kinds.

    gold, predicted: in the order given. gold_kinds, predicted_kinds: of each. pairs: numbers of
    the gold and the predicted entities that have the same bounds, each in one pair at most.
    """

    gold: Sequence[Entity]
    predicted: Sequence[Entity]
    gold_kinds: list[Kind]
    predicted_kinds: list[Kind]
    pairs: list[tuple[int, int]]

    @property
    def has_mistakes(self) -> bool:
        """Whether anything is not right."""
        return any(kind is not Kind.RIGHT for kind in (*self.gold_kinds, *self.predicted_kinds))


def compare(gold: Sequence[Entity], predicted: Sequence[Entity]) -> Comparison:
    """Compare the entities of one Doc.

    First come entities with the same bounds and type, then those with the same bounds, each
    paired once. Of what is left, a gold and a predicted entity that overlap have wrong bounds:
    with the right type if the one overlaps any of its own type. What overlaps nothing that is
    left is missed, or spurious.
    """
    gold_kinds: dict[int, Kind] = {}
    predicted_kinds: dict[int, Kind] = {}
    pairs = []
    for kind, key in ((Kind.RIGHT, _whole), (Kind.WRONG_TYPE, _bounds)):
        waiting = defaultdict(list)
        for g, entity in enumerate(gold):
            if g not in gold_kinds:
                waiting[key(entity)].append(g)
        for p, entity in enumerate(predicted):
            same = waiting.get(key(entity))
            if p not in predicted_kinds and same:
                pairs.append((same.pop(0), p))
                gold_kinds[pairs[-1][0]] = predicted_kinds[p] = kind
    gold_left = _by_token([e for g, e in enumerate(gold) if g not in gold_kinds])
    found_left = _by_token([e for p, e in enumerate(predicted) if p not in predicted_kinds])
    return Comparison(
        gold,
        predicted,
        [gold_kinds.get(g) or _kind(e, found_left, Kind.MISSED) for g, e in enumerate(gold)],
        [
            predicted_kinds.get(p) or _kind(e, gold_left, Kind.SPURIOUS)
            for p, e in enumerate(predicted)
        ],
        pairs,
    )


def _whole(entity: Entity) -> Hashable:
    return entity


def _bounds(entity: Entity) -> Hashable:
    return entity[:2]


TypesByToken = dict[int, set[str]]
"""Types of the entities that a token is in."""


def _by_token(entities: Sequence[Entity]) -> TypesByToken:
    types: TypesByToken = defaultdict(set)
    for start, end, label in entities:
        for token in range(start, end):
            types[token].add(label)
    return types


def _kind(entity: Entity, others: TypesByToken, alone: Kind) -> Kind:
    """Kind of an entity whose bounds no other has; alone: if it overlaps nothing."""
    start, end, label = entity
    overlapped = set().union(*(others.get(token, ()) for token in range(start, end)))
    if not overlapped:
        return alone
    return Kind.WRONG_BOUNDS if label in overlapped else Kind.WRONG_BOTH
