"""Registered scorers: exact match, as the shared tasks' scripts count it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.scorer import PRFScore, get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..types import Pointers1d
from .spans.gold import PartsOfGold, is_negative, read_gold, read_own_gold, same_tokens
from .spans.nesting import nesting
from .spans.placing import LabelledSpan

Scores = dict[str, Any]


class _SameTokens(NamedTuple):
    """An example whose two Docs have the same tokens, for spaCy's scorers and ours.

    spaCy aligns the Docs by their characters; here each token is the one of its own number.
    """

    x: Doc
    y: Doc
    x2y: Pointers1d

    @property
    def predicted(self) -> Doc:
        return self.x

    @property
    def reference(self) -> Doc:
        return self.y

    @property
    def alignment(self) -> _SameTokens:
        return self


def _aligned(example: Example) -> Any:
    """The example, aligned at once where that is no work."""
    if not same_tokens(example):
        return example
    predicted = example.predicted
    return _SameTokens(predicted, example.reference, np.arange(len(predicted)))


def score_segments(
    examples: Iterable[Example],
    *,
    spans_key: str,
    gold_key: str | None = None,
    gold_labels: Sequence[str] | None = None,
    gold_parts: PartsOfGold = "neither",
    set_ents: bool = False,
    overlapping: bool = False,
    is_chosen_from: bool = False,
    **settings: object,
) -> Scores:
    """`segments_p/r/f`: spans with the right bounds, whatever their type.

    With `set_ents` also spaCy's `ents_p/r/f/per_type`. A gold span that the predicted
    tokenization cannot express counts as missed, a span found where there is no annotation
    does not count. gold_labels: of the gold spans that count. None where no example has gold
    annotation. overlapping, is_chosen_from: where the group lists overlapping spans and entities
    are chosen from them, the entities are the segments, and `candidates_p/r/f` are the scores of
    the group. Registered as `spacy_cascade.segments_scorer.v1`.
    """
    examples = [_aligned(_with_gold(example, gold_key, gold_labels)) for example in examples]
    gold = _Gold(gold_key, gold_parts)
    listed = _count_spans(examples, spans_key, gold, key=_bounds)
    if overlapping and is_chosen_from:
        chosen = _count_spans(examples, spans_key, gold, key=_bounds, spans_of=_chosen)
        scores = {**_named("segments", chosen), **_named("candidates", listed)}
    else:
        scores = _named("segments", listed)
    if set_ents:
        scores.update(get_ner_prf(examples))
    return scores


def _count_spans(
    examples: Iterable[Example],
    spans_key: str,
    gold: _Gold,
    key: Callable[[LabelledSpan], Hashable] = lambda span: span,
    labels: Container[str] | None = None,
    spans_of: Callable[[Doc, str], Iterable[Span]] = lambda doc, key: _all_spans(doc, key),
) -> PRFScore | None:
    """Spans of a group against gold; None where no example has gold annotation.

    key: what has to agree. labels: of the spans that count; None for any. spans_of: the spans of a
    Doc and group.
    """
    score = PRFScore()
    annotated = False
    for found, right, wanted in _compared(examples, spans_key, gold, labels, spans_of):
        annotated = True
        agreeing = set(map(key, right))
        score.score_set(set(map(key, found)), agreeing)
        score.fn += len(set(map(key, wanted))) - len(agreeing)
    return score if annotated else None


class _Gold(NamedTuple):
    """Where gold spans are, None for entities, and what counts of discontinuous annotations."""

    key: str | None
    parts: PartsOfGold


class _Compared(NamedTuple):
    """Spans of an example: found, gold ones in tokens of the predicted Doc, and all gold ones."""

    found: list[LabelledSpan]
    gold: list[LabelledSpan]
    wanted: list[LabelledSpan]


def _compared(
    examples: Iterable[Example],
    spans_key: str,
    gold: _Gold,
    labels: Container[str] | None,
    spans_of: Callable[[Doc, str], Iterable[Span]],
) -> Iterator[_Compared]:
    """The spans of each example with annotation, as `_count_spans` takes them."""
    for example in examples:
        said = read_own_gold(example.reference, gold.key, parts=gold.parts)
        known = said.observed
        if not known.any():
            continue
        sources, all_known = example.alignment.x2y, known.all()
        found = [
            (span.start, span.end, span.label_)
            for span in spans_of(example.predicted, spans_key)
            if (labels is None or span.label_ in labels)
            and (all_known or known[sources[span.start : span.end]].all())
        ]
        is_same = isinstance(example, _SameTokens)
        aligned = said if is_same else read_gold(example, gold.key, parts=gold.parts)
        yield _Compared(found, aligned.spans, said.spans)


def _by_level_and_label(
    examples: Iterable[Example], spans_key: str, gold: _Gold, labels: Container[str]
) -> Scores:
    """`spans_<key>_per_level` and `spans_<key>_per_type`; nothing where no spans are nested.

    A level is how many spans the longest chain around a span has. Precision is that of spans found
    at a level, recall that of gold spans at it, wherever the other side has them.
    """
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])

    def count(spans: Sequence[LabelledSpan], place: int, known: Container[LabelledSpan]) -> None:
        nested = nesting(spans)
        for span, depth in zip(nested.spans, nested.depths, strict=True):
            for name in (("level", str(depth)), ("type", span[2])):
                counts[name][place] += span in known

    for found, right, wanted in _compared(examples, spans_key, gold, labels, _all_spans):
        for place, (spans, known) in enumerate(
            ((found, set(found)), (found, set(right)), (wanted, set(wanted)), (right, set(found)))
        ):
            count(spans, place, known)
    if sum(kind == "level" for kind, _ in counts) < 2:
        return {}
    return {
        f"spans_{spans_key}_per_{kind}": {
            name: _of_counts(*counts[kind, name]) for of, name in sorted(counts) if of == kind
        }
        for kind in ("level", "type")
    }


def _of_counts(n_found: int, n_right: int, n_gold: int, n_recalled: int) -> dict[str, float]:
    """Precision, recall and F1 under spaCy's names for them."""
    p, r = n_right / max(1, n_found), n_recalled / max(1, n_gold)
    return {"p": p, "r": r, "f": 2 * p * r / (p + r) if p + r else 0.0}


def _all_spans(doc: Doc, key: str) -> Sequence[Span]:
    return list(doc.spans.get(key, ()))


def _chosen(doc: Doc, spans_key: str) -> list[Span]:
    """The entities with the bounds of a span of a group."""
    listed = {(span.start, span.end) for span in doc.spans.get(spans_key, ())}
    return [entity for entity in doc.ents if (entity.start, entity.end) in listed]


def _with_gold(example: Example, gold_key: str | None, labels: Sequence[str] | None) -> Example:
    """The example with only those gold spans that have one of the labels.

    Entities of the negative annotation become tokens without annotation, as `read_gold` has them.
    """
    entities = example.reference.ents if gold_key is None else ()
    if labels is None and not any(is_negative(entity.label_) for entity in entities):
        return example
    reference = example.reference.copy()
    if gold_key is None:
        kinds: dict[str, list[Span]] = {"entities": [], "outside": [], "missing": []}
        for entity in reference.ents:
            counts = labels is None or entity.label_ in labels
            kind = "missing" if is_negative(entity.label_) else "entities" if counts else "outside"
            kinds[kind].append(entity)
        reference.set_ents(**kinds, default="unmodified")
    elif gold_key in reference.spans:
        group = reference.spans[gold_key]
        reference.spans[gold_key] = [
            span for span in group if span.label_ in (labels or ()) or is_negative(span.label_)
        ]
    return Example(example.predicted, reference)


def _bounds(span: LabelledSpan) -> Hashable:
    return span[:2]


def _named(name: str, score: PRFScore | None) -> Scores:
    values = (None,) * 3 if score is None else (score.precision, score.recall, score.fscore)
    return dict(zip((f"{name}_p", f"{name}_r", f"{name}_f"), values, strict=True))


def score_types(
    examples: Iterable[Example],
    *,
    classify: Callable[[Sequence[Doc], Sequence[Any]], list[list[str]]],
    labels: Container[str],
    spans_key: str | None = None,
    gold_key: str | None = None,
    gold_labels: Sequence[str] | None = None,
    gold_parts: PartsOfGold = "neither",
    **settings: object,
) -> Scores:
    """`types_acc`: share of gold spans that get their gold type; and spaCy's `ents_*`.

    With `spans_key` also `spans_<key>_p/r/f` of the typed spans of that group, which may overlap,
    and, where spans are nested, `spans_<key>_per_type` and `spans_<key>_per_level`: of outermost
    spans ("0"), of those inside one other ("1"), and so on.
    gold_labels: of the gold spans that count. Registered as `spacy_cascade.types_scorer.v1`.
    """
    examples = [_aligned(_with_gold(example, gold_key, gold_labels)) for example in examples]
    gold = [read_gold(example, gold_key, parts=gold_parts).spans for example in examples]
    bounds = [[(start, end) for start, end, _ in spans] for spans in gold]
    types = classify([example.predicted for example in examples], bounds)
    pairs = [
        (label, found)
        for spans, of_doc in zip(gold, types, strict=True)
        for (_, _, label), found in zip(spans, of_doc, strict=True)
    ]
    right = sum(label == found for label, found in pairs)
    scores = {"types_acc": right / len(pairs) if pairs else None, **get_ner_prf(examples)}
    if spans_key is not None:
        place = _Gold(gold_key, gold_parts)
        found = _count_spans(examples, spans_key, place, labels=labels)
        scores.update(_named(f"spans_{spans_key}", found))
        scores.update(_by_level_and_label(examples, spans_key, place, labels))
    return scores


def make_segments_scorer() -> Callable[..., Scores]:
    """The scorer of `cascade_segmenter`."""
    return score_segments


def make_types_scorer() -> Callable[..., Scores]:
    """The scorer of `cascade_classifier`."""
    return score_types
