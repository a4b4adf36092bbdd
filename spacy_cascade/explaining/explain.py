"""Why components found what they found: scores taken apart into features, exactly.

A model is linear, so the difference of two scores is a sum over features. A span of a segmenter is
compared with the best segmentation of its sentence without that very span; a type with the next
best type; a tag with the best tagging of the sentence that has another tag there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..features.names import named_features
from ..inference.schemes import TagSet
from ..pipeline.classifier import CascadeClassifier
from ..pipeline.segmenter import CascadeSegmenter
from ..pipeline.spans.entities import confidence_of
from ..pipeline.spans.placing import ENTITY, LabelledSpan, place_spans, rows_of
from ..pipeline.tagger import CascadeTagger
from ..types import Ints1d
from .explanations import EntityExplanation, Explanation, by_push, of_features
from .posteriors import recognisers
from .scored_doc import START, ScoredDoc
from .span_scores import score_spans


def explain_entities(nlp: Language, doc: Doc) -> list[EntityExplanation]:
    """Explain the entities of a Doc that the pipeline has annotated, by each of its stages.

    Entities that the stages cannot have found, such as those of other components, are left out.
    """
    stages = [stage for stage in recognisers(nlp) if stage is not None]
    known = stages[-1].labels if stages else ()
    entities = [entity for entity in doc.ents if entity.label_ in known]
    spans = [(entity.start, entity.end, entity.label_) for entity in entities]
    by_bounds = [{e.span[:2]: e for e in _explain(stage, doc, spans)} for stage in stages]
    return [
        EntityExplanation(
            span, entity.text, confidence_of(entity), tuple(of[span[:2]] for of in by_bounds)
        )
        for entity, span in zip(entities, spans, strict=True)
        if all(span[:2] in of for of in by_bounds)
    ]


def explain_spans(
    segmenter: CascadeSegmenter, doc: Doc, spans: Sequence[LabelledSpan] | None = None
) -> list[Explanation]:
    """Explain spans of a segmenter; the Doc is not changed.

    spans: whether found or not; labels count only with `typed`. Those that no path has, across
    sentences or of a label that is not known, are left out. By default those that the segmenter
    finds.
    """
    tag_set = segmenter.tag_set
    if spans is None:
        found = segmenter.predict([doc])[0].spans
        spans = [(start, end, segmenter.labels[number]) for start, end, number in rows_of(found)]
    wanted = [(s, e, label if segmenter.options.typed else ENTITY) for s, e, label in spans]
    if not wanted:
        return []
    scored = ScoredDoc(segmenter, doc)
    numbers = {label: i for i, label in enumerate(segmenter.labels)}
    placed, possible = place_spans(scored.tokens, [wanted], numbers)
    explained = []
    for i in np.flatnonzero(possible).tolist():
        start, end, _ = wanted[i]
        tags = np.zeros(end - start, dtype=np.int32)
        tag_set.write(tags, np.array([0]), np.array([end - start]), placed.label[i : i + 1])
        paths = scored.contrast(tags, start)
        assert paths is not None, "a span can be left out, and one in a sentence can be had"
        begin, _ = scored.sequence(start)
        hypotheses = [_spans_of(path, begin, tag_set) for path in paths]
        # One at a time, for the spans may overlap.
        ((probability,),) = segmenter.posteriors([doc], [[wanted[i]]])
        explained.append(
            Explanation(
                segmenter.name,
                wanted[i],
                *_differences(*hypotheses),
                float(probability),
                by_push(scored.contributions(paths, begin)),
            )
        )
    return explained


def explain_types(
    classifier: CascadeClassifier, doc: Doc, spans: Sequence[LabelledSpan] | None = None
) -> list[Explanation]:
    """Explain types of spans against the best other type; the Doc is not changed.

    spans: with the types to be explained, whether given by the classifier or not, `O` for
    rejection; those of unknown types are left out. By default those on the Doc, as the
    classifier typed them.
    """
    if spans is None:
        key = classifier.options.spans_key
        group = doc.ents if key is None else doc.spans.get(key, ())
        spans = [(span.start, span.end, span.label_) for span in group]
    known = classifier.structure_labels
    wanted = [span for span in spans if span[2] in known]
    if not wanted:
        return []
    found = score_spans(classifier, doc, [(start, end) for start, end, _ in wanted])
    weights = classifier.weights.features
    explained = []
    for i, features in enumerate(named_features(classifier.space, found.units, found.text_of)):
        start, end, label = wanted[i]
        column = found.classes.index(label)
        ranked = np.argsort(-found.scores[i], kind="stable").tolist()
        others = [other for other in ranked if other != column][:1]
        explained.append(
            Explanation(
                classifier.name,
                wanted[i],
                (wanted[i],),
                tuple((start, end, found.classes[other]) for other in others),
                float(found.probabilities[i, column]),
                by_push(of_features(features, None, weights, [column, *others])),
            )
        )
    return explained


def explain_tags(tagger: CascadeTagger, doc: Doc) -> list[Explanation]:
    """Explain the tags that a tagger finds, token by token; the Doc is not changed.

    A tag is `(token, token + 1, tag)`. Nothing where there is one tag only.
    """
    if not len(doc):
        return []
    labels = [START, *tagger.labels]
    scored = ScoredDoc(tagger, doc)
    explained = []
    for token, number in enumerate(tagger.predict([doc])[0].tolist()):
        paths = scored.contrast(np.array([number + 1], dtype=np.int32), token)
        if paths is None:
            continue
        begin, _ = scored.sequence(token)
        hypotheses = [
            [(begin + t, begin + t + 1, labels[y]) for t, y in enumerate(path.tolist())]
            for path in paths
        ]
        explained.append(
            Explanation(
                tagger.name,
                (token, token + 1, tagger.labels[number]),
                *_differences(*hypotheses),
                None,
                by_push(scored.contributions(paths, begin)),
            )
        )
    return explained


def _explain(
    stage: CascadeSegmenter | CascadeClassifier, doc: Doc, spans: Sequence[LabelledSpan]
) -> list[Explanation]:
    explain: Any = explain_spans if isinstance(stage, CascadeSegmenter) else explain_types
    explained: list[Explanation] = explain(stage, doc, spans)
    return explained


def _spans_of(path: Ints1d, begin: int, tag_set: TagSet) -> list[LabelledSpan]:
    found = tag_set.spans(path, np.array([0, len(path)]))
    return [
        (start + begin, end + begin, tag_set.labels[label]) for start, end, label in rows_of(found)
    ]


def _differences(
    one: Sequence[LabelledSpan], other: Sequence[LabelledSpan]
) -> tuple[tuple[LabelledSpan, ...], tuple[LabelledSpan, ...]]:
    """What each of two hypotheses has and the other has not."""
    return (
        tuple(span for span in one if span not in other),
        tuple(span for span in other if span not in one),
    )
