"""Which gold spans of examples the components of a pipeline do not learn, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from spacy.language import Language
from spacy.tokens import Span
from spacy.training import Example

from ..errors import TrainingError
from .classifier import CascadeClassifier
from .segmenter import CascadeSegmenter
from .spans.gold import exact_bounds, is_negative, read_gold, same_tokens
from .spans.left_out import CUTS, OVERLAPS, PARTS, LeftOutSpan, left_out_span
from .spans.parts import annotations_of
from .spans.placing import Bounds, LabelledSpan

SpanLearner: TypeAlias = CascadeSegmenter | CascadeClassifier


def span_learners(nlp: Language) -> list[SpanLearner]:
    """The components that learn from gold spans."""
    return [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SpanLearner)]


def left_out_spans(nlp: Language, examples: Iterable[Example]) -> Iterator[LeftOutSpan]:
    """The gold spans that no component learns; documents are numbers of examples.

    They cut tokens of the pipeline; or have several parts, where `gold_parts` takes neither; or
    overlap others, and are on no level. Entities are looked at where the pipeline has no component
    of ours.
    """
    learners: dict[str | None, list[SpanLearner]] = {}
    for pipe in span_learners(nlp):
        learners.setdefault(pipe.gold_key, []).append(pipe)
    for number, example in enumerate(examples, start=1):
        for key, pipes in (learners or {None: []}).items():
            yield from _left_out(number, example, key, pipes)


def _left_out(
    number: int, example: Example, key: str | None, pipes: Sequence[SpanLearner]
) -> Iterator[LeftOutSpan]:
    reference, is_same = example.reference, same_tokens(example)
    # A classifier reads all spans, but is shown only those that are found.
    finders = [pipe for pipe in pipes if isinstance(pipe, CascadeSegmenter)] or pipes
    learnt = {span for pipe in finders for span in _learnt(pipe, example)}
    learnt = learnt if pipes else set(read_gold(example, key).spans)
    choices = {str(pipe.gold_parts) for pipe in pipes}
    for parts in annotations_of(reference.ents if key is None else reference.spans.get(key, ())):
        label = parts[0].label_
        wanted = [pipe for pipe in pipes if pipe.gold_labels is None or label in pipe.gold_labels]
        if is_negative(label) or (pipes and not wanted):
            continue
        ways = [way if is_same else _exact(example, way) for way in _ways(parts, choices)]
        if any(way and all((*one, label) in learnt for one in way) for way in ways):
            continue
        reason = CUTS if not all(ways) else PARTS if len(parts) > 1 else OVERLAPS
        places = [(span.start_char, span.end_char) for span in parts]
        yield left_out_span(number, reference.text, places, label, reason)


def _learnt(pipe: SpanLearner, example: Example) -> list[LabelledSpan]:
    try:
        return pipe.gold.read(example).spans
    except TrainingError:  # They overlap: an error of training, and none of a corpus to score on.
        return pipe.gold.read_to_judge(example).spans


def _ways(parts: Sequence[Span], choices: set[str]) -> Iterator[list[Bounds]]:
    """What may be learnt of an annotation, each in the tokens of the reference."""
    if len(parts) == 1 or "covering" in choices:
        yield [(parts[0].start, parts[-1].end)]
    if len(parts) > 1 and "parts" in choices:
        yield [(span.start, span.end) for span in parts]


def _exact(example: Example, places: Sequence[Bounds]) -> list[Bounds]:
    """The same in the tokens of the pipeline; nothing where some are cut."""
    found = [exact_bounds(example, *place) for place in places]
    return [one for one in found if one is not None] if all(found) else []
