"""Span groups that stay right when tokens are merged or split after they were written.

spaCy's own group keeps the old numbers of tokens then (spaCy 3.8): its spans are others, or reading
it raises `IndexError`, also in `Doc.copy`, `Doc.to_bytes` and `DocBin`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import srsly
from spacy.tokens import Doc, Span, SpanGroup

_PACKED = np.dtype(
    [("id", ">u8"), ("kb_id", ">u8"), ("label", ">u8"), ("start", ">i4"), ("end", ">i4"),
     ("start_char", ">i4"), ("end_char", ">i4")]
)  # fmt: skip
"""A span as `SpanGroup.to_bytes` of spaCy 3.8 packs it."""


class LastingGroup(SpanGroup):
    """A group whose spans are known by their characters.

    When the number of tokens of the Doc has changed, its spans are numbered anew as they are read.
    A span that no longer begins and ends where tokens do has all tokens that it touches.
    """

    def __init__(
        self, doc: Doc, *, name: str, spans: Iterable[Span], attrs: dict[str, Any]
    ) -> None:
        super().__init__(doc, name=name, spans=spans, attrs=attrs)
        self._n_tokens = len(doc)

    def __getitem__(self, i: int) -> Span:
        self._renumber()
        return super().__getitem__(i)

    def __iter__(self) -> Iterator[Span]:
        self._renumber()
        spans: Iterator[Span] = super().__iter__()
        return spans

    def to_bytes(self) -> bytes:
        self._renumber()
        data: bytes = super().to_bytes()
        return data

    def _renumber(self) -> None:
        doc = self.doc
        if len(doc) == self._n_tokens:
            return
        self._n_tokens = len(doc)
        table = packed_spans(self)
        begins = np.array([token.idx for token in doc], dtype=np.int64)
        table["start"] = np.searchsorted(begins, table["start_char"], side="right") - 1
        table["end"] = np.maximum(
            np.searchsorted(begins, table["end_char"], side="left"), table["start"] + 1
        )
        # `from_bytes` takes the name and the attributes, too.
        spans = [row.tobytes() for row in table]
        attrs, empty = self.attrs, {"name": self.name, "attrs": {}, "spans": spans}
        self.from_bytes(srsly.msgpack_dumps(empty))
        self.attrs = attrs


def packed_spans(group: SpanGroup) -> npt.NDArray[np.void]:
    """The spans of a group as a table, with the numbers of tokens that the group has.

    Columns: id, kb_id and label, hashes; start, end, start_char, end_char. spaCy cannot make Spans
    of numbers of tokens from before a merge, so they are read from bytes.
    """
    bare = SpanGroup(group.doc, name=group.name)
    bare.extend(group)
    bare.attrs.clear()
    packed = srsly.msgpack_loads(bare.to_bytes())["spans"]
    return np.frombuffer(bytearray().join(packed), dtype=_PACKED)
