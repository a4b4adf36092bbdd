"""What a segmenter and a classifier find in a Doc, and how the classifier's part is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from spacy.tokens import Doc, Span

from ...errors import ConfigError
from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...types import Bools1d, Floats1d, Floats2d, Ints1d
from .entities import CONFIDENCE_ATTRIBUTE, write_entities, write_group
from .nbest import KEPT, Candidates, TypedCandidates
from .placing import part_of


@dataclass(frozen=True)
class Segments:
    """Spans found in one Doc, the confidence of each and the N best where asked for."""

    spans: Spans
    confidences: Floats1d | None
    candidates: Candidates | None = None


@dataclass(frozen=True)
class TypedSpans:
    """Types of the spans of one Doc.

    spans: those of the Doc, in its order. types: int32 `[P]`, numbers of labels or `KEPT`.
    confidences: float64 `[P]`, probability of the type, times that of the span where the
    component that found it gave one; None when switched off. candidates: the N-best list, typed;
    None where there is none.
    """

    spans: list[Span]
    types: Ints1d
    confidences: Floats1d | None
    candidates: TypedCandidates | None = None


def segments_by_doc(spans: Spans, confidences: Floats1d | None, tokens: Tokens) -> list[Segments]:
    """Spans of a batch in ascending order, and their confidences, for each Doc."""
    cuts = np.searchsorted(spans.start, tokens.doc_starts)
    found = []
    for doc, offset in enumerate(tokens.doc_starts[:-1]):
        part = slice(cuts[doc], cuts[doc + 1])
        own = None if confidences is None else confidences[part]
        found.append(Segments(part_of(spans, part, offset), own))
    return found


def class_probabilities(scores: Floats2d, temperature: float) -> Floats2d:
    """Probabilities of the classes `[P, C]` of spans: `softmax(scores / temperature)`."""
    if not scores.size:
        return scores
    weights: Floats2d = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def thresholds_of(
    general: float, by_label: Mapping[str, float], labels: Sequence[str], name: str
) -> Floats1d:
    """The threshold of each label, float64 `[C]`; name: of the component.

    Raises `ConfigError` for a threshold of a label that the component does not know.
    """
    unknown = sorted(set(by_label) - set(labels))
    if unknown:
        raise ConfigError(
            f"'{name}' has a threshold for '{unknown[0]}', which it does not know. Its labels: "
            f"{', '.join(labels)}."
        )
    return np.array([by_label.get(label, general) for label in labels], dtype=np.float64)


def joint_confidences(
    doc: Doc, key: str | None, is_typed: Bools1d, probabilities: Floats1d
) -> Floats1d:
    """Confidence of each of the spans under the key, times the probability of its type.

    is_typed: bool `[P]`. probabilities: of the types of those that are.
    """
    earlier = _given_confidences(doc, key, len(is_typed))
    confidences = np.ones(len(is_typed)) if earlier is None else earlier
    confidences[is_typed] *= probabilities
    return confidences


def write_typed(
    doc: Doc, key: str | None, name: str, found: TypedSpans, labels: Sequence[int],
    thresholds: Floats1d, set_ents: bool,
) -> None:  # fmt: skip
    """Write the types and confidences to `doc.spans[key]`, and with `set_ents` to `doc.ents`.

    Other attributes of the group stay. key: None where the spans are those of `doc.ents`; the
    group is called `name` then. labels, thresholds: hash and threshold of each type. Where spans
    overlap, those with the largest sum of confidences less thresholds become entities, or the
    longest ones where only their types have confidences.
    """
    for span, number in zip(found.spans, found.types.tolist(), strict=True):
        if number != KEPT:
            span.label = labels[number]
    is_ranked = _given_confidences(doc, key, len(found.spans)) is not None
    attributes = dict(doc.spans[key].attrs) if key in doc.spans else {}
    group_key = name if key is None else key
    write_group(doc, group_key, found.spans, found.confidences, attributes)
    if not set_ents:
        return
    confidences = np.ones(len(found.spans)) if found.confidences is None else found.confidences
    gains = confidences - thresholds[found.types]
    kept = (found.types != KEPT) & (gains >= 0)
    entities = list(compress(found.spans, kept))
    replaced = entities if key is None else ()
    write_entities(doc, entities, replaced, gains=gains[kept] if is_ranked else None)


def _given_confidences(doc: Doc, key: str | None, n_spans: int) -> Floats1d | None:
    """A copy of what the component that found the spans gave them; None where it gave nothing."""
    group = doc.spans.get(key)
    scores = None if group is None else group.attrs.get(CONFIDENCE_ATTRIBUTE)
    if scores is None or len(scores) != n_spans:
        return None
    return np.array(scores, dtype=np.float64)
