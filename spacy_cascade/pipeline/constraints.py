"""Entities that a Doc has before it is annotated, as constraints on the labels of its tokens."""

from __future__ import annotations

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc

from ..inference.lattice import Lattice
from ..objectives.problem import observation_costs
from ..schemes import UNOBSERVED
from ..types import Floats2d, Ints1d
from .annotation import GoldSpans, entity_bounds, taken_tokens


def read_presets(doc: Doc, key: str) -> GoldSpans:
    """Entities and blocked tokens of a Doc; all other tokens count as not observed.

    Entities that are among the spans of `doc.spans[key]` do not count, for an earlier run of the
    component found them. A token inside of an entity that has no beginning is as if blocked.
    """
    table = np.asarray(doc.to_array([ENT_IOB, ENT_TYPE])).reshape(-1, 2)
    iob, label = table.T
    taken = taken_tokens(iob)
    if not taken.any():
        return GoldSpans([], taken)
    found = {(span.start, span.end) for span in doc.spans.get(key, ())}
    spans = []
    for start, end in zip(*(part.tolist() for part in entity_bounds(iob, label)), strict=True):
        if (start, end) in found:
            taken[start:end] = False
        else:
            spans.append((start, end, doc.vocab.strings[int(label[start])]))
    return GoldSpans(spans, taken)


def clamp_scores(scores: Floats2d, lattice: Lattice, tags: Ints1d) -> None:
    """Make the scores `[T, S]` of all paths that disagree with the tags `[T]` `-inf`, in place.

    tags: as observed in training (`inference.chain`), so that a sequence has some legal path.
    """
    labels = np.empty(lattice.n_columns, dtype=np.int32)
    labels[lattice.column] = lattice.target
    no_costs = np.zeros((lattice.n_labels, lattice.n_labels))
    clamp = observation_costs(no_costs, lattice.continued)[1]
    known = np.flatnonzero(tags != UNOBSERVED)
    scores[known] += clamp[tags[known] + 1][:, labels]
