"""Entities that Docs have before they are annotated, as constraints on the labels of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc

from ...features.tokens import Tokens
from ...inference.lattice import Lattice
from ...inference.schemes import UNOBSERVED, Spans, TagSet
from ...losses.problem import observation_costs
from ...types import Bools1d, Floats2d, Ints1d, Keys1d, Pointers1d
from .entities import entity_bounds, taken_tokens
from .given import UNKNOWN, possible_spans, select


class Presets(NamedTuple):
    """What stands on the Docs of a batch already.

    start, end (exclusive): of entities, int64 `[P]`, counted from the first token of the batch.
    label: uint64 `[P]`, hashes. taken: bool `[T]`, tokens of entities, and blocked ones.
    """

    start: Pointers1d
    end: Pointers1d
    label: Keys1d
    taken: Bools1d


def read_presets(docs: Sequence[Doc], doc_starts: Pointers1d, key: str) -> Presets:
    """Entities and blocked tokens of Docs; doc_starts: int64 `[D + 1]`, their first tokens.

    Entities that are among the spans of `doc.spans[key]` do not count, for an earlier run of the
    component found them. A token inside of an entity that has no beginning is as if blocked.
    """
    iob = np.concatenate([doc.to_array(ENT_IOB) for doc in docs])
    taken = taken_tokens(iob)
    if not taken.any():
        none = np.zeros(0, dtype=np.int64)
        return Presets(none, none, none.astype(np.uint64), taken)
    label = np.concatenate([doc.to_array(ENT_TYPE) for doc in docs])
    start, end = entity_bounds(iob, label, doc_starts)
    found = {
        (span.start + offset, span.end + offset)
        for doc, offset in zip(docs, doc_starts.tolist(), strict=False)
        for span in doc.spans.get(key, ())
    }
    if found:
        pairs = list(zip(start.tolist(), end.tolist(), strict=True))
        for first, last in found.intersection(pairs):
            taken[first:last] = False
        kept = taken[start]
        start, end = start[kept], end[kept]
    return Presets(start, end, label[start], taken)


def preset_tags(
    presets: Presets, tokens: Tokens, tag_set: TagSet, labels: Sequence[int] | None
) -> Ints1d:
    """Tags `[T]` of tokens that are taken, `UNOBSERVED` or `ENDED` for the others.

    labels: hashes of the labels by number; None where there is one for all. What a chain cannot
    have, an entity across sentences or of a label that is not among these, is outside to it.
    """
    numbers = np.zeros(len(presets.label), dtype=np.int32)
    if labels is not None:
        known = {label: i for i, label in enumerate(labels)}
        numbers[:] = [known.get(label, UNKNOWN) for label in presets.label.tolist()]
    spans = Spans(presets.start, presets.end, numbers)
    tags = np.where(presets.taken, 0, UNOBSERVED).astype(np.int32)
    tag_set.write(tags, *select(spans, possible_spans(tokens, spans)))
    return tags


def clamp_scores(scores: Floats2d, lattice: Lattice, tags: Ints1d) -> None:
    """Make the scores `[T, S]` of all paths that disagree with the tags `[T]` `-inf`, in place.

    tags: as observed in training (`inference.chain`), so that each sequence has a legal path.
    """
    labels = np.empty(lattice.n_columns, dtype=np.int32)
    labels[lattice.column] = lattice.target
    no_costs = np.zeros((lattice.n_labels, lattice.n_labels))
    clamp = observation_costs(no_costs, lattice.continued)[1]
    known = np.flatnonzero(tags != UNOBSERVED)
    scores[known] += clamp[:, labels][tags[known] + 1]
