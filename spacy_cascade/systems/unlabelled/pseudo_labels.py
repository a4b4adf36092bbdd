"""Pseudo-labels: partial annotation of unlabelled Docs, where a teacher is sure.

Confident spans become entities, tokens that are hardly inside any become background, and all
others stay missing: training sums over what they may be (docs/method.md, section 3.4). Without
background a student would learn from entities alone, and find too many.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
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
