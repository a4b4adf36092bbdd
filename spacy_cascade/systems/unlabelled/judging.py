"""How right pseudo-labels are: against gold that was kept aside, or by their confidences."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc

from .pseudo_labels import OUTSIDE, PseudoLabelled


@dataclass(frozen=True)
class Added:
    """What a round adds to the labelled Docs.

    documents: those with something added. spans: entities; by_label: of each type. background:
    tokens. expected: mean confidence of the spans, which estimates the share that is right.
    right: that share; background_right: the share of background that is outside of gold entities.
    None where no gold is known, or nothing was added.
    """

    documents: int
    spans: int
    by_label: Mapping[str, int]
    background: int
    expected: float | None
    right: float | None
    background_right: float | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def has_gold(docs: Sequence[Doc]) -> bool:
    """Whether the annotation of Docs is known, so that pseudo-labels can be compared with it."""
    return any(len(doc) for doc in docs) and all(
        doc.has_annotation("ENT_IOB") for doc in docs if len(doc)
    )


def judge(pseudo: Sequence[PseudoLabelled], docs: Sequence[Doc], is_gold: bool) -> Added:
    """docs: the unlabelled Docs, which have their gold entities where is_gold."""
    counts: dict[str, int] = {}
    confidences, right, outside = [], [], []
    for each in pseudo:
        gold = docs[each.number]
        entities = {(span.start, span.end, span.label_) for span in gold.ents}
        for span, confidence in each.confidences.items():
            counts[span[2]] = counts.get(span[2], 0) + 1
            confidences.append(confidence)
            right.append(span in entities)
        background = np.asarray(each.doc.to_array(ENT_IOB)) == OUTSIDE
        is_free = np.isin(np.asarray(gold.to_array(ENT_IOB)), (0, OUTSIDE))
        outside.extend(is_free[background].tolist())
    return Added(
        len(pseudo),
        len(confidences),
        dict(sorted(counts.items())),
        len(outside),
        _mean(confidences),
        _mean(right) if is_gold else None,
        _mean(outside) if is_gold else None,
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
