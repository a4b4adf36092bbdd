"""Records of the spans that confidences belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacy_cascade.features.scored_spans import (
    EARLIER,
    ENTITY,
    FOUND,
    has_entities,
    only_added,
    pack,
    pack_found,
    scored_keys,
    unpack,
)

LABEL = 2**63 + 1
ROWS = [(0, 3, LABEL, 0.5, FOUND), (4, 9, 7, 0.25, ENTITY), (2, 3, 7, 1.0, EARLIER)]
RECORD = pack(ROWS)
KEYS = [row[:3] for row in ROWS[:2]]


def test_a_record_is_what_was_written() -> None:
    assert unpack(RECORD) == ROWS
    assert unpack(pack([])) == []


@pytest.mark.parametrize("is_entity", [True, False, np.array([True, False, True])])
def test_what_was_found_is_divided_among_docs(is_entity: Any) -> None:
    start, end = np.array([0, 4, 1]), np.array([3, 9, 2])
    label = np.array([LABEL, 7, 7], dtype=np.uint64)
    records = pack_found(start, end, label, np.array([0.5, 0.25, 1.0]), is_entity, [2, 0, 1])
    first, second, third = [int(each) for each in np.broadcast_to(is_entity, 3)]
    assert list(map(unpack, records)) == [
        [(0, 3, LABEL, 0.5, first), (4, 9, 7, 0.25, second)], [], [(1, 2, 7, 1.0, third)]
    ]  # fmt: skip


def test_entities_that_could_not_be_added_are_none() -> None:
    record = pack([*ROWS, (10, 11, 7, 0.5, ENTITY)])
    changed = only_added(record, np.array([False, True]))
    assert [row[4] for row in unpack(changed)] == [FOUND, FOUND, EARLIER, ENTITY]
    assert [row[:4] for row in unpack(changed)] == [row[:4] for row in unpack(record)]
    assert only_added(record, None) == record
    assert only_added(b"", np.array([True, False])) == b""


@pytest.mark.parametrize("role", [FOUND, ENTITY, EARLIER])
@pytest.mark.parametrize("place", range(3))
def test_any_row_can_be_an_entity(role: int, place: int) -> None:
    rows = [row[:4] for row in ROWS]
    assert not has_entities(pack((*row, FOUND) for row in rows))
    record = pack((*row, role if i == place else FOUND) for i, row in enumerate(rows))
    assert has_entities(record) == (role != FOUND)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"scored": RECORD, "scores": [0.5, 0.25]}, KEYS),
        ({"scored": RECORD, "scores": np.array([0.5, 0.25])}, KEYS),
        ({"scored": RECORD, "scores": [0.5, 0.75]}, None),
        ({"scored": RECORD, "scores": [0.5, 0.25, 1.0]}, None),
        ({"scored": RECORD}, None),
        ({"scores": [0.5, 0.25]}, None),
        ({}, None),
    ],
)
def test_a_record_counts_with_its_own_scores_alone(
    attributes: dict[str, Any], expected: list[tuple[int, int, int]] | None
) -> None:
    assert scored_keys(attributes) == expected
