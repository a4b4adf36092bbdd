"""Gold and predicted entities of a Doc side by side: each is right, or a mistake of one kind."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

Entity = tuple[int, int, str]
"""Start, end (exclusive) and type of an entity."""
TypesByToken = dict[int, set[str]]
"""For each token, the types of the entities that contain it."""


class Kind(Enum):
    """Each gold and each predicted entity has exactly one kind."""

    RIGHT = "right"
    WRONG_TYPE = "wrong type"
    WRONG_BOUNDS = "wrong bounds"
    WRONG_BOTH = "wrong bounds and type"
    MISSED = "missed"
    SPURIOUS = "spurious"


@dataclass(frozen=True)
class Comparison:
    """The entities of a Doc and their kinds.

    gold, predicted: in the order given. gold_kinds, predicted_kinds: the kind of each. pairs:
    numbers of a gold and a predicted entity with the same bounds; each is in one pair at most.
    """

    gold: Sequence[Entity]
    predicted: Sequence[Entity]
    gold_kinds: list[Kind]
    predicted_kinds: list[Kind]
    pairs: list[tuple[int, int]]

    @property
    def has_mistakes(self) -> bool:
        return any(kind is not Kind.RIGHT for kind in (*self.gold_kinds, *self.predicted_kinds))


def compare(gold: Sequence[Entity], predicted: Sequence[Entity]) -> Comparison:
    """Compare the entities of one Doc.

    Entities with the same bounds and type are paired first, then those with the same bounds.
    Among the remaining entities, a gold and a predicted entity that overlap have wrong bounds;
    their type is right if they overlap an entity of their own type. An entity that overlaps none
    of the remaining ones is missed or spurious.
    """
    gold_kinds: dict[int, Kind] = {}
    predicted_kinds: dict[int, Kind] = {}
    pairs = []
    for kind, n_equal in ((Kind.RIGHT, 3), (Kind.WRONG_TYPE, 2)):
        waiting: dict[tuple[int | str, ...], list[int]] = defaultdict(list)
        for g, entity in enumerate(gold):
            if g not in gold_kinds:
                waiting[entity[:n_equal]].append(g)
        for p, entity in enumerate(predicted):
            same = waiting.get(entity[:n_equal])
            if p not in predicted_kinds and same:
                pairs.append((same.pop(0), p))
                gold_kinds[pairs[-1][0]] = predicted_kinds[p] = kind
    left = [
        _by_token([entity for i, entity in enumerate(entities) if i not in kinds])
        for entities, kinds in ((predicted, predicted_kinds), (gold, gold_kinds))
    ]
    of_gold = [gold_kinds.get(g) or _kind(e, left[0], Kind.MISSED) for g, e in enumerate(gold)]
    of_predicted = [
        predicted_kinds.get(p) or _kind(e, left[1], Kind.SPURIOUS) for p, e in enumerate(predicted)
    ]
    return Comparison(gold, predicted, of_gold, of_predicted, pairs)


def _by_token(entities: Sequence[Entity]) -> TypesByToken:
    types: TypesByToken = defaultdict(set)
    for start, end, label in entities:
        for token in range(start, end):
            types[token].add(label)
    return types


def _kind(entity: Entity, others: TypesByToken, alone: Kind) -> Kind:
    """Kind of an entity without a partner; alone: its kind if it overlaps nothing."""
    start, end, label = entity
    overlapped = set().union(*(others.get(token, ()) for token in range(start, end)))
    if not overlapped:
        return alone
    return Kind.WRONG_BOUNDS if label in overlapped else Kind.WRONG_BOTH
