"""What a classifier made of the spans of a Doc, and how that is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from spacy.tokens import Doc, Span

from ...types import Bools1d, Floats1d, Ints1d
from .entities import CONFIDENCE_ATTRIBUTE, write_entities, write_group
from .typed_groups import KEPT, TypedGroups


@dataclass(frozen=True)
class TypedSpans:
    """Types of the spans of one Doc.

    spans: those of the Doc, in its order. types: int32 `[P]`, numbers of labels or `KEPT`.
    confidences: float64 `[P]`, probability of the type, times that of the span where the
    component that found it gave one; None when switched off.
    candidates: the N-best list, typed; None where there is none.
    """

    spans: list[Span]
    types: Ints1d
    confidences: Floats1d | None
    candidates: TypedGroups | None = None


def joint_confidences(
    doc: Doc, key: str | None, mask: Bools1d, probabilities: Floats1d
) -> Floats1d:
    """Confidence of each of the spans under the key, times the probability of its type.

    mask: bool `[P]`, which spans have types. probabilities: of these types.
    """
    earlier = _given_confidences(doc, key, len(mask))
    confidences = np.ones(len(mask)) if earlier is None else earlier
    confidences[mask] *= probabilities
    return confidences


def write_typed(
    doc: Doc, key: str | None, name: str, found: TypedSpans, labels: Sequence[int],
    thresholds: Floats1d, set_ents: bool,
) -> None:  # fmt: skip
    """Write the types and confidences to `doc.spans[key]`, and with `set_ents` to `doc.ents`.

    Other attributes of the group stay. key: None where the spans are those of `doc.ents`; the
    group is called `name` then. labels, thresholds: hash and threshold of each type. Of spans that
    overlap those become entities that have the largest sum of confidences less thresholds, or the
    longest where nothing but their types has a confidence.
    """
    for span, number in zip(found.spans, found.types.tolist(), strict=True):
        if number != KEPT:
            span.label = labels[number]
    ranked = _given_confidences(doc, key, len(found.spans)) is not None
    attributes = dict(doc.spans[key].attrs) if key in doc.spans else {}
    attributes.pop(CONFIDENCE_ATTRIBUTE, None)  # they were of other labels
    group_key = name if key is None else key
    write_group(doc, group_key, found.spans, found.confidences, attributes)
    if not set_ents:
        return
    confidences = np.ones(len(found.spans)) if found.confidences is None else found.confidences
    gains = confidences - thresholds[found.types]
    kept = (found.types != KEPT) & (gains >= 0)
    entities = list(compress(found.spans, kept))
    write_entities(
        doc, entities, entities if key is None else (), gains=gains[kept] if ranked else None
    )


def _given_confidences(doc: Doc, key: str | None, n_spans: int) -> Floats1d | None:
    """A copy of what the component that found the spans gave them; None where it gave nothing."""
    group = doc.spans.get(key)
    scores = None if group is None else group.attrs.get(CONFIDENCE_ATTRIBUTE)
    if scores is None or len(scores) != n_spans:
        return None
    return np.array(scores, dtype=np.float64)
