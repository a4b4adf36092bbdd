"""Reading gold spans and tags from Examples, and writing spans to Docs without losing any."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise
from typing import Any

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH, POS, TAG
from spacy.pipeline import SpanRuler
from spacy.strings import StringStore
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.util import filter_spans

from ..errors import TrainingError
from ..features.evidence import span_flags
from ..features.sequences import Tokens
from ..features.space import FeatureSpace
from ..types import Bools1d, Floats1d, Ints2d, Keys1d, Pointers1d
from .span_lists import choose_disjoint

CONFIDENCE_ATTRIBUTE = "scores"
"""Key of a span group's attributes under which the confidences stand, as in spancat."""

_INSIDE, _OUTSIDE, _BEGIN = 1, 2, 3
"""Codes of `token.ent_iob`; 0 where nothing is known."""

SpanKey = tuple[int, int, int]
"""Start, end (exclusive) and label of a span."""


@dataclass(frozen=True)
class GoldSpans:
    """What the reference says about the tokens of the predicted Doc.

    spans: `(start, end, label)` in ascending order, without overlap.
    observed: bool `[T]`, False for tokens without annotation.
    """

    spans: list[tuple[int, int, str]]
    observed: Bools1d


GoldOf = Callable[[Example], list[tuple[int, int, str]]]
"""Gives start, end and label of the spans that a component should find, or finds by rules."""


def same_tokens(example: Example) -> bool:
    """Whether the two Docs of the example have the same tokens."""
    predicted, reference = example.predicted, example.reference
    return len(predicted) == len(reference) and np.array_equal(
        predicted.to_array(ORTH), reference.to_array(ORTH)
    )


def as_seen(example: Example, space: FeatureSpace, stand_ins: Mapping[str, GoldOf]) -> Doc:
    """The predicted Doc, or a copy that also has what the templates of the space look at.

    What earlier components would set, tags and span groups, and a predicted Doc has not, is
    taken from the reference. stand_ins: by key, what gives the spans that an earlier component
    should find, where the reference has no group of that key either.
    """
    predicted, reference = example.predicted, example.reference
    wanted = [key for key in space.span_keys if key not in predicted.spans]
    keys = [key for key in wanted if key in reference.spans]
    reads_tags = "tags" in space.reads or "parts_of_speech" in space.reads
    tags_known = reference.has_annotation("TAG") and not predicted.has_annotation("TAG")
    from_reference = same_tokens(example) and (bool(keys) or (reads_tags and tags_known))
    others = [key for key in wanted if key not in keys and key in stand_ins]
    if not from_reference and not others:
        return predicted
    # Not the reference itself: its sentence starts are not seen in training.
    seen = predicted.copy()
    if from_reference:
        if reads_tags and tags_known:
            tags: Any = reference.to_array([TAG, POS])
            seen.from_array([TAG, POS], tags)
        for key in keys:
            seen.spans[key] = [Span(seen, s.start, s.end, s.label) for s in reference.spans[key]]
    for key in others:
        seen.spans[key] = [Span(seen, *span) for span in stand_ins[key](example)]
    return seen


def ruled_spans(ruler: SpanRuler, example: Example) -> list[tuple[int, int, str]]:
    """The spans that a ruler finds; it needs no training, so it can be asked at any time."""
    doc = ruler(example.predicted.copy())
    return [(span.start, span.end, span.label_) for span in doc.spans[ruler.key]]


def read_gold(example: Example, spans_key: str | None) -> GoldSpans:
    """Gold spans from `reference.ents`, or from `reference.spans[spans_key]`.

    Tokens of gold spans that the predicted tokenization cannot express are not observed.
    Raises `TrainingError` where gold spans overlap.
    """
    reference = example.reference
    n_tokens = len(example.predicted)
    identical = same_tokens(example)
    if spans_key is None and identical:
        return _read_entities(reference)
    if spans_key is None:
        spans = list(reference.ents)
        observed = np.asarray(reference.to_array(ENT_IOB) != 0)
    else:
        spans = sorted(reference.spans.get(spans_key, []))
        observed = np.full(len(reference), spans_key in reference.spans)
        _refuse_overlap(spans, spans_key)
    if identical:
        return GoldSpans([(s.start, s.end, s.label_) for s in spans], observed)
    aligned: list[tuple[int, int, str]] = []
    x_observed = np.zeros(n_tokens, dtype=np.bool_)
    for t, sources in enumerate(_aligned_tokens(example)):
        x_observed[t] = len(sources) > 0 and bool(observed[sources].all())
    for span in spans:
        touched = _touched(example, span)
        exact = example.predicted[touched[0] : touched[-1] + 1] if touched else None
        if exact is not None and _letters(exact) == _letters(span):
            aligned.append((exact.start, exact.end, span.label_))
        else:
            x_observed[touched] = False
    return GoldSpans(aligned, x_observed)


def _read_entities(reference: Doc) -> GoldSpans:
    """Spans and observed tokens of `reference.ents`, faster than by making Spans."""
    table = np.asarray(reference.to_array([ENT_IOB, ENT_TYPE]))
    iob, label = table[:, 0], table[:, 1]
    start, end = entity_bounds(iob, label, np.zeros(0, dtype=np.int64))
    if (end - start - 1).sum() != np.count_nonzero(iob == _INSIDE):
        raise TrainingError(
            f"An entity without a first token in the Doc that begins '{reference.text[:50]}': "
            "some token has ent_iob_ 'I' where none before it has 'B'. Set doc.ents anew."
        )
    texts = [reference.vocab.strings[number] for number in label[start].tolist()]
    return GoldSpans(list(zip(start.tolist(), end.tolist(), texts, strict=True)), iob != 0)


def entity_bounds(
    iob: Keys1d, label: Keys1d, boundaries: Pointers1d
) -> tuple[Pointers1d, Pointers1d]:
    """Start and end (exclusive) of entities, from `ENT_IOB` and `ENT_TYPE` of all tokens `[T]`.

    boundaries: int64, tokens before which every entity ends.
    """
    start = np.flatnonzero((iob == _BEGIN) & (label != 0))
    ends = np.append(iob != _INSIDE, True)
    ends[boundaries] = True
    stops = np.flatnonzero(ends)
    return start, stops[np.searchsorted(stops, start, side="right")]


def taken_tokens(iob: Keys1d) -> Bools1d:
    """Tokens `[T]` that no entity can be added at: those of entities, and blocked ones."""
    taken: Bools1d = (iob == _INSIDE) | (iob == _BEGIN)
    return taken


@dataclass(frozen=True)
class GoldTags:
    """Part of speech of the tokens of the predicted Doc, as the reference has it.

    tags: uint64 `[T]`, hashes of `token.tag`, 0 for tokens without annotation.
    strings: their texts.
    """

    tags: Keys1d
    strings: StringStore


def read_gold_tags(example: Example) -> GoldTags:
    """Gold tags from `reference.tag`; a token that the reference has not is not observed."""
    reference = example.reference
    tags = np.asarray(reference.to_array(TAG))
    if not same_tokens(example):
        to_reference, to_predicted = example.alignment.x2y, example.alignment.y2x
        same = to_reference.lengths == 1
        source = to_reference.data[np.cumsum(to_reference.lengths)[same] - 1]
        is_one = to_predicted.lengths[source] == 1
        aligned = np.zeros(len(example.predicted), dtype=np.uint64)
        aligned[np.flatnonzero(same)[is_one]] = tags[source[is_one]]
        tags = aligned
    return GoldTags(tags, reference.vocab.strings)


def gold_flags(tokens: Tokens, gold: Sequence[GoldSpans]) -> Ints2d:
    """Evidence flags of a corpus from its gold spans (see `features.evidence`)."""
    observed = [doc_gold.observed for doc_gold in gold]
    spans = [
        (start + offset, end + offset)
        for offset, doc_gold in zip(tokens.doc_starts.tolist(), gold, strict=False)
        for start, end, _ in doc_gold.spans
    ]
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    return span_flags(len(tokens.words), bounds, np.concatenate(observed))


def _aligned_tokens(example: Example) -> list[list[int]]:
    alignment = example.alignment.x2y
    return [alignment[t].tolist() for t in range(len(example.predicted))]


def _touched(example: Example, span: Span) -> list[int]:
    alignment = example.alignment.y2x
    return [int(t) for y in range(span.start, span.end) for t in alignment[y]]


def _letters(span: Span) -> str:
    """The text without white space, in which the two Docs may differ."""
    return "".join(span.text.split())


def _refuse_overlap(spans: Sequence[Span], spans_key: str) -> None:
    for left, right in pairwise(spans):
        if right.start < left.end:
            raise TrainingError(
                f"Gold spans in doc.spans['{spans_key}'] overlap: '{left.text}' "
                f"(tokens {left.start}-{left.end}) and '{right.text}' (tokens {right.start}-"
                f"{right.end}) in the Doc that begins '{left.doc.text[:50]}'. A chain has one "
                "label a token: keep one of them, for example with spacy.util.filter_spans."
            )


def write_group(doc: Doc, key: str, spans: list[Span], confidences: Floats1d | None) -> None:
    """Put spans in `doc.spans[key]`, with their confidences where there are any."""
    group = SpanGroup(doc, name=key, spans=spans)
    if confidences is not None:
        group.attrs[CONFIDENCE_ATTRIBUTE] = confidences
    doc.spans[key] = group


def write_entities(
    doc: Doc, spans: list[Span], replaced: Sequence[Span] = (), gains: Floats1d | None = None
) -> None:
    """Add spans to `doc.ents`; what another component set there stays.

    A span that touches an earlier entity or a blocked token is left out, unless it is
    one of `replaced`, which give way. Of spans that overlap each other those with the largest sum
    of gains stay, `[P]`; the longest where there are no gains.
    """
    taken = taken_tokens(np.asarray(doc.to_array(ENT_IOB)))
    for span in replaced:
        taken[span.start : span.end] = False
    if taken.any():
        free = [not taken[span.start : span.end].any() for span in spans]
        spans = list(compress(spans, free))
        gains = None if gains is None else gains[free]
    if any(right.start < left.end for left, right in pairwise(spans)):
        spans = filter_spans(spans) if gains is None else _best_spans(spans, gains)
    if spans:
        doc.set_ents(spans, default="unmodified")


def _best_spans(spans: Sequence[Span], gains: Floats1d) -> list[Span]:
    start, end = np.array([(span.start, span.end) for span in spans], dtype=np.int64).T
    return list(compress(spans, choose_disjoint(start, end, gains)))


def replace_entities(doc: Doc, spans: Collection[SpanKey], typed: Sequence[Span]) -> None:
    """Make `doc.ents` have the typed spans instead of those that are among the others.

    Entities that another component set stay.
    """
    wanted = {(s.start, s.end, s.label) for s in typed}
    earlier = [e for e in doc.ents if (e.start, e.end, e.label) in spans]
    known = {(e.start, e.end, e.label) for e in earlier}
    removed = [e for e in earlier if (e.start, e.end, e.label) not in wanted]
    if removed:
        # As if they had never been set: beside tokens known as outside, outside too.
        where = "outside" if (doc.to_array(ENT_IOB) == _OUTSIDE).any() else "missing"
        doc.set_ents([], **{where: removed}, default="unmodified")
    write_entities(doc, [s for s in typed if (s.start, s.end, s.label) not in known])


def confidence_of(span: Span) -> float | None:
    """Confidence of a span that a cascade component found, else None.

    Looked up in the Doc's span groups with confidences; the getter of `Span._.confidence`.
    """
    for group in span.doc.spans.values():
        scores = group.attrs.get(CONFIDENCE_ATTRIBUTE)
        place = None if scores is None else _place_in(group, span)
        if scores is not None and place is not None and place < len(scores):
            return float(scores[place])
    return None


def _place_in(group: SpanGroup, span: Span) -> int | None:
    """Place of a span in a group, at once where that is in order, as we write it."""
    wanted = (span.start, span.end, span.label)
    place = bisect_left(range(len(group)), wanted[:2], key=lambda i: (group[i].start, group[i].end))
    for i in chain(range(place, len(group)), range(place)):
        found = group[i]
        if (found.start, found.end, found.label) == wanted:
            return i
    return None


def register_confidence() -> None:
    """Make `Span._.confidence` available, unless the user has an extension of that name."""
    if not Span.has_extension("confidence"):
        Span.set_extension("confidence", getter=confidence_of)
