"""Span groups that make their Spans when they are asked for, and stay right after a merge.

spaCy's own group keeps the old numbers of tokens when tokens are merged or split after it was
written (spaCy 3.8): its spans are others then, or reading it raises `IndexError`, also in
`Doc.copy`, `Doc.to_bytes` and `DocBin`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
import srsly
from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc, Span, SpanGroup

from ...parallel import LEXEME_LOCK
from ...types import Keys1d
from .tables import SpanTable, pack, packed_spans, table_of, unpacked

_Waiting: TypeAlias = tuple[SpanTable, slice | None, Keys1d | None]
"""A table, the part of it that a group has, and labels instead of those of the part."""


class LastingGroup(SpanGroup):
    """A group whose spans are known by their characters.

    Its spans stand in a table until somebody looks at them: most are only handed on to the next
    component, or read from `doc.ents`. When the number of tokens of the Doc has changed, they are
    numbered anew. A span that no longer begins and ends where tokens do has all tokens that it
    touches.

    is_as_written: whether no span was exchanged, taken out or added. is_renumbered: whether the
    number of tokens has changed since it was written.
    """

    def __init__(
        self, doc: Doc, *, name: str, table: SpanTable, attrs: dict[str, Any],
        part: slice | None = None,
    ) -> None:  # fmt: skip
        """part: the spans of the table that the group has, from `start` to `stop`; all if None."""
        super().__init__(doc, name=name, attrs=attrs)
        self._waiting: _Waiting | None = (table, part, None)
        self._n_tokens, self.is_renumbered = len(doc), False
        self.is_as_written = True

    @property
    def table(self) -> SpanTable:
        """The spans, as they are now."""
        self._renumber()
        table = self._unmade()
        return table_of(list(self)) if table is None else table

    def relabel(self, label: Keys1d) -> bool:
        """Give the spans other labels, uint64 `[P]`; whether that was done.

        It is not where the Spans were made, which somebody may hold.
        """
        waiting = self._waiting
        if waiting is None:
            return False
        table, part, _ = waiting
        self._waiting = table, part, label
        return True

    @property
    def n_spans(self) -> int:
        """As `len`, without making them."""
        waiting = self._waiting
        return len(self) if waiting is None else _n_waiting(waiting)

    def __len__(self) -> int:
        if not self._is_alone:
            self._make()
        waiting = self._waiting
        return super().__len__() if waiting is None else _n_waiting(waiting)

    def __getitem__(self, i: int) -> Span:
        self._make()
        return super().__getitem__(i)

    def __setitem__(self, i: int, span: Span) -> None:
        self._make()
        self.is_as_written = False
        super().__setitem__(i, span)  # type: ignore[misc]

    def __delitem__(self, i: int) -> None:
        """Take a span out of the group.

        Not as spaCy does (3.8): that takes out the span before it, and writes outside of its memory
        where it is the first one.
        """
        self._make()
        self.is_as_written = False
        kept: list[int] = list(range(super().__len__()))
        del kept[self._normalize_index(i)]  # type: ignore[attr-defined]
        self._wait(self.table.take(np.array(kept, dtype=np.int64)))

    def __iter__(self) -> Iterator[Span]:
        self._make()
        spans: Iterator[Span] = super().__iter__()
        return spans

    def append(self, span: Span) -> None:
        """Add a span."""
        self._make()
        self.is_as_written = False
        super().append(span)

    def copy(self, doc: Doc | None = None) -> SpanGroup:
        """The group on another Doc. On one of the same tokens, the spans are not made for that.

        spaCy's own group cannot be copied where a merge has swallowed the bounds of a span.
        """
        own = self.doc
        doc = own if doc is None else doc
        if doc is not own and not _are_alike(doc, own):
            return super().copy(doc)
        attributes = deepcopy(self.attrs)
        copied = LastingGroup(doc, name=self.name, table=self.table, attrs=attributes)
        copied.is_renumbered, copied.is_as_written = self.is_renumbered, self.is_as_written
        return copied

    def _concat(self, other: SpanGroup | Iterable[Span], *, inplace: bool = False) -> SpanGroup:
        if not inplace:
            return self.copy()._concat(other, inplace=True)  # type: ignore[attr-defined,no-any-return]
        self._make()
        self.is_as_written = False
        joined: SpanGroup = super()._concat(other, inplace=True)  # type: ignore[misc]
        return joined

    def to_bytes(self) -> bytes:
        """The group with its attributes."""
        if not self._is_alone:
            self._renumber()
        table = self._unmade()
        if table is not None:
            return _bytes(pack(table), self.name, self.attrs)
        data: bytes = super().to_bytes()
        return data

    def from_bytes(self, bytes_data: bytes) -> SpanGroup:
        """Take over what `to_bytes` wrote."""
        self._waiting, self.is_as_written = None, False
        self._n_tokens = len(self.doc)
        return super().from_bytes(bytes_data)

    @property
    def _is_alone(self) -> bool:
        """Whether the Doc is gone, without which there are no Spans."""
        return self._doc_ref() is None  # type: ignore[attr-defined]

    def _wait(self, table: SpanTable) -> None:
        """Have these spans, and no Spans of them yet."""
        name, attrs = self.name, self.attrs
        super().from_bytes(_bytes([]))  # also takes the name and the attributes
        self.name, self.attrs, self._waiting = name, attrs, (table, None, None)

    def _unmade(self) -> SpanTable | None:
        """The spans of which no Spans were made yet.

        They are not kept: another thread may make the Spans meanwhile, which would then be doubled.
        """
        waiting = self._waiting
        if waiting is None:
            return None
        table, part, label = waiting
        table = table if part is None else table.take(part)
        return table if label is None else table.with_labels(label)

    def _make(self) -> None:
        """Give spaCy's group its Spans, with the numbers that the tokens have now."""
        if self._waiting is None and len(self.doc) == self._n_tokens:
            return
        with LEXEME_LOCK:  # another thread may read the same Doc
            self._renumber()
            table, doc = self._unmade(), self.doc
            if table is not None:
                made = _filled(doc, table) if self.is_renumbered else table.spans(doc)
                super()._concat(made, inplace=True)  # type: ignore[misc]
                self._waiting = None

    def _renumber(self) -> None:
        doc = self.doc
        if len(doc) == self._n_tokens:
            return
        self._n_tokens, self.is_renumbered = len(doc), True
        table = self._unmade()
        if table is None:
            table = unpacked(packed_spans(self))
            self._wait(table)
        begins = np.array([token.idx for token in doc], dtype=np.int64)
        start = np.searchsorted(begins, table.start_char, side="right") - 1
        end = np.maximum(np.searchsorted(begins, table.end_char, side="left"), start + 1)
        self._waiting = table._replace(start=start, end=end), None, None


def _n_waiting(waiting: _Waiting) -> int:
    table, part, _ = waiting
    n_spans: int = table.n_spans if part is None else part.stop - part.start
    return n_spans


def _bytes(packed: list[bytes], name: str = "", attrs: dict[str, Any] | None = None) -> bytes:
    """A group as spaCy reads it."""
    data: bytes = srsly.msgpack_dumps({"name": name, "attrs": attrs or {}, "spans": packed})
    return data


def _are_alike(doc: Doc, other: Doc) -> bool:
    """Whether Docs have the same tokens, and one table of strings."""
    if doc.vocab is not other.vocab or len(doc) != len(other):
        return False
    bounds = [IDX, LENGTH]
    return np.array_equal(doc.to_array(bounds), other.to_array(bounds))


def _filled(doc: Doc, table: SpanTable) -> SpanGroup:
    """Spans that keep their characters, whatever those of their tokens are; slow."""
    return SpanGroup(doc).from_bytes(_bytes(pack(table)))


def table_of_group(group: SpanGroup) -> SpanTable:
    """The spans of any group; those of a `LastingGroup` are not made for that."""
    if isinstance(group, LastingGroup):
        return group.table
    try:
        return table_of(list(group))
    except IndexError:  # tokens were merged after the group was written
        return unpacked(packed_spans(group))


def size_of(group: SpanGroup) -> int:
    """The number of spans, which are not made for that."""
    return group.n_spans if isinstance(group, LastingGroup) else len(group)
