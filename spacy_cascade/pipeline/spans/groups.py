"""Span groups that make their Spans when they are asked for, and stay right after a merge.

spaCy's own group keeps the old numbers of tokens when tokens are merged or split after it was
written (spaCy 3.8): its spans are others then, or reading it raises `IndexError`, also in
`Doc.copy`, `Doc.to_bytes` and `DocBin`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import srsly
from spacy.tokens import Doc, Span, SpanGroup

from ...parallel import LEXEME_LOCK
from ...types import Keys1d
from .tables import SpanTable, pack, packed_spans, table_of, unpacked


class LastingGroup(SpanGroup):
    """A group whose spans are known by their characters.

    Its spans stand in a table until somebody looks at them: most are only handed on to the next
    component, or read from `doc.ents`. When the number of tokens of the Doc has changed, they are
    numbered anew. A span that no longer begins and ends where tokens do has all tokens that it
    touches.
    """

    def __init__(self, doc: Doc, *, name: str, table: SpanTable, attrs: dict[str, Any]) -> None:
        super().__init__(doc, name=name, attrs=attrs)
        self._waiting: SpanTable | None = table
        self._n_tokens, self._is_renumbered = len(doc), False

    @property
    def table(self) -> SpanTable:
        """The spans, as they are now."""
        self._renumber()
        return self._waiting if self._waiting is not None else table_of(list(self))

    def relabel(self, label: Keys1d) -> bool:
        """Give the spans other labels, uint64 `[P]`; whether that was done.

        It is not where the Spans were made, which somebody may hold.
        """
        if self._waiting is None:
            return False
        self._waiting = self._waiting.with_labels(label)
        return True

    @property
    def n_spans(self) -> int:
        """As `len`, without making them."""
        return len(self) if self._waiting is None else self._waiting.n_spans

    def __len__(self) -> int:
        is_alone = self._doc_ref() is None  # type: ignore[attr-defined]
        if self._waiting is not None and is_alone:
            return self._waiting.n_spans  # spaCy's group has a length even then
        self._make()
        return super().__len__()

    def __getitem__(self, i: int) -> Span:
        self._make()
        return super().__getitem__(i)

    def __setitem__(self, i: int, span: Span) -> None:
        self._make()
        super().__setitem__(i, span)  # type: ignore[misc]

    def __delitem__(self, i: int) -> None:
        self._make()
        super().__delitem__(i)  # type: ignore[misc]

    def __iter__(self) -> Iterator[Span]:
        self._make()
        spans: Iterator[Span] = super().__iter__()
        return spans

    def append(self, span: Span) -> None:
        self._make()
        super().append(span)

    def _concat(self, other: SpanGroup | Iterable[Span], *, inplace: bool = False) -> SpanGroup:
        self._make()
        joined: SpanGroup = super()._concat(other, inplace=inplace)  # type: ignore[misc]
        return joined

    def to_bytes(self) -> bytes:
        self._make()
        data: bytes = super().to_bytes()
        return data

    def from_bytes(self, bytes_data: bytes) -> SpanGroup:
        self._waiting = None
        self._n_tokens = len(self.doc)
        return super().from_bytes(bytes_data)

    def _make(self) -> None:
        """Give spaCy's group its Spans, with the numbers that the tokens have now."""
        if self._waiting is None and len(self.doc) == self._n_tokens:
            return
        with LEXEME_LOCK:  # another thread may read the same Doc
            self._renumber()
            if self._waiting is not None:
                table, doc = self._waiting, self.doc
                made = _filled(doc, table) if self._is_renumbered else table.spans(doc)
                super()._concat(made, inplace=True)  # type: ignore[misc]
                self._waiting = None

    def _renumber(self) -> None:
        doc = self.doc
        if len(doc) == self._n_tokens:
            return
        self._n_tokens, self._is_renumbered = len(doc), True
        table = self._waiting
        if table is None:
            table, name, attrs = unpacked(packed_spans(self)), self.name, self.attrs
            super().from_bytes(_bytes([]))  # also takes the name and the attributes
            self.name, self.attrs = name, attrs
        begins = np.array([token.idx for token in doc], dtype=np.int64)
        start = np.searchsorted(begins, table.start_char, side="right") - 1
        end = np.maximum(np.searchsorted(begins, table.end_char, side="left"), start + 1)
        self._waiting = table._replace(start=start, end=end)


def _bytes(packed: list[bytes]) -> bytes:
    """A group without name and attributes, as spaCy reads it."""
    data: bytes = srsly.msgpack_dumps({"name": "", "attrs": {}, "spans": packed})
    return data


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
