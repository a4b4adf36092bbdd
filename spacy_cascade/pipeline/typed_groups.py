"""Types of the spans in an N-best list, each distinct span scored once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Span, SpanGroup

from ..types import Floats1d, Ints1d
from .nbest import IS_TYPED, TYPE_PROBABILITIES, TYPE_SCORES, candidate_groups

Bounds = tuple[int, int]
"""Start and end (exclusive) of a span in its Doc."""
KEPT = -1
"""Type number of a span that keeps the label it has: rejected, or not to be typed."""


@dataclass(frozen=True)
class Group:
    """A span group of an N-best list, its spans, and which of them are to be typed."""

    group: SpanGroup
    spans: list[Span]
    wanted: list[bool]


@dataclass(frozen=True)
class TypedGroup:
    """Type numbers of the spans of a group, or `KEPT`, with their scores and probabilities.

    What is not to be typed has the score 0 and the probability 1.
    """

    group: Group
    types: list[int]
    scores: list[float]
    probabilities: list[float]


def read_groups(doc: Doc, key: str | None, is_wanted: Callable[[Span], bool]) -> list[Group]:
    """The N-best list under the key, none where there is none."""
    found = []
    for group in candidate_groups(doc, key) if key is not None else ():
        spans = list(group)
        found.append(Group(group, spans, [is_wanted(span) for span in spans]))
    return found


def bounds_of(spans: Iterable[Span]) -> list[Bounds]:
    """Start and end of each span."""
    return [(span.start, span.end) for span in spans]


def further_bounds(known: Iterable[Bounds], groups: Sequence[Group]) -> list[Bounds]:
    """Bounds of what the groups want typed, each once, without those that are known."""
    known = set(known)
    found: dict[Bounds, None] = {}
    for group in groups:
        for bounds, wanted in zip(bounds_of(group.spans), group.wanted, strict=True):
            if wanted and bounds not in known:
                found[bounds] = None
    return list(found)


def type_groups(
    groups: Sequence[Group],
    bounds: Sequence[Bounds],
    types: Ints1d,
    scores: Floats1d,
    probabilities: Floats1d,
) -> list[TypedGroup]:
    """Types of the groups' spans from those of all bounds."""
    if not groups:
        return []
    values = zip(types.tolist(), scores.tolist(), probabilities.tolist(), strict=True)
    best = dict(zip(bounds, values, strict=True))
    return [_type_group(group, best) for group in groups]


def _type_group(group: Group, best: Mapping[Bounds, tuple[int, float, float]]) -> TypedGroup:
    kept = (KEPT, 0.0, 1.0)
    found = [
        best[bounds] if wanted else kept
        for bounds, wanted in zip(bounds_of(group.spans), group.wanted, strict=True)
    ]
    return TypedGroup(group, [f[0] for f in found], [f[1] for f in found], [f[2] for f in found])


def write_types(doc: Doc, typed: TypedGroup, labels: Sequence[int]) -> None:
    """Write a group with the labels of its spans; labels: hashes by number."""
    group, spans = typed.group.group, typed.group.spans
    for span, number in zip(spans, typed.types, strict=True):
        if number != KEPT:
            span.label = labels[number]
    attrs = {
        **group.attrs,
        TYPE_SCORES: typed.scores,
        TYPE_PROBABILITIES: typed.probabilities,
        IS_TYPED: [number != KEPT for number in typed.types],
    }
    doc.spans[group.name] = SpanGroup(doc, name=group.name, attrs=attrs, spans=spans)
