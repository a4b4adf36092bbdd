"""The entities of a Doc as plain values, which outlive the Doc and its memory zone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from ..features.group_spans import CONFIDENCE_ATTRIBUTE
from ..pipeline.spans.confidences import CharacterKey, confidence_of, key_of


class Entity(NamedTuple):
    """An entity of a text.

    start, end (exclusive): characters of the text, from 0. kb_id: identifier that a linker gave,
    None if there is none. confidence: from 0 to 1, None if no component gave one.
    """

    start: int
    end: int
    label: str
    kb_id: str | None
    confidence: float | None


def entities_of(doc: Doc, spans_key: str | None = None) -> list[Entity]:
    """The entities in `doc.ents`, or the spans of a group. spans_key: key of the group.

    A Doc without such a group has none.
    """
    spans: Iterable[Span] = doc.ents if spans_key is None else doc.spans.get(spans_key, ())
    known: dict[CharacterKey, float] | None = None
    found = []
    for span in spans:
        if known is None:
            known = _confidences(doc)
        key = key_of(span)
        confidence = known[key] if key in known else confidence_of(span)
        found.append(Entity(key[0], key[1], span.label_, span.kb_id_ or None, confidence))
    return found


def _confidences(doc: Doc) -> dict[CharacterKey, float]:
    """Those of the last group that has any: faster than `confidence_of`, which knows all groups."""
    for group in reversed(list(doc.spans.values())):
        scores = group.attrs.get(CONFIDENCE_ATTRIBUTE)
        if scores is not None:
            found: dict[CharacterKey, float] = {}
            for span, score in zip(group, scores, strict=False):
                found.setdefault(key_of(span), float(score))
            return found
    return {}


def arrow_type(arrow: Any) -> Any:
    """The Arrow type of the entities of a text. arrow: the module `pyarrow`."""
    return arrow.list_(
        arrow.struct(
            [
                ("start", arrow.int32()),
                ("end", arrow.int32()),
                ("label", arrow.string()),
                ("kb_id", arrow.string()),
                ("confidence", arrow.float64()),
            ]
        )
    )
