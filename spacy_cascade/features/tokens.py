"""Docs as arrays; the tokens of a batch are numbered through, `0 <= t < T`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from spacy.attrs import LOWER, ORTH, POS, SENT_START, TAG
from spacy.tokens import Doc

from ..types import Bools1d, Keys1d, Pointers1d, Reals2d
from .group_spans import BatchGroup, join_groups, read_group

_NO_VALUES, _NO_MARKS = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.bool_)


@dataclass(frozen=True)
class Tokens:
    """The tokens of a batch of Docs.

    words: uint64 `[T]`, spaCy's string hashes. lower, tags, parts_of_speech: the same for
        further attributes, `[0]` where they were not asked for.
    groups: the span groups that were asked for, by their keys.
    sequence_starts: int64 `[N + 1]`; as read, a sequence is a sentence where sentence starts
        are set, else the whole Doc. Docs without tokens have none.
    doc_starts: int64 `[D + 1]`.
    text_of: gives the texts of the words, as the Docs' vocabulary has them; None without Docs.
    has_sentences: bool `[D]`, whether sentence starts are set, as in each Doc of one token.
    vectors: float32 `[T, d]`, as an encoder gives them; None without one.
    """

    words: Keys1d
    lower: Keys1d
    tags: Keys1d
    parts_of_speech: Keys1d
    sequence_starts: Pointers1d
    doc_starts: Pointers1d
    groups: Mapping[str, BatchGroup] = field(default_factory=dict)
    text_of: Callable[[int], str] | None = None
    has_sentences: Bools1d = field(default_factory=lambda: _NO_MARKS)
    vectors: Reals2d | None = None

    def as_documents(self) -> Tokens:
        """The same, with each Doc as one sequence."""
        return replace(self, sequence_starts=np.unique(self.doc_starts))


FURTHER = {"lower": LOWER, "tags": TAG, "parts_of_speech": POS}
"""Fields of `Tokens` that not every template set needs, and spaCy's names for them."""


def read_tokens(
    docs: Sequence[Doc],
    further: Collection[str] = tuple(FURTHER),
    span_keys: Sequence[str] = (),
) -> Tokens:
    """Read a batch of Docs; nothing on them is changed.

    further: fields among `FURTHER` to be read; each takes time. span_keys: of span groups.
    """
    names = [name for name in FURTHER if name in further]
    wanted = [ORTH, SENT_START, *(FURTHER[name] for name in names)]
    rows = [doc.to_array(wanted) for doc in docs]
    table = np.concatenate(rows) if rows else np.zeros((0, len(wanted)), dtype=np.uint64)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    doc_starts = np.append(0, np.cumsum(lengths))
    columns = dict(zip(names, table.T[2:], strict=True))
    first = doc_starts[:-1][lengths > 0]
    is_start, is_marked = table[:, 1] == 1, table[:, 1] != 0
    is_start[first], is_marked[first] = True, False  # whatever is said of them
    n_marked = np.diff(np.append(0, np.cumsum(is_marked))[doc_starts])
    return Tokens(
        words=np.ascontiguousarray(table[:, 0]),
        sequence_starts=np.append(np.flatnonzero(is_start), len(table)),
        doc_starts=doc_starts,
        has_sentences=(n_marked > 0) | (lengths < 2),
        text_of=docs[0].vocab.strings.__getitem__ if docs else None,
        groups={key: read_group(docs, key, doc_starts) for key in span_keys},
        **{name: np.ascontiguousarray(columns.get(name, _NO_VALUES)) for name in FURTHER},
    )


def join_tokens(batches: Sequence[Tokens]) -> Tokens:
    """Several batches as one, in their order."""
    offsets = np.cumsum([0, *(len(batch.words) for batch in batches)])[:-1].tolist()
    return Tokens(
        sequence_starts=_joined_starts([batch.sequence_starts for batch in batches]),
        doc_starts=_joined_starts([batch.doc_starts for batch in batches]),
        has_sentences=np.concatenate([batch.has_sentences for batch in batches]),
        text_of=next((batch.text_of for batch in batches if batch.text_of), None),
        groups={
            key: join_groups([batch.groups[key] for batch in batches], offsets)
            for key in batches[0].groups
        },
        **{
            name: np.concatenate([getattr(batch, name) for batch in batches])
            for name in ("words", *FURTHER)
        },
    )


def _joined_starts(parts: Sequence[Pointers1d]) -> Pointers1d:
    """Starts of several batches, each counted from its own zero, counted through."""
    offsets = np.cumsum([0, *(part[-1] for part in parts)])
    shifted = [part[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
    return np.concatenate([*shifted, offsets[-1:]])
