"""Registered scorers: exact match, as the shared tasks' scripts count it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.scorer import PRFScore, Scorer, get_ner_prf
from spacy.tokens import Doc
from spacy.training import Example

from ..types import Bools1d
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

    With `set_ents` also spaCy's `ents_p/r/f/per_type`. A gold span that the predicted
    tokenization cannot express counts as missed, a span found where there is no annotation
    does not count. None where no example has gold annotation. Registered as
    `spacy_cascade.segments_scorer.v1`.
    """
    examples = list(examples)
    score = PRFScore()
    annotated = False
    for example in examples:
        n_gold, known = _gold_in_reference(example, gold_key)
        if not known.any():
            continue
        annotated = True
        sources = example.alignment.x2y
        found = {
            (span.start, span.end)
            for span in example.predicted.spans.get(spans_key, ())
            if known[sources[span.start : span.end]].all()
        }
        gold = {(start, end) for start, end, _ in read_gold(example, gold_key).spans}
        score.score_set(found, gold)
        score.fn += n_gold - len(gold)
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


def _gold_in_reference(example: Example, gold_key: str | None) -> tuple[int, Bools1d]:
    """Number of gold spans, and whether each token of the reference is annotated."""
    reference = example.reference
    if gold_key is None:
        return len(reference.ents), np.asarray(reference.to_array(ENT_IOB) != 0)
    is_known = gold_key in reference.spans
    return len(reference.spans[gold_key]) if is_known else 0, np.full(len(reference), is_known)


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


def score_tags(examples: Iterable[Example], **settings: object) -> Scores:
    """`tag_acc` as spaCy's own tagger counts it: share of gold tokens with the right tag.

    Tokens without gold tag do not count. Registered as `spacy_cascade.tags_scorer.v1`.
    """
    scores: Scores = Scorer.score_token_attr(examples, "tag")
    return scores


def make_segments_scorer() -> Callable[..., Scores]:
    """The scorer of `cascade_segmenter`."""
    return score_segments


def make_types_scorer() -> Callable[..., Scores]:
    """The scorer of `cascade_classifier`."""
    return score_types


def make_tags_scorer() -> Callable[..., Scores]:
    """The scorer of `cascade_tagger`."""
    return score_tags
