"""Registered scorers: exact match, as the shared tasks' scripts count it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.scorer import PRFScore, get_ner_prf
from spacy.tokens import Doc
from spacy.training import Example

from .annotation import read_gold

Scores = dict[str, Any]


def score_segments(
    examples: Iterable[Example],
    *,
    spans_key: str,
    gold_key: str | None = None,
    set_ents: bool = False,
    **settings: object,
) -> Scores:
    """`segments_p/r/f`: spans with the right bounds, whatever their type.

    With `set_ents` also spaCy's `ents_p/r/f/per_type`. None where no example has gold
    annotation. Registered as `spacy_cascade.segments_scorer.v1`.
    """
    examples = list(examples)
    score = PRFScore()
    annotated = False
    for example in examples:
        gold = read_gold(example, gold_key)
        if not gold.observed.any():
            continue
        annotated = True
        group = example.predicted.spans.get(spans_key, ())
        found = {
            (span.start, span.end) for span in group if gold.observed[span.start : span.end].all()
        }
        score.score_set(found, {(start, end) for start, end, _ in gold.spans})
    scores: Scores = dict.fromkeys(("segments_p", "segments_r", "segments_f"))
    if annotated:
        scores = {
            "segments_p": score.precision,
            "segments_r": score.recall,
            "segments_f": score.fscore,
        }
    if set_ents:
        scores.update(get_ner_prf(examples))
    return scores


def score_types(
    examples: Iterable[Example],
    *,
    classify: Callable[[Sequence[Doc], Sequence[Any]], list[list[str]]],
    gold_key: str | None = None,
    **settings: object,
) -> Scores:
    """`types_acc`: share of gold spans that get their gold type; and spaCy's `ents_*`.

    Registered as `spacy_cascade.types_scorer.v1`.
    """
    examples = list(examples)
    gold = [read_gold(example, gold_key).spans for example in examples]
    bounds = [[(start, end) for start, end, _ in spans] for spans in gold]
    types = classify([example.predicted for example in examples], bounds)
    pairs = [
        (label, found)
        for spans, labels in zip(gold, types, strict=True)
        for (_, _, label), found in zip(spans, labels, strict=True)
    ]
    right = sum(label == found for label, found in pairs)
    return {"types_acc": right / len(pairs) if pairs else None, **get_ner_prf(examples)}


def make_segments_scorer() -> Callable[..., Scores]:
    """The scorer of `cascade_segmenter`."""
    return score_segments


def make_types_scorer() -> Callable[..., Scores]:
    """The scorer of `cascade_classifier`."""
    return score_types
