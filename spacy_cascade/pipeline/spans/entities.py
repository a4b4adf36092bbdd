"""Entities of Docs: those that are there already, and new ones beside them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE
from spacy.tokens import Doc, Span

from ...features.group_spans import CONFIDENCE_ATTRIBUTE as CONFIDENCE_ATTRIBUTE
from ...features.tokens import Tokens
from ...inference.entity_tokens import add_entities
from ...inference.schemes import UNOBSERVED, Spans, TagSet
from ...types import Bools1d, Floats1d, Ints1d, Keys1d, Pointers1d
from .confidences import drop_known
from .groups import LastingGroup
from .placing import UNKNOWN, choose_disjoint, longest_disjoint, possible_spans, select
from .tables import SpanTable, table_of

INSIDE, _OUTSIDE, _BEGIN = 1, 2, 3
"""Codes of `token.ent_iob`; 0 where nothing is known."""

_ENTITY = [ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID]
"""All that a token says of its entity."""

SpanKey = tuple[int, int, int]
"""Start, end (exclusive) and hash of the label of a span, by which spans of a Doc are compared."""


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
    """What stands on the Docs of a batch already.

    start, end (exclusive): of entities, int64 `[P]`, counted from the first token of the batch.
    label: uint64 `[P]`, hashes. taken: bool `[T]`, tokens of entities, and blocked ones.
    """

    start: Pointers1d
    end: Pointers1d
    label: Keys1d
    taken: Bools1d


def read_presets(docs: Sequence[Doc], doc_starts: Pointers1d, key: str) -> Presets:
    """Entities and blocked tokens of Docs; doc_starts: int64 `[D + 1]`, their first tokens.

    Entities that are among the spans of `doc.spans[key]` do not count, since an earlier run of the
    component found them. A token inside an entity without a first token counts as blocked.
    """
    iob = np.concatenate([doc.to_array(ENT_IOB) for doc in docs])
    taken = taken_tokens(iob)
    if not taken.any():
        none = np.zeros(0, dtype=np.int64)
        return Presets(none, none, none.astype(np.uint64), taken)
    label = np.concatenate([doc.to_array(ENT_TYPE) for doc in docs])
    start, end = entity_bounds(iob, label, doc_starts)
    found = {
        (span.start + offset, span.end + offset)
        for doc, offset in zip(docs, doc_starts.tolist(), strict=False)
        for span in doc.spans.get(key, ())
    }
    if found:
        pairs = list(zip(start.tolist(), end.tolist(), strict=True))
        for first, last in found.intersection(pairs):
            taken[first:last] = False
        kept = taken[start]
        start, end = start[kept], end[kept]
    return Presets(start, end, label[start], taken)


def preset_tags(
    presets: Presets,
    tokens: Tokens,
    tag_set: TagSet,
    labels: Sequence[int] | None,
    longest: int | None = None,
) -> Ints1d:
    """Tags `[T]` of tokens that are taken, `UNOBSERVED` or `ENDED` for the others.

    labels: hashes of the labels by number; None where there is one for all. longest: most tokens of
    a span, None for any number. Entities that no labelling has, across sentences, longer or with
    another label, are outside.
    """
    numbers = np.zeros(len(presets.label), dtype=np.int32)
    if labels is not None:
        known = {label: i for i, label in enumerate(labels)}
        numbers[:] = [known.get(label, UNKNOWN) for label in presets.label.tolist()]
    spans = Spans(presets.start, presets.end, numbers)
    tags = np.where(presets.taken, 0, UNOBSERVED).astype(np.int32)
    possible = possible_spans(tokens, spans)
    if longest is not None:
        possible &= spans.end - spans.start <= longest
    tag_set.write(tags, *select(spans, possible))
    return tags


class PresetTokens(NamedTuple):
    """Tokens `[T]` that are taken, and the tags of all (`preset_tags`)."""

    taken: Bools1d
    tags: Ints1d


def preset_tokens(
    docs: Sequence[Doc],
    tokens: Tokens,
    tag_set: TagSet,
    key: str,
    labels: Sequence[int] | None,
    longest: int | None,
) -> PresetTokens | None:
    """What stands on the tokens of Docs; None where that is nothing."""
    presets = read_presets(docs, tokens.doc_starts, key)
    if not presets.taken.any():
        return None
    return PresetTokens(presets.taken, preset_tags(presets, tokens, tag_set, labels, longest))


def write_group(
    doc: Doc,
    key: str,
    spans: SpanTable,
    confidences: Floats1d | None,
    attributes: Mapping[str, Any] | None = None,
) -> None:
    """Put spans in `doc.spans[key]`, with their confidences where there are any.

    attributes: others of the group; confidences among them are left out.
    """
    kept = dict(attributes or {})
    kept.pop(CONFIDENCE_ATTRIBUTE, None)  # they belong to other spans or labels
    drop_known(kept, spans)
    if confidences is not None:
        kept[CONFIDENCE_ATTRIBUTE] = confidences
    doc.spans[key] = LastingGroup(doc, name=key, table=spans, attrs=kept)


def write_entities(
    doc: Doc, spans: SpanTable, replaced: SpanTable | None = None, gains: Floats1d | None = None
) -> None:
    """Add spans to `doc.ents`; what another component set there stays.

    A span that touches an earlier entity or a blocked token is left out. `replaced` entities give
    way. Where spans overlap each other, those with the largest sum of gains `[P]` stay, or the
    longest ones where there are no gains. It does what `doc.set_ents(…, default="unmodified")` does
    with `Span` objects, in a tenth of the time.
    """
    if not spans.n_spans:
        return
    of_tokens = np.asarray(doc.to_array(_ENTITY), dtype=np.uint64)
    if replaced is not None or not add_entities(of_tokens, *_values(spans)):
        spans = _fitting(spans, taken_tokens(of_tokens[:, 0]), replaced, gains)
        of_tokens[_tokens_of(spans), 0] = _OUTSIDE
        add_entities(of_tokens, *_values(spans))
    doc.from_array(_ENTITY, of_tokens)  # type: ignore[arg-type]


def _values(spans: SpanTable) -> tuple[Pointers1d, Pointers1d, Keys1d, Keys1d, Keys1d]:
    return spans.start, spans.end, spans.label, spans.kb_id, spans.id


def _fitting(
    spans: SpanTable, taken: Bools1d, replaced: SpanTable | None, gains: Floats1d | None
) -> SpanTable:
    """The spans that touch no taken token, but for replaced ones, and do not overlap, in order.

    Empty spans, which other components may have put into a group, are left out.
    """
    if replaced is not None:
        taken[_tokens_of(replaced)] = False
    n_taken = np.append(0, np.cumsum(taken))
    free = (n_taken[spans.end] == n_taken[spans.start]) & (spans.start < spans.end)
    in_order = np.argsort(spans.start, kind="stable")
    in_order = in_order[free[in_order]]
    spans, gains = spans.take(in_order), None if gains is None else gains[in_order]
    if (spans.start[1:] < spans.end[:-1]).any():
        return spans.take(_disjoint(spans, gains))
    return spans


def _tokens_of(spans: SpanTable) -> Pointers1d:
    """Numbers of the tokens in spans."""
    parts = [np.arange(start, end) for start, end, _ in spans.rows()]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _disjoint(spans: SpanTable, gains: Floats1d | None) -> Bools1d | Pointers1d:
    if gains is not None:
        return choose_disjoint(spans.start, spans.end, gains)
    return longest_disjoint(spans.start, spans.end)


def replace_entities(
    doc: Doc,
    spans: Collection[SpanKey],
    typed: Sequence[Span],
    before: Keys1d | npt.NDArray[np.int8],
) -> None:
    """Make `doc.ents` have the typed spans instead of those that are among the others.

    before: `ENT_IOB` of all tokens `[T]`, before any of these was set. Entities that were there
    then stay, and tokens that leave an entity become what they were.
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
    write_entities(doc, table_of([s for s in typed if (s.start, s.end, s.label) not in known]))
