"""Docs as arrays; the tokens of a batch are numbered through, `0 <= t < T`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from spacy.attrs import LOWER, ORTH, POS, SENT_START, TAG
from spacy.tokens import Doc

from ..types import Ints1d, Keys1d, Pointers1d
from .abbreviations import Abbreviations, join_abbreviations
from .group_spans import GroupSpans, join_groups, read_group
from .long_forms import link_abbreviations
from .strings import hash_string
from .word_vectors import WordVectors


@dataclass(frozen=True)
class Tokens:
    """The tokens of a batch of Docs.

    words: uint64 `[T]`, spaCy's string hashes. lower, tags, parts_of_speech: the same for
        further attributes, `[0]` where they were not asked for.
    spans: for each key of a span group that was asked for, values of the tags of its spans
        (`span_values`).
    groups: for each of these keys, the spans themselves, counted from the first token.
    sequence_starts: int64 `[N + 1]`; a sequence is a sentence where sentence starts are
        set, else the whole Doc. Docs without tokens have none.
    doc_starts: int64 `[D + 1]`.
    abbreviations: those that the Docs explain, none where no template looks at them.
    vectors: of the component's vocabulary; None where it has none.
    text_of: gives the texts of the words, as the Docs' vocabulary has them; None without Docs.
    """

    words: Keys1d
    lower: Keys1d
    tags: Keys1d
    parts_of_speech: Keys1d
    sequence_starts: Pointers1d
    doc_starts: Pointers1d
    spans: Mapping[str, Keys1d] = field(default_factory=dict)
    abbreviations: Abbreviations = field(default_factory=Abbreviations.none)
    vectors: WordVectors | None = None
    groups: Mapping[str, GroupSpans] = field(default_factory=dict)
    text_of: Callable[[int], str] | None = None

    @cached_property
    def abbreviation_of(self) -> Ints1d:
        """Number of the abbreviation that each token is or is part of, int32 `[T]`, -1 for none."""
        starts = self.sequence_starts, self.doc_starts
        return link_abbreviations(self.words, *starts, self.abbreviations)


_NO_VALUES = np.zeros(0, dtype=np.uint64)
OUTSIDE = hash_string("O")

FURTHER = {"lower": LOWER, "tags": TAG, "parts_of_speech": POS}
"""Fields of `Tokens` that not every template set needs, and spaCy's names for them."""
ABBREVIATIONS = "abbreviations"
"""A further one, which is found afterwards (`FeatureSpace.with_abbreviations`)."""


def read_tokens(
    docs: Sequence[Doc],
    further: Collection[str] = tuple(FURTHER),
    span_keys: Sequence[str] = (),
    vectors: WordVectors | None = None,
) -> Tokens:
    """Read a batch of Docs; nothing on them is changed.

    further: fields among `FURTHER` to be read; each takes time. span_keys: of span groups.
    vectors: become part of the tokens.
    """
    names = [name for name in FURTHER if name in further]
    wanted = [ORTH, SENT_START, *(FURTHER[name] for name in names)]
    rows = [doc.to_array(wanted) for doc in docs]
    table = np.concatenate(rows) if rows else np.zeros((0, len(wanted)), dtype=np.uint64)
    lengths = [len(row) for row in rows]
    doc_starts = np.cumsum([0, *lengths], dtype=np.int64)
    columns = dict(zip(names, table.T[2:], strict=True))
    is_start = table[:, 1] == 1
    is_start[doc_starts[:-1][np.array(lengths, dtype=np.int64) > 0]] = True
    return Tokens(
        words=np.ascontiguousarray(table[:, 0]),
        sequence_starts=np.append(np.flatnonzero(is_start), len(table)),
        doc_starts=doc_starts,
        spans={
            key: np.concatenate([_NO_VALUES, *(span_values(doc, key) for doc in docs)])
            for key in span_keys
        },
        abbreviations=Abbreviations.none(),
        vectors=vectors,
        text_of=docs[0].vocab.strings.__getitem__ if docs else None,
        groups={
            key: join_groups([read_group(doc, key) for doc in docs], doc_starts[:-1].tolist())
            for key in span_keys
        },
        **{name: np.ascontiguousarray(columns.get(name, _NO_VALUES)) for name in FURTHER},
    )


def span_values(doc: Doc, key: str) -> Keys1d:
    """Hashes of the IOB2 tags that the spans of `doc.spans[key]` give the tokens, uint64 `[T]`.

    0 where the Doc has no such group. Where spans overlap, the longest one counts, and the last
    one of those that are equally long.
    """
    group = doc.spans.get(key)
    if group is None:
        return np.zeros(len(doc), dtype=np.uint64)
    values = np.full(len(doc), OUTSIDE, dtype=np.uint64)
    spans = [(span.start, span.end, span.label) for span in group]
    text_of = doc.vocab.strings
    tags = {
        label: [hash_string(f"{prefix}-{text_of[label]}") for prefix in "BI"]
        for label in {label for _, _, label in spans}
    }
    for start, end, label in sorted(spans, key=lambda span: span[1] - span[0]):
        values[start], values[start + 1 : end] = tags[label]
    return values


def join_tokens(batches: Sequence[Tokens]) -> Tokens:
    keys = batches[0].spans
    found = [batch.abbreviations for batch in batches]
    offsets = np.cumsum([0, *(len(batch.words) for batch in batches)])[:-1].tolist()
    return Tokens(
        abbreviations=join_abbreviations(found, offsets),
        sequence_starts=_joined_starts([batch.sequence_starts for batch in batches]),
        doc_starts=_joined_starts([batch.doc_starts for batch in batches]),
        spans={key: np.concatenate([batch.spans[key] for batch in batches]) for key in keys},
        vectors=batches[0].vectors,
        text_of=next((batch.text_of for batch in batches if batch.text_of), None),
        groups={
            key: join_groups([batch.groups[key] for batch in batches], offsets) for key in keys
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
