"""`span._.confidence` of spans that several components found."""

from __future__ import annotations

import spacy
from spacy.tokens import Doc, Span, SpanGroup

from spacy_cascade.pipeline.spans.entities import confidence_of
from spacy_cascade.reports.reading import confidences_of


def test_the_confidence_is_that_of_the_last_component() -> None:
    doc = Doc(spacy.blank("en").vocab, words=["Mr", "Vorn", "said", "so"])
    both, first = Span(doc, 1, 2, "PER"), Span(doc, 0, 1, "PER")
    scores = {"first_pass": [0.25, 0.5], "cascade": [0.75], "without": None}
    for key, found in scores.items():
        spans = [first, both][-len(found or [0]) :]
        attributes = {} if found is None else {"scores": found}
        doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attributes)
    assert [confidence_of(span) for span in (first, both, doc[2:3])] == [0.25, 0.75, None]
    wanted = {(0, 1, first.label): 0.25, (1, 2, both.label): 0.75}
    assert confidences_of(doc) == wanted
