"""`span._.confidence`: the scores of span groups, found by characters.

A span is known by its characters and its label. Its place in a group does not do, since spans are
exchanged, taken out and added; numbers of tokens neither: when tokens are merged or split later
(`merge_entities`, `doc.retokenize`), spaCy keeps the old numbers in span groups.

What a component has scored, and which of it are entities that it has set, stands in a record
(`features.scored_spans`), both in the attributes of the group, which a `DocBin` stores, and in
`doc.user_data`, which `Doc.from_docs` joins and `span.as_doc(copy_user_data=True)` cuts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ...features.scored_spans import (
    CONFIDENCE_ATTRIBUTE,
    EARLIER,
    ENTITY,
    FOUND,
    RECORD_ATTRIBUTE,
    CharacterKey,
    has_entities,
    pack,
    pack_found,
    scored_keys,
    unpack,
)
from ...types import Bools1d, Floats1d
from .groups import LastingGroup, size_of, table_of_group
from .tables import SpanTable

_EXTENSION = "confidence"
_BEGIN, _INSIDE = 3, 1
"""Codes of `token.ent_iob`."""
_PREFIX = "cascade_confidences of "
"""In `doc.user_data`, before the key of a group: a name as of an extension of spaCy, whose place
moves with a part of the Doc."""


class _Scored(NamedTuple):
    """A group with confidences, as it was when it was read; scores, record: its attributes.

    places: the place of the score of each span. entities: those that the component has set itself;
    None where no record says it. earlier: confidences of entities that the group does not have.
    """

    group: SpanGroup
    n_spans: int
    scores: Any
    record: bytes | None
    places: dict[CharacterKey, int]
    is_by_place: bool
    entities: frozenset[CharacterKey] | None
    earlier: dict[CharacterKey, float]

    def is_current(self, group: SpanGroup) -> bool:
        """Whether the group is still that one, and has the same scores."""
        attributes = group.attrs
        return (
            self.group is group
            and self.scores is attributes.get(CONFIDENCE_ATTRIBUTE)
            and self.record is attributes.get(RECORD_ATTRIBUTE)
            and self.n_spans == size_of(group)
        )

    def confidence(self, key: CharacterKey, is_entity: Callable[[], bool]) -> float | None:
        """Of a span, unless it is an entity that another component has set."""
        place = self.places.get(key)
        if place is None:
            return self.earlier.get(key)
        if self.is_by_place and key_of(self.group[place]) != key:  # exchanged since it was read
            place = _places(self.group, len(self.scores)).get(key)
        if place is None or place >= len(self.scores):
            return None
        if self.entities is not None and key not in self.entities and is_entity():
            return None
        return float(self.scores[place])


class _Moved(NamedTuple):
    """What the records in `doc.user_data` say, where that has n values.

    found: of each span its confidence, the key of its group, and whether a component has made it an
    entity.
    """

    n: int
    found: dict[CharacterKey, tuple[float, str, bool]]


_read: WeakKeyDictionary[Doc, list[_Scored]] = WeakKeyDictionary()
_read_moved: WeakKeyDictionary[Doc, _Moved] = WeakKeyDictionary()
"""What was read of a Doc, so that this is done once for all of its spans."""


def key_of(span: Span) -> CharacterKey:
    """What a span is known by."""
    return span.start_char, span.end_char, span.label


def confidence_of(span: Span) -> float | None:
    """Confidence of a span that a cascade component found, else None.

    Looked up in the Doc's span groups with confidences, the last one first: a later component
    knows more. A span with the same characters and label counts as the same one, wherever it stands
    in the group, and also after tokens were merged or split, and Docs joined. An entity that
    another component has set has none, even where a cascade component found the same span. The
    getter of `Span._.confidence`.
    """
    return _look_up(span.doc, key_of(span), lambda: _is_entity(span))


def confidences_of(doc: Doc) -> dict[CharacterKey, float]:
    """`span._.confidence` of all spans that have one."""
    entities = frozenset(map(key_of, doc.ents))
    keys = [key for scored in _scored_in(doc) for key in (*scored.places, *scored.earlier)]
    found: dict[CharacterKey, float] = {}
    for key in dict.fromkeys([*keys, *_moved_to(doc).found]):
        confidence = _look_up(doc, key, lambda key=key: key in entities)  # type: ignore[misc]
        if confidence is not None:
            found[key] = confidence
    return found


def scores_of(group: SpanGroup, unknown: float = np.nan) -> Floats1d | None:
    """Confidence of each span of a group as it is now `[P]`; unknown: of one that was added later.

    None where the group has no confidences, or they cannot be assigned to its spans.
    """
    scores = group.attrs.get(CONFIDENCE_ATTRIBUTE)
    if scores is None:
        return None
    is_as_written = isinstance(group, LastingGroup) and group.is_as_written
    keys = None if is_as_written else scored_keys(group.attrs)
    if keys is None:
        return np.asarray(scores, dtype=np.float64) if len(scores) == size_of(group) else None
    known = dict(zip(keys, scores, strict=True))
    found = [known.get(key, unknown) for key in _character_keys(table_of_group(group))]
    return np.array(found, dtype=np.float64)


def records_of(
    tables: Sequence[SpanTable],
    confidences: Sequence[Floats1d | None],
    is_entity: Bools1d | bool = False,
) -> list[bytes]:
    """The record of the spans of each Doc; empty ones where the component gives no confidences.

    is_entity: of the spans of all Docs `[P]`, whether the component makes them entities.
    """
    known = [of_doc for of_doc in confidences if of_doc is not None]
    if not known or len(known) < len(tables):
        return [b""] * len(tables)
    columns = zip(*((t.start_char, t.end_char, t.label) for t in tables), strict=True)
    start, end, label = map(np.concatenate, columns)
    sizes = list(map(len, known))
    return pack_found(start, end, label, np.concatenate(known), is_entity, sizes)


def keep_record(doc: Doc, key: str, spans: SpanTable, record: bytes) -> bytes:
    """Write the record of a new group to `doc.user_data`; the record for the group.

    Entities of a component that wrote to the same key before keep what they had, while its group
    goes.
    """
    name: Any = ("._.", _PREFIX + key, 0, 0)  # characters from which the others count
    user_data: dict[Any, Any] = doc.user_data
    before = user_data.pop(name, None)
    if before is None and key in doc.spans:
        before = doc.spans[key].attrs.get(RECORD_ATTRIBUTE)
    if before and has_entities(before):
        record = _with_earlier(doc, spans, record, before)
    if record:
        user_data[name] = record
    if _read_moved:
        _read_moved.pop(doc, None)
    return record


def _with_earlier(doc: Doc, spans: SpanTable, record: bytes, before: bytes) -> bytes:
    """A record that also has what entities of the Doc have by the record of an earlier group."""
    entities = set(map(key_of, doc.ents))
    earlier = {row[:3]: row for row in unpack(before) if row[4] != FOUND and row[:3] in entities}
    rows = [(*row[:4], ENTITY) if row[:3] in earlier else row for row in unpack(record)]
    gone = earlier.keys() - set(_character_keys(spans))
    return pack([*rows, *((*earlier[key][:4], EARLIER) for key in gone)])


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


def _look_up(doc: Doc, key: CharacterKey, is_entity: Callable[[], bool]) -> float | None:
    for scored in _scored_in(doc):
        confidence = scored.confidence(key, is_entity)
        if confidence is not None:
            return confidence
    confidence, group, is_own = _moved_to(doc).found.get(key, (None, "", False))
    return confidence if (is_own if is_entity() else group in doc.spans) else None


def _is_entity(span: Span) -> bool:
    """Whether a span is among `doc.ents`, without making them."""
    tokens, label = list(span), span.label
    if not tokens or [t.ent_iob for t in tokens] != [_BEGIN] + [_INSIDE] * (len(tokens) - 1):
        return False
    is_longer = span.end < len(span.doc) and span.doc[span.end].ent_iob == _INSIDE
    return not is_longer and tokens[0].ent_type == label


def _scored_in(doc: Doc) -> list[_Scored]:
    """All groups with confidences, the last one first."""
    groups = [g for g in doc.spans.values() if _is_scored(g)]
    groups.reverse()
    known = _read.get(doc, [])
    is_same = len(known) == len(groups) and all(
        scored.is_current(group) for scored, group in zip(known, groups, strict=True)
    )
    if not is_same:
        known = _read[doc] = [_scored(group) for group in groups]
    return known


def _is_scored(group: SpanGroup) -> bool:
    known = (group.attrs.get(name) for name in (CONFIDENCE_ATTRIBUTE, RECORD_ATTRIBUTE))
    return any(value is not None for value in known)


def _scored(group: SpanGroup) -> _Scored:
    attributes, n_spans = group.attrs, size_of(group)
    scores, record = attributes.get(CONFIDENCE_ATTRIBUTE), attributes.get(RECORD_ATTRIBUTE)
    keys, entities, earlier = scored_keys(attributes), None, {}
    if record is not None:
        rows = unpack(record)
        entities = frozenset(row[:3] for row in rows if row[4] != FOUND)
        earlier = {row[:3]: row[3] for row in rows if row[4] == EARLIER}
    places: dict[CharacterKey, int] = {}
    if keys is not None:
        places = _first_places(keys)
    elif scores is not None:
        places = _places(group, len(scores))
    return _Scored(group, n_spans, scores, record, places, keys is None, entities, earlier)


def _places(group: SpanGroup, n_scores: int) -> dict[CharacterKey, int]:
    """Where the spans of a group that have scores stand now."""
    return _first_places(_character_keys(table_of_group(group))[:n_scores])


def _first_places(keys: Sequence[CharacterKey]) -> dict[CharacterKey, int]:
    """The place of each span; of equal ones the first."""
    return {key: place for place, key in reversed(list(enumerate(keys)))}


def _character_keys(table: SpanTable) -> list[CharacterKey]:
    """What each span is known by."""
    columns = (table.start_char.tolist(), table.end_char.tolist(), table.label.tolist())
    return list(zip(*columns, strict=True))


def _moved_to(doc: Doc) -> _Moved:
    """What `doc.user_data` says, where a Doc may be a part of others, or joined of them."""
    moved = _read_moved.get(doc)
    if moved is None or moved.n != len(doc.user_data):
        moved = _read_moved[doc] = _Moved(len(doc.user_data), {})
        for group, begin, record in _records(doc):
            for start, end, label, confidence, role in unpack(record):
                key = (start + begin, end + begin, label)
                if role != FOUND or key not in moved.found:
                    moved.found[key] = confidence, group, role != FOUND
    return moved


def _records(doc: Doc) -> Iterator[tuple[str, int, bytes]]:
    """Key of the group of each record, the character from which it counts, and the record."""
    for name, record in doc.user_data.items():
        key: Any = name
        if isinstance(key, tuple) and len(key) == 4 and str(key[1]).startswith(_PREFIX):
            yield key[1][len(_PREFIX) :], key[2], record
