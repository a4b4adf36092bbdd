"""What a reranker chooses: spans with their types, Doc by Doc."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from spacy.strings import StringStore
from spacy.tokens import SpanGroup

from ...inference.reranking import Lists, choose, span_posteriors
from ...types import Floats1d
from .candidates import TypedLists
from .entities import CONFIDENCE_ATTRIBUTE, SpanKey
from .nbest import REJECTED
from .segments import ENTITY


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one Doc.

    spans: of the new `doc.spans[spans_key]`. probabilities: of each, given the N-best list.
    is_typed: False for spans that are no entities.
    """

    spans: list[SpanKey]
    probabilities: list[float]
    is_typed: list[bool]

    def confidences(self, before: SpanGroup) -> Floats1d | None:
        """Of each span: as before where it was found before, else its probability.

        None where those before have none.
        """
        known = before.attrs.get(CONFIDENCE_ATTRIBUTE)
        if known is None:
            return None
        earlier = {
            (span.start, span.end, span.label): float(confidence)
            for span, confidence in zip(before, known, strict=False)
        }
        pairs = zip(self.spans, self.probabilities, strict=True)
        return np.array([earlier.get(span, probability) for span, probability in pairs])


def choose_spans(typed: TypedLists, lists: Lists, strings: StringStore) -> list[Chosen]:
    """The spans of highest total score in each sentence; lists: typed ones with final scores."""
    chosen = np.empty(len(lists.starts) - 1, dtype=np.int32)
    classes = np.empty(len(lists.class_scores), dtype=np.int32)
    probabilities = np.empty(len(lists.class_scores))
    choose(lists, chosen, classes)
    span_posteriors(lists, classes, probabilities)
    spans = typed.chosen_spans(chosen)
    names = [ENTITY if name == REJECTED else name for name in typed.classes]
    labels = np.array([strings.add(name) for name in names], dtype=np.uint64)
    is_typed = np.array([name != REJECTED for name in typed.classes], dtype=np.bool_)
    cuts = np.searchsorted(spans, typed.doc_spans)
    found = []
    for doc, offset in enumerate(typed.doc_starts[:-1]):
        own = spans[cuts[doc] : cuts[doc + 1]]
        keys = zip(
            (typed.start[own] - offset).tolist(),
            (typed.end[own] - offset).tolist(),
            labels[classes[own]].tolist(),
            strict=True,
        )
        found.append(
            Chosen(list(keys), probabilities[own].tolist(), is_typed[classes[own]].tolist())
        )
    return found
