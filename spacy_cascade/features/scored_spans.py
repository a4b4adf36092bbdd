"""Which spans the confidences of a span group belong to.

spaCy keeps the scores of a group beside its spans, by place: `attrs["scores"]`, as spancat does. A
place says nothing once spans are exchanged, taken out or added. So a component of this package also
writes a record: the characters and the label of each span that it has scored. A record is bytes,
which cost little to copy and to save.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np

from ..types import Bools1d, Floats1d, Keys1d, Pointers1d

CharacterKey: TypeAlias = tuple[int, int, int]
"""First character, end (exclusive) and hash of the label of a span."""
Row: TypeAlias = tuple[int, int, int, float, int]
"""Of a record: a `CharacterKey`, a confidence and a role."""

CONFIDENCE_ATTRIBUTE = "scores"
"""Key of a span group's attributes under which the confidences stand, as in spancat."""
RECORD_ATTRIBUTE = "scored"
"""Key of a span group's attributes with the record of these confidences."""

FOUND, ENTITY, EARLIER = range(3)
"""Roles of a span of a record: in the group; also made an entity by the component that wrote it; an
entity of an earlier group under the same key, which is no longer in the group."""

_ROW = np.dtype(
    [("start", "<i4"), ("end", "<i4"), ("label", "<u8"), ("confidence", "<f8"), ("role", "u1")]
)


def pack(rows: Iterable[Row]) -> bytes:
    """A record of these rows."""
    return np.array(list(rows), dtype=_ROW).tobytes()


def pack_found(
    start: Pointers1d,
    end: Pointers1d,
    label: Keys1d,
    confidence: Floats1d,
    is_entity: Bools1d | bool,
    sizes: Sequence[int],
) -> list[bytes]:
    """Records of spans that were found, one after the other, so many for each of the sizes."""
    rows = np.empty(len(start), dtype=_ROW)
    rows["start"], rows["end"], rows["label"] = start, end, label
    rows["confidence"], rows["role"] = confidence, is_entity  # FOUND is 0, ENTITY 1
    packed, cuts = rows.tobytes(), [0, *accumulate(size * _ROW.itemsize for size in sizes)]
    return [packed[i:j] for i, j in pairwise(cuts)]


def only_added(record: bytes, is_added: Bools1d | None) -> bytes:
    """The record, where only some of its entities could be added to the Doc, None for all."""
    if is_added is None or not record:
        return record
    rows = np.frombuffer(record, dtype=_ROW).copy()
    rows["role"][rows["role"] == ENTITY] = is_added
    changed: bytes = rows.tobytes()
    return changed


def unpack(record: bytes) -> list[Row]:
    """The rows of a record."""
    rows: list[Row] = np.frombuffer(record, dtype=_ROW).tolist()
    return rows


def has_entities(record: bytes) -> bool:
    """Whether any row is an entity, by the last byte of each."""
    return any(record[_ROW.itemsize - 1 :: _ROW.itemsize])


def scored_keys(attributes: Mapping[str, Any]) -> list[CharacterKey] | None:
    """The span of each score of a group, by the attributes of the group.

    None where only places say it: without a record, and where the scores are not those that it was
    written with, so that somebody has set them for the spans as they are.
    """
    record = attributes.get(RECORD_ATTRIBUTE)
    if record is None:
        return None
    rows = [row for row in unpack(record) if row[4] != EARLIER]
    is_as_written = np.asarray(attributes.get(CONFIDENCE_ATTRIBUTE)).tolist() == [
        row[3] for row in rows
    ]
    return [row[:3] for row in rows] if is_as_written else None
