"""Why components found what they found: scores taken apart into features, exactly.

A model is linear, so the difference of two scores is a sum over features. A span of a segmenter is
compared with the best segmentation of its sentence without that very span; a type with the next
best type; a tag with the best tagging of the sentence that has another tag there.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span

from ...errors import ConfigError
from ...features.names import named_features
from ...inference.schemes import Spans
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.reading import no_doc
from ...pipeline.recognisers import recognisers
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.confidences import confidence_of
from ...pipeline.spans.placing import ENTITY, LabelledSpan, rows_of
from ...pipeline.spans.results import class_probabilities
from ...systems.tagging.component import CascadeTagger
from ...types import Ints1d
from .explanations import (
    START,
    EntityExplanation,
    Explanation,
    ScoredDoc,
    by_push,
    of_features,
    of_network,
    of_vectors,
    score_spans,
)

Spanlike: TypeAlias = Sequence[LabelledSpan] | Sequence[Span] | Span
"""Spans with labels, in either form; one Span stands for itself."""


def explain_entities(nlp: Language, doc: Doc) -> list[EntityExplanation]:
    """Explain the entities of a Doc that the pipeline has annotated, by each of its stages.

    Entities that the stages cannot have found, such as those of other components, are left out.
    """
    if not isinstance(doc, Doc):
        raise no_doc(doc, "explain_entities")
    segmenter, classifier = recognisers(nlp)
    last = classifier or segmenter
    entities = [entity for entity in doc.ents if last and entity.label_ in last.labels]
    spans = [(entity.start, entity.end, entity.label_) for entity in entities]
    by_stage = []
    if segmenter:
        by_stage.append(explain_spans(segmenter, doc, spans))
    if classifier:
        by_stage.append(explain_types(classifier, doc, spans))
    by_bounds = [{e.span[:2]: e for e in of_stage} for of_stage in by_stage]
    return [
        EntityExplanation(
            span, entity.text, confidence_of(entity), tuple(of[span[:2]] for of in by_bounds)
        )
        for entity, span in zip(entities, spans, strict=True)
        if all(span[:2] in of for of in by_bounds)
    ]


def explain_spans(
    segmenter: CascadeSegmenter, doc: Doc, spans: Spanlike | None = None
) -> list[Explanation]:
    """Explain spans of a segmenter; the Doc is not changed.

    spans: as `(start, end, label)`, or Spans; found or not. Labels count only with `typed`. Those
    that no path has, across sentences or of a label that is not known, are left out. By default
    those that the segmenter finds.
    """
    if spans is None:
        found = segmenter.predict([doc])[0].spans
        spans = [(start, end, segmenter.labels[number]) for start, end, number in rows_of(found)]
    explained = []
    scored: dict[tuple[str, int], ScoredDoc] = {}
    for start, end, label in _labelled(spans):
        span = (start, end, label if segmenter.typed else ENTITY)
        finder, seen = segmenter.as_found(doc, span)
        # Levels see a copy of the Doc; those with as many spans on it are scored once.
        key = finder.name, len(seen.spans.get(finder.spans_key, ()))
        if key not in scored:
            scored[key] = ScoredDoc(finder, seen)
        explanation = _explain_span(finder, seen, scored[key], span)
        explained += [] if explanation is None else [explanation]
    return explained


def _explain_span(
    segmenter: CascadeSegmenter, doc: Doc, scored: ScoredDoc, span: LabelledSpan
) -> Explanation | None:
    """None for a span that no path has."""
    structure, labels = segmenter.structure, segmenter.labels
    placed, possible = segmenter.place(scored.tokens, [[span]])
    if not possible.all():
        return None
    length = span[1] - span[0]
    alone = Spans(np.array([0]), np.array([length]), placed.label)
    tags = structure.observed(alone, np.ones(length, dtype=np.bool_))
    ((probability,),) = segmenter.posteriors([doc], [[span]])
    explanation = scored.explain(
        span,
        tags,
        lambda path: [
            (start, end, labels[number])
            for start, end, number in rows_of(structure.spans(path, np.array([0, len(path)])))
        ],
        float(probability),
    )
    assert explanation, "a span can be left out, and one in a sentence can be had"
    return explanation


def explain_types(
    classifier: CascadeClassifier, doc: Doc, spans: Spanlike | None = None
) -> list[Explanation]:
    """Explain types of spans against the best other type; the Doc is not changed.

    spans: with the types to be explained, whether given by the classifier or not, `O` for
    rejection; those of unknown types are left out. By default those on the Doc, as the
    classifier typed them.
    """
    if not isinstance(doc, Doc):
        raise no_doc(doc, "explain_types")
    if spans is None:
        key = classifier.spans_key
        group = doc.ents if key is None else doc.spans.get(key, ())
        spans = list(group)
    classes = classifier.structure_labels
    wanted = [span for span in _labelled(spans) if span[2] in classes]
    if not wanted:
        return []
    units, text_of, scores = score_spans(classifier, doc, [(s, e) for s, e, _ in wanted])
    probabilities = class_probabilities(scores, classifier.temperature)
    weights = classifier.weights.features
    explained = []
    for i, features in enumerate(named_features(classifier.space, units, text_of)):
        start, end, label = wanted[i]
        column = classes.index(label)
        ranked = np.argsort(-scores[i], kind="stable").tolist()
        others = [other for other in ranked if other != column][:1]
        columns = [column, *others]
        contributions = of_features(features, None, weights, columns)
        contributions += of_vectors(units.vectors, i, None, weights, columns)
        beside = classifier.model.attrs["beside"]
        contributions += of_network(beside, units, i, None, columns)
        explained.append(
            Explanation(
                classifier.name,
                wanted[i],
                (wanted[i],),
                tuple((start, end, classes[other]) for other in others),
                float(probabilities[i, column]),
                by_push(contributions),
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

    def spans_of(path: Ints1d) -> list[LabelledSpan]:
        return [(t, t + 1, labels[y]) for t, y in enumerate(path.tolist())]

    explained = [
        scored.explain(
            (token, token + 1, labels[number + 1]), np.array([number + 1], dtype=np.int32), spans_of
        )
        for token, number in enumerate(tagger.predict([doc])[0].tolist())
    ]
    return [explanation for explanation in explained if explanation]


def _labelled(spans: Spanlike) -> list[LabelledSpan]:
    """Spans in the form of tuples. Raises `ConfigError` for anything else."""
    listed = [spans] if isinstance(spans, Span) else spans
    found: list[LabelledSpan] = []
    for span in listed:
        if isinstance(span, Span):
            found.append((span.start, span.end, span.label_))
        elif isinstance(span, tuple) and len(span) == 3:
            found.append(span)
        else:
            raise ConfigError(
                f"A span to explain is a Span, or (first token, end, label), not {span!r}."
            )
    return found
