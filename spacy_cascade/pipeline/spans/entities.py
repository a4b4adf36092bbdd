"""Spans and entities of Docs: written without losing any that are there, and their confidences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, compress, pairwise
from typing import Any

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import filter_spans

from ...types import Bools1d, Floats1d, Keys1d, Pointers1d
from .span_lists import choose_disjoint

CONFIDENCE_ATTRIBUTE = "scores"
"""Key of a span group's attributes under which the confidences stand, as in spancat."""

INSIDE, _OUTSIDE, _BEGIN = 1, 2, 3
"""Codes of `token.ent_iob`; 0 where nothing is known."""

SpanKey = tuple[int, int, int]
"""Start, end (exclusive) and label of a span."""


def entity_bounds(
    iob: Keys1d, label: Keys1d, boundaries: Pointers1d
) -> tuple[Pointers1d, Pointers1d]:
    """Start and end (exclusive) of entities, from `ENT_IOB` and `ENT_TYPE` of all tokens `[T]`.

    boundaries: int64, tokens before which every entity ends.
    """
    start = np.flatnonzero((iob == _BEGIN) & (label != 0))
    ends = np.append(iob != INSIDE, True)
    ends[boundaries] = True
    stops = np.flatnonzero(ends)
    return start, stops[np.searchsorted(stops, start, side="right")]


def taken_tokens(iob: Keys1d) -> Bools1d:
    """Tokens `[T]` that no entity can be added at: those of entities, and blocked ones."""
    taken: Bools1d = (iob == INSIDE) | (iob == _BEGIN)
    return taken


def write_group(
    doc: Doc,
    key: str,
    spans: list[Span],
    confidences: Floats1d | None,
    attributes: Mapping[str, Any] | None = None,
) -> None:
    """Put spans in `doc.spans[key]`, with their confidences where there are any.

    attributes: others of the group.
    """
    group = SpanGroup(doc, name=key, spans=spans, attrs=dict(attributes or {}))
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


def replace_entities(
    doc: Doc, spans: Collection[SpanKey], typed: Sequence[Span], before: Keys1d
) -> None:
    """Make `doc.ents` have the typed spans instead of those that are among the others.

    before: `ENT_IOB` of all tokens `[T]`, before any of these was set. Entities that were there
    stay, and tokens that are in no entity any more are what they were.
    """
    wanted = {(s.start, s.end, s.label) for s in typed}
    taken = taken_tokens(before)
    earlier = [e for e in doc.ents if (e.start, e.end, e.label) in spans and not taken[e.start]]
    known = {(e.start, e.end, e.label) for e in earlier}
    removed = [e for e in earlier if (e.start, e.end, e.label) not in wanted]
    if removed:
        freed = [doc[i : i + 1] for e in removed for i in range(e.start, e.end)]
        outside = [token for token in freed if before[token.start] == _OUTSIDE]
        missing = [token for token in freed if before[token.start] != _OUTSIDE]
        doc.set_ents([], outside=outside, missing=missing, default="unmodified")
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
