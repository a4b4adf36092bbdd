"""Pseudo-labels: partial annotation of unlabelled Docs, where a teacher is sure.

Confident spans become entities, tokens that are hardly inside any become background, and all
others stay missing: training sums over what they may be (docs/method.md, section 3.4). Without
background a student would learn from entities alone, and find too many.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, Span

from ...errors import ConfigError
from ...pipeline.readers import INPUTS, input_doc
from ...pipeline.spans.placing import LabelledSpan, as_array, choose_disjoint
from .opinions import Opinion

OUTSIDE = 2
"""Code of `token.ent_iob` for background."""


@dataclass(frozen=True)
class Confidence:
    """How sure a teacher has to be.

    threshold: least confidence of a span. background: largest probability of a token that counts
    as background. Raises `ConfigError` for numbers that are no such probabilities.
    """

    threshold: float = 0.4
    background: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1 or not 0 <= self.background <= 1:
            raise ConfigError(
                "The threshold of spans must be above 0 and at most 1, and that of background "
                f"from 0 to 1, not {self.threshold:g} and {self.background:g}."
            )


@dataclass(frozen=True)
class PseudoLabelled:
    """A Doc with partial annotation, its number among all, and the confidences of its entities."""

    number: int
    doc: Doc
    confidences: dict[LabelledSpan, float]


def pseudo_label(
    docs: Sequence[Doc], opinions: Sequence[Opinion], sure: Confidence
) -> list[PseudoLabelled]:
    """The Docs in which something is sure, as the opinions annotate them.

    Of spans that overlap those with the largest sum of confidences are kept.
    """
    pairs = enumerate(zip(docs, opinions, strict=True))
    found = [_annotated(number, *pair, sure) for number, pair in pairs]
    return [each for each in found if each.confidences]


def _annotated(number: int, doc: Doc, opinion: Opinion, sure: Confidence) -> PseudoLabelled:
    likely = [(s, p) for s, p in opinion.confidences.items() if p >= sure.threshold]
    chosen = dict(_disjoint(likely))
    background = opinion.inside <= sure.background
    new = input_doc(doc, INPUTS, doc.vocab)
    entities = [Span(new, *span) for span in sorted(chosen)]
    for entity in entities:
        background[entity.start : entity.end] = False
    outside = [new[i : i + 1] for i in np.flatnonzero(background).tolist()]
    new.set_ents(entities, outside=outside, default="missing")
    return PseudoLabelled(number, new, chosen)


def _disjoint(likely: Sequence[tuple[LabelledSpan, float]]) -> list[tuple[LabelledSpan, float]]:
    if not likely:
        return []
    start, end = as_array([(start, end) for (start, end, _), _ in likely]).T
    kept = choose_disjoint(start, end, np.array([confidence for _, confidence in likely]))
    return [likely[i] for i in np.flatnonzero(kept).tolist()]


# How right they are: against gold that was kept aside, or by their confidences


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
