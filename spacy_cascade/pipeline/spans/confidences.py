"""`span._.confidence`: the scores of span groups, found by characters.

A span is known by its characters and its label. Numbers of tokens do not do: when tokens are merged
or split later (`merge_entities`, `doc.retokenize`), spaCy keeps the old numbers in span groups.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span, SpanGroup

from ...features.group_spans import CONFIDENCE_ATTRIBUTE
from .groups import size_of, table_of_group
from .tables import SpanTable

CharacterKey: TypeAlias = tuple[int, int, int]
"""First character, end (exclusive) and hash of the label of a span."""

_EXTENSION = "confidence"
_EARLIER = "earlier"
"""Key of a span group's attributes with rows of a `CharacterKey` and a confidence."""


class _Places(NamedTuple):
    """Where the spans of a group stand; n_spans: when it was read.

    earlier: confidences that the group keeps of entities that it does not have.
    """

    group: SpanGroup
    n_spans: int
    of: dict[CharacterKey, int]
    earlier: dict[CharacterKey, float]

    def confidence(self, key: CharacterKey) -> float | None:
        """Of a span of the group, or of an entity that was there before it."""
        place = self.of.get(key)
        scores = self.group.attrs[CONFIDENCE_ATTRIBUTE]
        if place is not None and place < len(scores):
            return float(scores[place])
        return self.earlier.get(key)


_read: WeakKeyDictionary[Doc, list[_Places]] = WeakKeyDictionary()
"""What was read of a Doc, so that its groups are read once for all of its spans.

A span that is exchanged in place in a group that was read is not noticed, a new group is.
"""


def key_of(span: Span) -> CharacterKey:
    """What a span is known by."""
    return span.start_char, span.end_char, span.label


def confidence_of(span: Span) -> float | None:
    """Confidence of a span that a cascade component found, else None.

    Looked up in the Doc's span groups with confidences, the last one first: a later component
    knows more. A span with the same characters and label counts as the same one, also after tokens
    were merged or split. The getter of `Span._.confidence`.
    """
    key = key_of(span)
    for places in _places_in(span.doc):
        confidence = places.confidence(key)
        if confidence is not None:
            return confidence
    return None


def confidences_of(doc: Doc) -> dict[CharacterKey, float]:
    """`span._.confidence` of all spans that have one."""
    found: dict[CharacterKey, float] = {}
    for places in _places_in(doc):
        for key in (*places.of, *places.earlier):
            confidence = places.confidence(key)
            if confidence is not None:
                found.setdefault(key, confidence)
    return found


def kept_confidences(doc: Doc, key: str) -> dict[str, Any]:
    """Attributes with which a group that replaces `doc.spans[key]` keeps what entities have by it.

    Entities of another component that writes to the same key stay in `doc.ents`, while its group
    goes.
    """
    replaced = doc.spans.get(key)
    if replaced is None:
        return {}
    places = next((known for known in _places_in(doc) if known.group is replaced), None)
    if places is None:
        return {}
    found = ((known, places.confidence(known)) for known in map(key_of, doc.ents))
    rows = [[*known, confidence] for known, confidence in found if confidence is not None]
    return {_EARLIER: rows} if rows else {}


def drop_known(attributes: dict[str, Any], spans: SpanTable) -> None:
    """Leave out the entities that the new spans of a group have again."""
    rows = attributes.pop(_EARLIER, None)
    if not rows:
        return
    known = set(_character_keys(spans))
    others = [row for row in rows if tuple(row[:3]) not in known]
    if others:
        attributes[_EARLIER] = others


def register_confidence() -> None:
    """Make `Span._.confidence` available; warn where the user has an extension of that name."""
    if not Span.has_extension(_EXTENSION):
        Span.set_extension(_EXTENSION, getter=confidence_of)
    elif Span.get_extension(_EXTENSION)[2] is not confidence_of:
        warnings.warn(
            "Span._.confidence is an extension of yours, so it does not give the confidences of "
            "spacy_cascade. Read those with spacy_cascade.confidence_of(span); or give yours "
            "another name.",
            stacklevel=2,
        )


def _places_in(doc: Doc) -> list[_Places]:
    """Those of all groups with confidences, the last group first."""
    groups = [g for g in doc.spans.values() if g.attrs.get(CONFIDENCE_ATTRIBUTE) is not None]
    groups.reverse()
    known = _read.get(doc, [])
    is_same = len(known) == len(groups) and all(
        places.group is group and places.n_spans == size_of(group)
        for places, group in zip(known, groups, strict=True)
    )
    if not is_same:
        known = [_places_of(group) for group in groups]
        _read[doc] = known
    return known


def _character_keys(table: SpanTable) -> list[CharacterKey]:
    """What each span is known by."""
    columns = (table.start_char.tolist(), table.end_char.tolist(), table.label.tolist())
    return list(zip(*columns, strict=True))


def _places_of(group: SpanGroup) -> _Places:
    """Place of each span; of equal ones the first."""
    places: dict[CharacterKey, int] = {}
    for place, key in enumerate(_character_keys(table_of_group(group))):
        places.setdefault(key, place)
    rows = group.attrs.get(_EARLIER, ())
    earlier = {(start, end, label): confidence for start, end, label, confidence in rows}
    return _Places(group, size_of(group), places, earlier)
