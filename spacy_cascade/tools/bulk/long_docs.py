"""Docs longer than `nlp.max_length`: cut at ends of sentences or paragraphs, and joined again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ...types import Bools1d, Pointers1d

_ENDS = frozenset(".!?…。\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}")
_EXTENSION = "._."
"""First of the four parts of a key of `doc.user_data`; the last two are characters or None."""


def parts_of(doc: Doc, limit: int) -> list[Doc]:
    """The Doc itself, or Docs of at most so many characters if it is longer.

    limit: characters; only a single token may have more. Each part ends, in the second half of the
    limit, with the last sentence that the Doc knows, paragraph, seeming sentence, line or token,
    whichever there is first in this order; none ends inside of an entity or a span of a group if
    that can be avoided. Parts have the tokens, their annotation and the groups of the Doc.
    """
    is_short = not len(doc) or _end_of(doc, len(doc) - 1) <= limit
    bounds = [] if is_short else list(_bounds(doc, limit))
    if len(bounds) < 2:
        return [doc]
    parts = []
    for start, end in bounds:
        part = doc[start:end].as_doc()
        for key, group in doc.spans.items():
            part.spans[key] = _group_within(group, part, start, end)
        parts.append(part)
    return parts


def joined(doc: Doc, parts: Sequence[Doc]) -> Doc:
    """A Doc with the annotation of its parts; categories are averaged over the tokens."""
    if len(parts) == 1:
        return parts[0]
    # spaCy's types have no `exclude`.
    whole = Doc.from_docs(list(parts), False, exclude=["user_data"])  # type: ignore[call-arg]
    for key, group in whole.spans.items():
        _join_attributes(group, [part.spans[key] for part in parts if key in part.spans])
    lengths = [len(part) for part in parts]
    averages = {
        label: float(np.average([part.cats.get(label, 0.0) for part in parts], weights=lengths))
        for label in chain.from_iterable(part.cats for part in parts)
    }
    whole.cats = {**doc.cats, **averages}
    whole.user_data.update(doc.user_data)
    offsets = accumulate((len(part.text) for part in parts), initial=0)
    for part, offset in zip(parts, offsets, strict=False):
        for key, value in part.user_data.items():
            whole.user_data[_moved(key, offset)] = value
    return whole


def _end_of(doc: Doc, i: int) -> int:
    """Characters up to the end of a token and the space behind it."""
    return int(doc[i].idx) + len(doc[i].text_with_ws)


def _bounds(doc: Doc, limit: int) -> Iterator[tuple[int, int]]:
    """First token and end (exclusive) of each part."""
    ends = np.array([_end_of(doc, i) for i in range(len(doc))])
    ranks = [np.flatnonzero(places) + 1 for places in _places(doc)]
    start = begin = 0
    while start < len(doc):
        half, most = np.searchsorted(ends, [begin + limit // 2, begin + limit], side="right")
        chosen = [_last(places, max(start, int(half)), int(most)) for places in ranks]
        end = next(filter(None, chosen), max(start + 1, int(most)))
        end = len(doc) if most == len(doc) else end
        yield start, end
        start, begin = end, int(ends[end - 1])


def _last(places: Pointers1d, low: int, high: int) -> int:
    """The last place above `low` and up to `high`, 0 if there is none."""
    i = int(np.searchsorted(places, high, side="right"))
    return int(places[i - 1]) if i and places[i - 1] > low else 0


def _places(doc: Doc) -> list[Bools1d]:
    """Bool `[T]` for each kind of end, best first: whether a part may end with a token."""
    is_free = np.ones(len(doc) + 1, dtype=bool)
    for span in chain(doc.ents, *doc.spans.values()):
        is_free[span.start + 1 : span.end] = False
    following = [*list(doc)[1:], None]
    texts, pairs = [token.text for token in doc], list(zip(doc, following, strict=True))
    knows = doc.has_annotation("SENT_START")
    kinds = [
        [knows and next is not None and bool(next.is_sent_start) for _, next in pairs],
        [text.count("\n") > 1 for text in texts],
        [
            text in _ENDS and (next is None or bool(token.whitespace_) or next.is_space)
            for text, (token, next) in zip(texts, pairs, strict=True)
        ],
        ["\n" in text for text in texts],
        [True] * len(texts),
    ]
    return [np.array(kind, dtype=bool) & is_free[1:] for kind in kinds]


def _group_within(group: SpanGroup, part: Doc, start: int, end: int) -> SpanGroup:
    """The spans of a group that are wholly in a part. Attributes are divided like the spans."""
    spans = list(group)
    kept = [i for i, span in enumerate(spans) if start <= span.start and span.end <= end]
    moved = [
        Span(part, one.start - start, one.end - start, one.label, kb_id=one.kb_id, span_id=one.id)
        for one in map(spans.__getitem__, kept)
    ]
    attributes = {
        name: np.asarray(value)[kept] if _is_by_span(value, group) else value
        for name, value in group.attrs.items()
    }
    return SpanGroup(part, name=group.name, attrs=attributes, spans=moved)


def _join_attributes(whole: SpanGroup, groups: Sequence[SpanGroup]) -> None:
    for name in dict.fromkeys(chain.from_iterable(group.attrs for group in groups)):
        values: list[Any] = [group.attrs.get(name) for group in groups]
        is_by_span = all(map(_is_by_span, values, groups))
        whole.attrs[name] = np.concatenate(values) if is_by_span else values[0]


def _is_by_span(value: Any, group: SpanGroup) -> bool:
    """Whether an attribute of a group has a value for each span, as confidences do."""
    return isinstance(value, list | tuple | np.ndarray) and len(value) == len(group)


def _moved(key: Any, offset: int) -> Any:
    """A key of `doc.user_data` so many characters further on."""
    if not (isinstance(key, tuple) and len(key) == 4 and key[0] == _EXTENSION):
        return key
    start, end = (None if place is None else place + offset for place in key[2:])
    return (*key[:2], start, end)
