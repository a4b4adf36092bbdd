"""What is found in a text, as plain values, which outlive the Doc and its memory zone."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from ...pipeline.spans.confidences import confidences_of, key_of


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
    known = confidences_of(doc)
    found = []
    for span in spans:
        key = key_of(span)
        found.append(Entity(*key[:2], span.label_, span.kb_id_ or None, known.get(key)))
    return found


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


def as_dicts(values: Sequence[list[Entity] | None]) -> list[list[dict[str, Any]] | None]:
    """Entities as Arrow and JSON have them."""
    return [None if of is None else [entity._asdict() for entity in of] for of in values]


def as_json(value: Any) -> str:
    """A value as JSON, which has no NaN and no infinity: they become null.

    Half a surrogate pair is escaped, since UTF-8 cannot have it.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, default=_plain)
    except ValueError:
        # Python writes names for them, which it reads again and can so replace.
        named = json.dumps(value, default=_plain)
        return as_json(json.loads(named, parse_constant=lambda _: None))
    return text


def _plain(value: Any) -> Any:
    """What JSON can hold of a value that it has no type for, such as a date."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
