"""Every entity has one kind, and the kinds are what a reader would call them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.tools.reports.mistakes import Entity, Kind, compare
from strategies import entities

RIGHT, TYPE, BOUNDS, BOTH = Kind.RIGHT, Kind.WRONG_TYPE, Kind.WRONG_BOUNDS, Kind.WRONG_BOTH
MISSED, SPURIOUS = Kind.MISSED, Kind.SPURIOUS

CASES = [
    ([], [], [], []),
    ([(0, 2, "a")], [(0, 2, "a")], [RIGHT], [RIGHT]),
    ([(0, 2, "a")], [(0, 2, "b")], [TYPE], [TYPE]),
    ([(0, 2, "a")], [(0, 1, "a")], [BOUNDS], [BOUNDS]),
    ([(0, 2, "a")], [(1, 3, "b")], [BOTH], [BOTH]),
    ([(0, 2, "a")], [(2, 3, "a")], [MISSED], [SPURIOUS]),
    ([(0, 2, "a")], [], [MISSED], []),
    ([], [(0, 2, "a")], [], [SPURIOUS]),
    # One that is split: both parts overlap it, one of them with its type.
    ([(0, 4, "a")], [(0, 2, "b"), (2, 4, "a")], [BOUNDS], [BOTH, BOUNDS]),
    # Two that are joined.
    ([(0, 2, "a"), (2, 4, "b")], [(0, 4, "b")], [BOTH, BOUNDS], [BOUNDS]),
    # What is found twice is right once, and its double overlaps nothing that is left.
    ([(0, 2, "a")], [(0, 2, "b"), (0, 2, "a")], [RIGHT], [SPURIOUS, RIGHT]),
    ([(0, 2, "a")], [(0, 2, "a"), (1, 2, "a")], [RIGHT], [RIGHT, SPURIOUS]),
]


@pytest.mark.parametrize(("gold", "predicted", "gold_kinds", "predicted_kinds"), CASES)
def test_kinds_by_hand(
    gold: list[Entity],
    predicted: list[Entity],
    gold_kinds: list[Kind],
    predicted_kinds: list[Kind],
) -> None:
    found = compare(gold, predicted)
    assert found.gold_kinds == gold_kinds
    assert found.predicted_kinds == predicted_kinds
    assert found.has_mistakes == ({*gold_kinds, *predicted_kinds} - {RIGHT} != set())


def slow_kind(entity: Entity, others: list[Entity], alone: Kind) -> Kind:
    """Kind of an entity among those of the other side, none of which overlap each other."""
    start, end, label = entity
    overlapping = [other for other in others if other[0] < end and start < other[1]]
    if not overlapping:
        return alone
    has_bounds = any(other[:2] == (start, end) for other in overlapping)
    has_type = any(other[2] == label for other in overlapping)
    if has_bounds:
        return RIGHT if has_type else TYPE
    return BOUNDS if has_type else BOTH


@given(entities(), entities())
def test_every_entity_has_the_kind_of_its_definition(
    gold: list[Entity], predicted: list[Entity]
) -> None:
    found = compare(gold, predicted)
    assert found.gold_kinds == [slow_kind(e, predicted, MISSED) for e in gold]
    assert found.predicted_kinds == [slow_kind(e, gold, SPURIOUS) for e in predicted]
    same = [(g, p) for g, a in enumerate(gold) for p, b in enumerate(predicted) if a[:2] == b[:2]]
    assert sorted(found.pairs) == same


@given(entities(), st.lists(st.tuples(st.integers(0, 4), st.integers(5, 8), st.just("cell"))))
def test_entities_that_overlap_have_one_kind_too(
    gold: list[Entity], predicted: list[Entity]
) -> None:
    found = compare(gold, predicted)
    assert len(found.gold_kinds) == len(gold)
    assert len(found.predicted_kinds) == len(predicted)
    for kind in (RIGHT, TYPE):
        assert found.gold_kinds.count(kind) == found.predicted_kinds.count(kind)
    assert MISSED not in found.predicted_kinds
    assert SPURIOUS not in found.gold_kinds
