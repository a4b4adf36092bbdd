"""Reading gold spans and tags from Examples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH, POS, TAG
from spacy.pipeline import SpanRuler
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from ...errors import TrainingError
from ...features.resources import span_flags
from ...features.scored_spans import RECORD_ATTRIBUTE
from ...features.space import FeatureSpace
from ...features.tokens import Tokens
from ...types import Bools1d, Ints2d
from .confidences import scores_of
from .entities import CONFIDENCE_ATTRIBUTE, INSIDE, entity_bounds
from .nesting import ALL, LEVELS, nesting
from .parts import annotations_of, is_part_id
from .placing import Bounds, BoundsArray, LabelledSpan, as_array

PartsOfGold: TypeAlias = Literal["neither", "covering", "parts"]
"""What is learnt of a discontinuous annotation, whose parts are spans (`spans.parts`)."""


@dataclass(frozen=True)
class GoldSpans:
    """What the reference says about the tokens of the predicted Doc.

    spans: `(start, end, label)` in ascending order; those of a group of spans may overlap.
    observed: bool `[T]`, False for tokens without annotation. has_parts: whether some annotations
    are discontinuous. n_cut: number of spans that cut tokens of the predicted Doc.
    """

    spans: list[LabelledSpan]
    observed: Bools1d
    has_parts: bool = field(default=False, kw_only=True)
    n_cut: int = field(default=0, kw_only=True)

    def labels_of_bounds(self) -> dict[Bounds, set[str]]:
        """The labels of the spans with the same bounds."""
        found: dict[Bounds, set[str]] = {}
        for start, end, label in self.spans:
            found.setdefault((start, end), set()).add(label)
        return found


GoldOf = Callable[[Example], list[LabelledSpan]]
"""Gives start, end and label of the spans that a component should find, or finds by rules."""


def is_negative(label: str) -> bool:
    """Whether a label says what a span is not, as spaCy marks that: `!PERSON`."""
    return label.startswith("!")


def place_of(spans_key: str | None) -> str:
    """Where the spans under a key are, None for entities."""
    return "doc.ents" if spans_key is None else f"doc.spans['{spans_key}']"


def same_tokens(example: Example) -> bool:
    """Whether the two Docs of the example have the same tokens."""
    predicted, reference = example.predicted, example.reference
    return len(predicted) == len(reference) and np.array_equal(
        predicted.to_array(ORTH), reference.to_array(ORTH)
    )


def as_seen(
    example: Example,
    space: FeatureSpace,
    stand_ins: Mapping[str, GoldOf],
    gold_keys: Sequence[str] = (),
) -> Doc:
    """The predicted Doc, or a copy that also has what the templates of the space look at.

    What earlier components would set, tags and span groups, and a predicted Doc has not, is
    taken from the reference. stand_ins: by key, what gives the spans that an earlier component
    should find, where the reference has no group of that key either, or has the gold spans of the
    component itself there (gold_keys).
    """
    predicted, reference = example.predicted, example.reference
    wanted = [key for key in space.span_keys if key not in predicted.spans]
    keys = [key for key in wanted if key in reference.spans and key not in gold_keys]
    reads_tags = "tags" in space.reads or "parts_of_speech" in space.reads
    tags_known = reference.has_annotation("TAG") and not predicted.has_annotation("TAG")
    take_tags = reads_tags and tags_known and same_tokens(example)
    others = [key for key in wanted if key not in keys and key in stand_ins]
    if not take_tags and not keys and not others:
        return predicted
    # Not the reference itself: its sentence starts are not seen in training.
    seen = predicted.copy()
    if take_tags:
        tags: Any = reference.to_array([TAG, POS])
        seen.from_array([TAG, POS], tags)
    for key in keys:
        seen.spans[key] = _in_tokens_of(seen, example, reference.spans[key])
    for key in others:
        seen.spans[key] = [Span(seen, *span) for span in stand_ins[key](example)]
    return seen


def _in_tokens_of(doc: Doc, example: Example, group: SpanGroup) -> SpanGroup:
    """A group of the reference on a copy of the predicted Doc, its confidences too.

    A span that does not begin and end where tokens of the predicted Doc do is left out.
    """
    spans, kept = [], []
    identical = same_tokens(example)
    for i, span in enumerate(group):
        found = [span] if identical else example.get_aligned_spans_y2x([span], True)
        spans += [Span(doc, its.start, its.end, span.label) for its in found]
        kept += [i for _ in found]
    attributes, scores = dict(group.attrs), scores_of(group)
    attributes.pop(RECORD_ATTRIBUTE, None)  # its characters are those of the reference
    if scores is not None:
        attributes[CONFIDENCE_ATTRIBUTE] = np.where(np.isnan(scores), 1.0, scores)[kept]
    return SpanGroup(doc, name=group.name, attrs=attributes, spans=spans)


def ruled_spans(ruler: SpanRuler, example: Example) -> list[LabelledSpan]:
    """The spans that a ruler finds; it needs no training, so it can be asked at any time."""
    doc = ruler(example.predicted.copy())
    return [(span.start, span.end, span.label_) for span in doc.spans[ruler.key]]


def read_gold(
    example: Example,
    spans_key: str | None,
    labels: Collection[str] | None = None,
    parts: PartsOfGold = "neither",
) -> GoldSpans:
    """Gold spans from `reference.ents`, or from `reference.spans[spans_key]`.

    labels: of the spans that count, None for any; tokens of other spans are outside. parts: what
    becomes of discontinuous annotations (`_joined`).

    Tokens of gold spans that the predicted tokenization cannot express are not observed, nor are
    those of negative annotation (`is_negative`), which may be anything else.
    """
    gold = _read_reference(example.reference, spans_key, parts)
    if same_tokens(example):
        return _that_count(gold, labels)
    found = _that_count(_aligned(example, gold), labels)
    return replace(found, n_cut=len(_that_count(gold, labels).spans) - len(found.spans))


def read_own_gold(
    reference: Doc,
    spans_key: str | None,
    labels: Collection[str] | None = None,
    parts: PartsOfGold = "neither",
) -> GoldSpans:
    """As `read_gold`, all gold spans of a reference, in its own tokens."""
    return _that_count(_read_reference(reference, spans_key, parts), labels)


def _that_count(gold: GoldSpans, labels: Collection[str] | None) -> GoldSpans:
    """Spans with one of the labels; tokens of negative annotation alone become unobserved."""
    said = [span for span in gold.spans if not is_negative(span[2])]
    if len(said) < len(gold.spans):
        is_said = np.zeros(len(gold.observed), dtype=np.bool_)
        for start, end, _ in said:
            is_said[start:end] = True
        for start, end, label in gold.spans:
            if is_negative(label):
                gold.observed[start:end] &= is_said[start:end]
    wanted = said if labels is None else [span for span in said if span[2] in labels]
    return replace(gold, spans=wanted)


def of_level(gold: GoldSpans, level: str | None, doc: Doc, spans_key: str | None) -> GoldSpans:
    """The gold spans of a predicted Doc that are of a level (`nesting.LEVELS`), all, or None.

    A level has no spans that overlap (`without_crossing`). Raises `TrainingError` where spans
    overlap, and no level is wanted.
    """
    first = next((p for p in pairwise(gold.spans) if p[1][0] < p[0][1]), None)
    if level is None and first is not None:
        texts = [f"'{doc[s:e].text}' (tokens {s}-{e})" for s, e, _ in first]
        raise TrainingError(
            f"Gold spans in {place_of(spans_key)} overlap: {' and '.join(texts)} in the Doc that "
            f"begins '{doc.text[:50]}'. Each token has one label here. Have levels of spans with "
            "gold_level and cascade_levels (spacy cascade init writes a config), or keep one of "
            "the spans, for example with spacy.util.filter_spans."
        )
    if level is None or level == ALL or first is None:
        return gold
    found = without_crossing(nesting(gold.spans).take(LEVELS[level]), gold.observed)
    return replace(found, n_cut=gold.n_cut)


def without_crossing(spans: Sequence[LabelledSpan], observed: Bools1d) -> GoldSpans:
    """Ascending spans but for each that crosses the last one kept, whose tokens are left open."""
    kept: list[LabelledSpan] = []
    known = observed.copy()
    for start, end, label in spans:
        if kept and start < kept[-1][1]:
            known[kept[-1][1] : end] = False
        else:
            kept.append((start, end, label))
    return GoldSpans(kept, known)


def _aligned(example: Example, gold: GoldSpans) -> GoldSpans:
    """Gold spans of the reference in the tokens of the predicted Doc."""
    to_reference, to_predicted = example.alignment.x2y, example.alignment.y2x
    aligned: list[LabelledSpan] = []
    observed = np.zeros(len(example.predicted), dtype=np.bool_)
    for t in range(len(observed)):
        sources = to_reference[t]
        observed[t] = len(sources) > 0 and bool(gold.observed[sources].all())
    for start, end, label in gold.spans:
        exact = exact_bounds(example, start, end)
        if exact is not None:
            aligned.append((*exact, label))
        else:
            observed[[t for y in range(start, end) for t in to_predicted[y].tolist()]] = False
    return replace(gold, spans=aligned, observed=observed)


def exact_bounds(example: Example, start: int, end: int) -> Bounds | None:
    """The tokens of the predicted Doc that a span of the reference is; None where it cuts some."""
    to_predicted = example.alignment.y2x
    touched = [int(t) for y in range(start, end) for t in to_predicted[y]]
    exact = example.predicted[touched[0] : touched[-1] + 1] if touched else None
    if exact is None or _letters(exact) != _letters(example.reference[start:end]):
        return None
    return exact.start, exact.end


def _read_reference(reference: Doc, spans_key: str | None, parts: PartsOfGold) -> GoldSpans:
    if spans_key is None:
        return _read_entities(reference)
    spans = sorted(reference.spans.get(spans_key, []))
    observed = np.full(len(reference), spans_key in reference.spans)
    if any(span.id and is_part_id(span.id_) for span in spans):
        return _joined(spans, observed, parts)
    return GoldSpans([(s.start, s.end, s.label_) for s in spans], observed)


def _joined(spans: Sequence[Span], observed: Bools1d, parts: PartsOfGold) -> GoldSpans:
    """Spans of which some are parts of discontinuous annotations.

    Of these all parts are learnt, the span that covers them, or neither: then their tokens are not
    observed.
    """
    found: list[LabelledSpan] = []
    for annotation in annotations_of(spans):
        first, last = annotation[0], annotation[-1]
        if parts == "covering" or not is_part_id(first.id_):
            found.append((first.start, last.end, first.label_))
        elif parts == "parts":
            found += [(span.start, span.end, span.label_) for span in annotation]
        else:
            for span in annotation:
                observed[span.start : span.end] = False
    return GoldSpans(sorted(found), observed, has_parts=True)


def _read_entities(reference: Doc) -> GoldSpans:
    """Spans and observed tokens of `reference.ents`, faster than by making Spans."""
    table = np.asarray(reference.to_array([ENT_IOB, ENT_TYPE]))
    iob, label = table[:, 0], table[:, 1]
    start, end = entity_bounds(iob, label, np.zeros(0, dtype=np.int64))
    if (end - start - 1).sum() != np.count_nonzero(iob == INSIDE):
        raise TrainingError(
            f"An entity without a first token in the Doc that begins '{reference.text[:50]}': "
            "some token has ent_iob_ 'I' where none before it has 'B'. Set doc.ents anew."
        )
    texts = [reference.vocab.strings[number] for number in label[start].tolist()]
    return GoldSpans(list(zip(start.tolist(), end.tolist(), texts, strict=True)), iob != 0)


def gold_bounds(gold: Sequence[GoldSpans]) -> list[BoundsArray]:
    """Bounds of the gold spans of each Doc."""
    return [as_array([(start, end) for start, end, _ in of_doc.spans]) for of_doc in gold]


def gold_flags(tokens: Tokens, gold: Sequence[GoldSpans]) -> Ints2d:
    """SpanWordCounts flags of a corpus from its gold spans (see `features.evidence`)."""
    observed = [doc_gold.observed for doc_gold in gold]
    spans = [
        (start + offset, end + offset)
        for offset, doc_gold in zip(tokens.doc_starts.tolist(), gold, strict=False)
        for start, end, _ in doc_gold.spans
    ]
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    return span_flags(len(tokens.words), bounds, np.concatenate(observed))


def _letters(span: Span) -> str:
    """The text without white space, in which the two Docs may differ."""
    return "".join(span.text.split())
