"""Entities of Docs: those that are there already, and new ones beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE
from spacy.tokens import Doc

from ...features.scored_spans import CONFIDENCE_ATTRIBUTE as CONFIDENCE_ATTRIBUTE
from ...features.scored_spans import RECORD_ATTRIBUTE
from ...features.tokens import Tokens
from ...inference.entity_tokens import add_entities
from ...inference.schemes import Spans
from ...inference.structure import Structure
from ...types import Bools1d, Floats1d, Ints1d, Keys1d, Keys2d, Pointers1d
from .confidences import keep_record, records_of
from .groups import LastingGroup
from .placing import UNKNOWN, choose_disjoint, longest_disjoint, possible_spans
from .tables import SpanTable

INSIDE, _OUTSIDE, _BEGIN = 1, 2, 3
"""Codes of `token.ent_iob`; 0 where nothing is known."""

ENTITY_ATTRIBUTES = [ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID]
"""All that a token says of its entity."""


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


def taken_tokens(iob: Keys1d | npt.NDArray[np.int8]) -> Bools1d:
    """Tokens `[T]` that no entity can be added at: those of entities, and blocked ones."""
    taken: Bools1d = (iob == INSIDE) | (iob == _BEGIN)
    return taken


class Presets(NamedTuple):
    """What stands on the tokens `[T]` of a batch already.

    taken: those of entities, and blocked ones. tags: labels of the taken ones; what
    `Structure.observed` has for the others.
    """

    taken: Bools1d
    tags: Ints1d


def read_presets(
    docs: Sequence[Doc],
    tokens: Tokens,
    structure: Structure,
    key: str,
    labels: Sequence[int] | None,
    longest: int | None = None,
) -> Presets | None:
    """Entities and blocked tokens of Docs; None where there are none.

    Entities that are among the spans of `doc.spans[key]` do not count, since an earlier run of the
    component found them. A token inside an entity without a first token counts as blocked.

    labels: hashes of the labels by number; None where there is one for all. longest: most tokens of
    a span, None for any number. Entities that no labelling has, across sentences, longer or with
    another label, are outside.
    """
    iob = np.concatenate([doc.to_array(ENT_IOB) for doc in docs])
    taken = taken_tokens(iob)
    if not taken.any():
        return None
    label = np.concatenate([doc.to_array(ENT_TYPE) for doc in docs])
    start, end = entity_bounds(iob, label, tokens.doc_starts)
    own = {
        (span.start + offset, span.end + offset)
        for doc, offset in zip(docs, tokens.doc_starts.tolist(), strict=False)
        for span in doc.spans.get(key, ())
    }
    if own:
        for first, last in own.intersection(zip(start.tolist(), end.tolist(), strict=True)):
            taken[first:last] = False
        kept = taken[start]
        start, end = start[kept], end[kept]
        if not taken.any():
            return None
    numbers = np.zeros(len(start), dtype=np.int32)
    if labels is not None:
        known = {each: i for i, each in enumerate(labels)}
        numbers[:] = [known.get(each, UNKNOWN) for each in label[start].tolist()]
    spans = Spans(start, end, numbers)
    possible = possible_spans(tokens, spans)
    if longest is not None:
        possible &= end - start <= longest
    return Presets(taken, structure.observed(spans.take(possible), taken))


def write_group(
    doc: Doc,
    key: str,
    spans: SpanTable,
    confidences: Floats1d | None,
    attributes: Mapping[str, Any] | None = None,
    record: bytes | None = None,
) -> None:
    """Put spans in `doc.spans[key]`, with their confidences where there are any.

    attributes: others of the group; confidences among them are left out. record: of `records_of`,
    which says which spans the component has made entities; None where all that are entities are.
    """
    kept = dict(attributes or {})
    for name in (CONFIDENCE_ATTRIBUTE, RECORD_ATTRIBUTE):  # they belong to other spans or labels
        kept.pop(name, None)
    if confidences is not None:
        kept[CONFIDENCE_ATTRIBUTE] = confidences
    if record is None:
        (record,) = records_of([spans], [confidences], is_entity=True)
    record = keep_record(doc, key, spans, record)
    if record:
        kept[RECORD_ATTRIBUTE] = record
    doc.spans[key] = LastingGroup(doc, name=key, table=spans, attrs=kept)


def write_entities(
    doc: Doc, spans: SpanTable, replaced: SpanTable | None = None, gains: Floats1d | None = None
) -> Bools1d | None:
    """Add spans to `doc.ents`; what another component set there stays, all else is outside.

    A span that touches an earlier entity or a blocked token is left out. `replaced` entities give
    way. Where spans overlap each other, those with the largest sum of gains `[P]` stay, or the
    longest ones where there are no gains. Returns which ones were added, bool `[P]`, None for all.

    No token stays without annotation, also where there are no spans: whoever learns from the Doc,
    or compares it with another, would take it for one that nobody looked at. It does what
    `doc.set_ents` does with `Span` objects, in a tenth of the time.
    """
    # To read or write an attribute takes as long as all the rest: few Docs have had entities.
    attributes = ENTITY_ATTRIBUTES[:2]
    if spans.kb_id.any() or spans.id.any() or any(map(doc.has_annotation, ENTITY_ATTRIBUTES)):
        attributes = ENTITY_ATTRIBUTES
        of_tokens = np.asarray(doc.to_array(attributes), dtype=np.uint64)
    else:
        of_tokens = np.zeros((len(doc), len(ENTITY_ATTRIBUTES)), dtype=np.uint64)
    is_added = add_spans(of_tokens, spans, replaced, gains)
    doc.from_array(attributes, of_tokens[:, : len(attributes)])  # type: ignore[arg-type]
    return is_added


def add_spans(
    of_tokens: Keys2d,
    spans: SpanTable,
    replaced: SpanTable | None = None,
    gains: Floats1d | None = None,
) -> Bools1d | None:
    """Write spans to what the tokens say of their entities, `[T, 4]`; as `write_entities`."""
    if replaced is None and add_entities(of_tokens, *_values(spans)):
        return None
    chosen = _fitting(spans, taken_tokens(of_tokens[:, 0]), replaced, gains)
    added, is_added = spans.take(chosen), np.zeros(spans.n_spans, dtype=np.bool_)
    is_added[chosen] = True
    of_tokens[tokens_of(added.start, added.end), 0] = _OUTSIDE
    add_entities(of_tokens, *_values(added))
    return is_added


def _values(spans: SpanTable) -> tuple[Pointers1d, Pointers1d, Keys1d, Keys1d, Keys1d]:
    return spans.start, spans.end, spans.label, spans.kb_id, spans.id


def _fitting(
    spans: SpanTable, taken: Bools1d, replaced: SpanTable | None, gains: Floats1d | None
) -> Pointers1d:
    """Numbers of the spans that touch no taken token, but for replaced ones, nor each other.

    In the order of the text. Empty spans, which other components may have put into a group, are
    left out.
    """
    if replaced is not None:
        taken[tokens_of(replaced.start, replaced.end)] = False
    n_taken = np.append(0, np.cumsum(taken))
    free = (n_taken[spans.end] == n_taken[spans.start]) & (spans.start < spans.end)
    in_order: Pointers1d = np.argsort(spans.start, kind="stable")
    in_order = in_order[free[in_order]]
    start, end = spans.start[in_order], spans.end[in_order]
    if (start[1:] < end[:-1]).any():
        if gains is None:
            in_order = in_order[longest_disjoint(start, end)]
        else:
            in_order = in_order[choose_disjoint(start, end, gains[in_order])]
    return in_order


def tokens_of(start: Pointers1d, end: Pointers1d) -> Pointers1d:
    """Numbers of the tokens in spans."""
    length = end - start
    before = np.cumsum(length) - length
    found: Pointers1d = np.arange(length.sum()) + np.repeat(start - before, length)
    return found
