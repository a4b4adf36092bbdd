"""Reads evaluated examples as entities, confidences, probabilities and pieces of Docs."""

from collections.abc import Iterable, Sequence

import numpy as np
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...pipeline.classifier import CascadeClassifier
from ...pipeline.recognisers import recognisers
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.confidences import confidences_of, key_of
from ...pipeline.spans.gold import read_own_gold, same_tokens
from ...pipeline.spans.placing import LabelledSpan
from ...types import Floats1d
from .costs import Choice, Judged, Piece, cut_evenly, cut_sentences
from .mistakes import Comparison, compare

Stages = tuple[CascadeSegmenter, CascadeClassifier | None]
"""A segmenter and the classifier of its spans; None for a single-phase recogniser."""


def stages_of(nlp: Language) -> Stages | None:
    """The components from which the entities of a pipeline have their probabilities.

    None where there is none, where something else finds the spans, and where confidences are
    switched off.
    """
    segmenter, classifier = recognisers(nlp)
    if segmenter is None or not segmenter.confidence:
        return None
    if classifier is not None and not classifier.confidence:
        return None
    return segmenter, classifier


def entity_probabilities(
    stages: Stages, docs: Sequence[Doc], entities: Sequence[Sequence[LabelledSpan]]
) -> list[Floats1d]:
    """Probability of given entities of each Doc, that of the span times that of its label.

    docs: as the pipeline left them. entities: those of each Doc, without overlap. A reranker's
    choice is not looked at. Entities across sentences and of unknown labels have probability 0.
    """
    segmenter, classifier = stages
    if classifier is None:
        # A segmenter without types takes any label for its own.
        found = segmenter.posteriors(docs, entities)
        return [
            p * np.array([label in segmenter.labels for _, _, label in of_doc], dtype=np.bool_)
            for p, of_doc in zip(found, entities, strict=True)
        ]
    found = classifier.probabilities(docs, entities)
    of_span = [np.zeros(len(of_doc)) for of_doc in entities]
    # Whatever the segmenter calls the span, the classifier types it anew.
    for label in segmenter.labels:
        spans = [[(start, end, label) for start, end, _ in of_doc] for of_doc in entities]
        of_label = segmenter.posteriors(docs, spans)
        of_span = [total + p for total, p in zip(of_span, of_label, strict=True)]
    return [np.minimum(1.0, p) * t for p, t in zip(of_span, found, strict=True)]


_AT_ONCE = 256
"""Number of Docs whose scores are in memory at the same time."""


def judge_annotated(nlp: Language, examples: Sequence[Example]) -> dict[int, Judged]:
    """Those of the examples that are annotated, as `judge` compares them, by their numbers."""
    numbers = [number for number, example in enumerate(examples) if is_annotated(example)]
    judged = judge(nlp, [examples[number] for number in numbers])
    return dict(zip(numbers, judged, strict=True))


def judge(nlp: Language, examples: Sequence[Example]) -> list[Judged]:
    """Compare the entities of each example, counted in tokens of the reference.

    examples: their predicted Docs as the pipeline left them, their references with gold
    entities (`is_annotated`). Only in Docs with mistakes do gold entities get probabilities.
    """
    found = [find_choices(example, example.predicted.ents) for example in examples]
    comparisons = list(map(compare_example, examples, found))
    stages = stages_of(nlp)
    wrong = [number for number, of_doc in enumerate(comparisons) if of_doc.has_mistakes]
    found_wrong = _probabilities(stages, [examples[number] for number in wrong])
    probabilities = dict(zip(wrong, found_wrong, strict=True))
    return [
        Judged(
            comparisons[number],
            [confidence for _, confidence in found[number]],
            probabilities.get(number, [None] * len(comparisons[number].gold)),
            cut_pieces(example.reference, comparisons[number]),
            _listed(stages, example, found[number]),
        )
        for number, example in enumerate(examples)
    ]


def is_annotated(example: Example) -> bool:
    """Whether the entities of the reference are annotated; otherwise it cannot be scored."""
    return bool(example.reference.has_annotation("ENT_IOB"))


def compare_example(example: Example, found: Sequence[Choice]) -> Comparison:
    """Gold entities against those that were found, in tokens of the reference."""
    gold = read_own_gold(example.reference, None).spans
    return compare(gold, [entity for entity, _ in found])


def find_choices(example: Example, spans: Iterable[Span]) -> list[Choice]:
    """Spans of the predicted Doc in tokens of the reference, with their confidences.

    Spans on tokens without gold annotation are left out, as in spaCy's scorer, unless there is
    none at all.
    """
    known = read_own_gold(example.reference, None).observed
    known |= not known.any()
    identical = same_tokens(example)
    confidence = confidences_of(example.predicted)
    choices: list[Choice] = []
    for span in spans:
        start, end = span.start, span.end
        if not identical:
            tokens = example.alignment.x2y[start:end]
            if not len(tokens):
                continue
            start, end = int(tokens[0]), int(tokens[-1]) + 1
        if known[start:end].all():
            sure = confidence.get(key_of(span))
            choices.append(((start, end, span.label_), sure))
    return choices


def _listed(stages: Stages | None, example: Example, found: Sequence[Choice]) -> list[Choice]:
    """All spans that entities are chosen from if the segmenter lists overlapping spans.

    Entities that another component has set are included, without confidences; spans that overlap
    them are not.
    """
    if stages is None or not stages[0].overlapping:
        return []
    fixed = [choice for choice in found if choice[1] is None]
    taken = {token for (start, end, _), _ in fixed for token in range(start, end)}
    labels = (stages[1] or stages[0]).labels
    group = example.predicted.spans.get(stages[0].spans_key, ())
    listed = find_choices(example, [span for span in group if span.label_ in labels])
    return fixed + [choice for choice in listed if taken.isdisjoint(range(*choice[0][:2]))]


def _probabilities(stages: Stages | None, examples: Sequence[Example]) -> list[list[float | None]]:
    """Probability of each gold entity, None if the pipeline has no probabilities."""
    if stages is None:
        return [[None] * len(read_own_gold(each.reference, None).spans) for each in examples]
    found: list[list[float | None]] = []
    for begin in range(0, len(examples), _AT_ONCE):
        batch = examples[begin : begin + _AT_ONCE]
        aligned = [_aligned(example) for example in batch]
        possible = [[bounds for bounds in of_doc if bounds is not None] for of_doc in aligned]
        values = entity_probabilities(stages, [example.predicted for example in batch], possible)
        for of_doc, p in zip(aligned, values, strict=True):
            left = iter(p.tolist())
            # The pipeline cannot find an entity that does not match its token boundaries.
            found.append([0.0 if bounds is None else next(left) for bounds in of_doc])
    return found


def _aligned(example: Example) -> list[LabelledSpan | None]:
    """Gold entities in tokens of the predicted Doc, None if they do not match its tokens."""
    spans: list[LabelledSpan] = read_own_gold(example.reference, None).spans
    if same_tokens(example):
        return [*spans]
    found = [
        (example.get_aligned_spans_y2x([example.reference[start:end]]), label)
        for start, end, label in spans
    ]
    return [(of[0].start, of[0].end, label) if of else None for of, label in found]


def cut_pieces(doc: Doc, found: Comparison) -> list[Piece]:
    """The sentences of a Doc, or pieces of one without sentences; no entity is cut."""
    entities = [*found.gold, *found.predicted]
    if not doc.has_annotation("SENT_START"):
        return cut_evenly(len(doc), entities)
    starts = np.flatnonzero(np.asarray(doc.to_array(SENT_START)) == 1)
    return cut_sentences(len(doc), starts.tolist(), entities)
