"""Spans of a Doc as arrays, with all that spaCy keeps of a span.

Components hand spans on in this form: it takes a twentieth of the time of `Span` objects, which are
made where somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import srsly
from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc, Span, SpanGroup

from ...types import Bools1d, Keys1d, Pointers1d, Pointers2d

PACKED = np.dtype(
    [("id", ">u8"), ("kb_id", ">u8"), ("label", ">u8"), ("start", ">i4"), ("end", ">i4"),
     ("start_char", ">i4"), ("end_char", ">i4")]
)  # fmt: skip
"""A span as `SpanGroup.to_bytes` of spaCy 3.8 packs it."""
_CHARACTERS = [IDX, LENGTH]
_TYPES = [np.int64] * 4 + [np.uint64] * 3
"""Of the columns of a `SpanTable`."""


class SpanKeys(NamedTuple):
    """What spans of a Doc are compared by.

    start, end (exclusive): int64 `[P]`. label: uint64 `[P]`, hashes.
    """

    start: Pointers1d
    end: Pointers1d
    label: Keys1d

    def take(self, chosen: Bools1d | Pointers1d | slice) -> SpanKeys:
        """Some of the spans, by a mask, by numbers or by a slice."""
        return SpanKeys(self.start[chosen], self.end[chosen], self.label[chosen])


class SpanTable(NamedTuple):
    """Spans of a Doc.

    start, end (exclusive): numbers of tokens, int64 `[P]`. start_char, end_char (exclusive): int64
    `[P]`. label, kb_id, id: spaCy's hashes, uint64 `[P]`.
    """

    start: Pointers1d
    end: Pointers1d
    start_char: Pointers1d
    end_char: Pointers1d
    label: Keys1d
    kb_id: Keys1d
    id: Keys1d

    @property
    def n_spans(self) -> int:
        """Number of spans."""
        return len(self.start)

    @property
    def bounds(self) -> Pointers2d:
        """Start and end of each span, int64 `[P, 2]`."""
        return np.stack([self.start, self.end], axis=1)

    @property
    def keys(self) -> SpanKeys:
        """Start, end and label of each span."""
        return SpanKeys(self.start, self.end, self.label)

    def take(self, chosen: Bools1d | Pointers1d | slice) -> SpanTable:
        """Some of the spans, by a mask, by numbers or by a slice."""
        start, end, start_char, end_char, label, kb_id, own_id = self
        return SpanTable(
            start[chosen], end[chosen], start_char[chosen], end_char[chosen],
            label[chosen], kb_id[chosen], own_id[chosen],
        )  # fmt: skip

    def with_labels(self, label: Keys1d) -> SpanTable:
        """The same spans with other labels, uint64 `[P]`."""
        return SpanTable(*self[:4], label, *self[5:])

    def spans(self, doc: Doc) -> list[Span]:
        """`Span` objects; the characters are those of the tokens."""
        rows = zip(*(c.tolist() for c in (*self[:2], *self[4:])), strict=True)
        return [Span(doc, s, e, label, kb_id=kb, span_id=own) for s, e, label, kb, own in rows]


def new_table(doc: Doc, start: Pointers1d, end: Pointers1d, label: Keys1d) -> SpanTable:
    """Spans of a Doc that are in no knowledge base; label: uint64 `[P]`, hashes."""
    (table,) = new_tables([doc], [len(start)], start, end, label)
    return table


def characters_of(docs: Sequence[Doc]) -> Pointers2d:
    """First character and length of each token of Docs, one after the other, int64 `[T, 2]`."""
    read = [doc.to_array(_CHARACTERS) for doc in docs]
    return np.concatenate([np.zeros((0, 2), dtype=np.uint64), *read]).astype(np.int64)


def new_tables(
    docs: Sequence[Doc],
    n_spans: Sequence[int] | Pointers1d,
    start: Pointers1d,
    end: Pointers1d,
    label: Keys1d,
    characters: Pointers2d | None = None,
) -> list[SpanTable]:
    """Spans of Docs that are in no knowledge base, for each Doc.

    n_spans: of each Doc. start, end, label: of the spans of all Docs, one after the other; tokens
    counted in each Doc. characters: `characters_of` the Docs, for who needs it more than once.
    """
    none = np.zeros(len(start), dtype=np.uint64)
    characters = characters_of(docs) if characters is None else characters
    offsets = np.repeat(np.cumsum([0, *map(len, docs)])[:-1], n_spans)
    start_char = characters[start + offsets, 0]
    end_char = characters[end + offsets - 1].sum(axis=1)
    return split_table(SpanTable(start, end, start_char, end_char, label, none, none), n_spans)


def find_spans(spans: SpanKeys, others: SpanKeys) -> Pointers1d:
    """Which of the others each span is, the last one of equals, or -1; int64 `[P]`."""
    n_others = len(others.start)
    start, end, label = map(np.concatenate, zip(others, spans, strict=True))
    order = np.lexsort((label, end, start))
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = False
    for column in (start, end, label):
        is_new[1:] |= column[order[1:]] != column[order[:-1]]
    run = np.cumsum(is_new) - 1
    is_other = order < n_others
    other_of = np.full(is_new.sum(), -1)
    other_of[run[is_other]] = order[is_other]
    found = np.empty(len(order), dtype=np.int64)
    found[order] = other_of[run]
    return found[n_others:]


def join_tables(tables: Sequence[SpanTable]) -> SpanTable:
    """The spans of Docs one after the other, counted in each Doc as before."""
    if not tables:
        return table_of([])
    return _table(map(np.concatenate, zip(*tables, strict=True)))


def split_table(table: SpanTable, n_spans: Sequence[int] | Pointers1d) -> list[SpanTable]:
    """Its first spans, the next ones, …; n_spans: how many each part has."""
    cuts = np.cumsum([0, *n_spans]).tolist()
    return [table.take(slice(i, j)) for i, j in pairwise(cuts)]


def table_of(spans: Sequence[Span]) -> SpanTable:
    """That of `Span` objects."""
    rows = [(s.start, s.end, s.start_char, s.end_char, s.label, s.kb_id, s.id) for s in spans]
    columns = list(zip(*rows, strict=True)) or [()] * len(SpanTable._fields)
    return _table(np.array(column, dtype=_TYPES[i]) for i, column in enumerate(columns))


def packed_spans(group: SpanGroup) -> npt.NDArray[np.void]:
    """The spans of a group as a table, with the numbers of tokens that the group has.

    spaCy cannot make Spans of numbers of tokens from before a merge, so they are read from bytes.
    """
    bare = SpanGroup(group.doc, name=group.name)
    bare.extend(group)
    bare.attrs.clear()
    packed = srsly.msgpack_loads(bare.to_bytes())["spans"]
    return np.frombuffer(bytearray().join(packed), dtype=PACKED)


def unpacked(packed: npt.NDArray[np.void]) -> SpanTable:
    """The table of packed spans."""
    return _table(packed[name].astype(_TYPES[i]) for i, name in enumerate(SpanTable._fields))


def _table(columns: Iterable[npt.NDArray[Any]]) -> SpanTable:
    return SpanTable(*columns)


def pack(table: SpanTable) -> list[bytes]:
    """Each span as `SpanGroup.from_bytes` reads it."""
    packed = np.empty(table.n_spans, dtype=PACKED)
    for name, column in zip(SpanTable._fields, table, strict=True):
        packed[name] = column
    return [row.tobytes() for row in packed]
