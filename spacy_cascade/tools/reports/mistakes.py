"""Gold and predicted entities side by side: kinds of mistakes, scores, confusion of types."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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


@dataclass(frozen=True)
class Score:
    """Counts of entities and the scores that follow from them, 0 instead of 0/0."""

    n_right: int
    n_gold: int
    n_predicted: int

    @property
    def precision(self) -> float:
        return _share(self.n_right, self.n_predicted)

    @property
    def recall(self) -> float:
        return _share(self.n_right, self.n_gold)

    @property
    def f1(self) -> float:
        return _share(2 * self.n_right, self.n_gold + self.n_predicted)


@dataclass(frozen=True)
class Scores:
    """all: entities with their types. untyped: bounds alone. by_type: in alphabetical order."""

    all: Score
    untyped: Score
    by_type: dict[str, Score]

    @property
    def types_right(self) -> float:
        """Share of the entities with right bounds that have the right type."""
        return _share(self.all.n_right, self.untyped.n_right)


def count_scores(comparisons: Sequence[Comparison]) -> Scores:
    """Count right, wrong and missing entities by label."""
    gold = Counter(label for found in comparisons for _, _, label in found.gold)
    predicted = Counter(label for found in comparisons for _, _, label in found.predicted)
    right = Counter(
        label
        for found in comparisons
        for (_, _, label), kind in zip(found.gold, found.gold_kinds, strict=True)
        if kind is Kind.RIGHT
    )
    n_gold, n_predicted = gold.total(), predicted.total()
    n_pairs = sum(len(found.pairs) for found in comparisons)
    return Scores(
        Score(right.total(), n_gold, n_predicted),
        Score(n_pairs, n_gold, n_predicted),
        {t: Score(right[t], gold[t], predicted[t]) for t in sorted(gold.keys() | predicted.keys())},
    )


@dataclass(frozen=True)
class Confusion:
    """Types of gold entities against those of predicted entities with the same bounds.

    types: in alphabetical order. counts: by gold and predicted type; None means that there is no
    entity with these bounds. totals: by gold type.
    """

    types: list[str]
    counts: Mapping[tuple[str | None, str | None], int]
    totals: Mapping[str | None, int]

    def share(self, gold: str | None, predicted: str | None) -> float:
        """Share of a row; the row None has the predicted entities without a gold partner."""
        return _share(self.counts.get((gold, predicted), 0), self.totals.get(gold, 0))

    @property
    def mixed(self) -> list[tuple[tuple[str | None, str | None], int]]:
        """Counts of pairs of two types that are not the same, the most frequent first."""
        pairs = [pair for pair in self.counts if None not in pair and pair[0] != pair[1]]
        return sorted(((pair, self.counts[pair]) for pair in pairs), key=lambda one: -one[1])


def count_confusion(comparisons: Iterable[Comparison]) -> Confusion:
    """Count which label was given to entities of each label."""
    counts: Counter[tuple[str | None, str | None]] = Counter()
    types: set[str] = set()
    for found in comparisons:
        gold, predicted = ([e[2] for e in side] for side in (found.gold, found.predicted))
        types.update(gold, predicted)
        counts.update((gold[g], predicted[p]) for g, p in found.pairs)
        paired_gold, paired_predicted = ({pair[i] for pair in found.pairs} for i in (0, 1))
        counts.update((t, None) for g, t in enumerate(gold) if g not in paired_gold)
        counts.update((None, t) for p, t in enumerate(predicted) if p not in paired_predicted)
    totals: Counter[str | None] = Counter()
    for (of_gold, _), n in counts.items():
        totals[of_gold] += n
    return Confusion(sorted(types), counts, totals)


@dataclass(frozen=True)
class KindCount:
    """Number and shares of the entities of one kind, and the F1 if they were all corrected."""

    kind: Kind
    n_gold: int
    n_predicted: int
    gold_share: float
    predicted_share: float
    corrected_f1: float


def count_kinds(comparisons: Sequence[Comparison]) -> list[KindCount]:
    """The kinds in the order of `Kind`.

    To correct a kind means to replace its predicted entities with its gold entities: missed
    entities are added, spurious ones removed, and overlapping ones replaced.
    """
    gold = Counter(kind for found in comparisons for kind in found.gold_kinds)
    predicted = Counter(kind for found in comparisons for kind in found.predicted_kinds)
    n_gold, n_predicted = gold.total(), predicted.total()
    counts = []
    for kind in Kind:
        is_mistake = kind is not Kind.RIGHT
        corrected = Score(
            gold[Kind.RIGHT] + is_mistake * gold[kind],
            n_gold,
            n_predicted + is_mistake * (gold[kind] - predicted[kind]),
        )
        shares = _share(gold[kind], n_gold), _share(predicted[kind], n_predicted)
        counts.append(KindCount(kind, gold[kind], predicted[kind], *shares, corrected.f1))
    return counts


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
