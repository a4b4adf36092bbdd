"""What a reranker chooses among typed N-best lists, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from spacy.attrs import ENT_IOB
from spacy.strings import StringStore
from spacy.tokens import Doc, SpanGroup

from ...features.scored_spans import only_added
from ...pipeline.spans.confidences import records_of, scores_of
from ...pipeline.spans.entities import (
    CONFIDENCE_ATTRIBUTE,
    ENTITY_ATTRIBUTES,
    add_spans,
    entity_bounds,
    taken_tokens,
    tokens_of,
    write_group,
)
from ...pipeline.spans.groups import table_of_group
from ...pipeline.spans.nbest import candidate_groups
from ...pipeline.spans.placing import ENTITY, REJECTED
from ...pipeline.spans.tables import SpanKeys, SpanTable, find_spans, new_table
from ...types import Bools1d, Floats1d, Keys1d
from .kernels import Lists, choose, span_posteriors
from .typed_lists import TypedLists


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one Doc.

    spans: of the new `doc.spans[spans_key]`. probabilities: float64 `[P]`, of each, given the
    N-best list. is_typed: bool `[P]`, False for spans that are no entities.
    """

    spans: SpanKeys
    probabilities: Floats1d
    is_typed: Bools1d

    def confidences(self, before: SpanGroup) -> Floats1d | None:
        """Of each span: as before where it was found before, else its probability.

        None where those before have none.
        """
        if before.attrs.get(CONFIDENCE_ATTRIBUTE) is None:
            return None
        confidences: Floats1d = self.probabilities.copy()
        scores = scores_of(before)
        if scores is not None:
            place = find_spans(self.spans, table_of_group(before).keys)
            earlier = np.append(scores, np.nan)[place]  # -1 where it was not there
            known = ~np.isnan(earlier)
            confidences[known] = earlier[known]
        return confidences


def choose_spans(typed: TypedLists, lists: Lists, strings: StringStore) -> list[Chosen]:
    """The spans of highest total score in each sentence; lists: typed ones with final scores."""
    chosen = np.empty(len(lists.starts) - 1, dtype=np.int32)
    classes = np.empty(len(lists.class_scores), dtype=np.int32)
    probabilities = np.empty(len(lists.class_scores))
    choose(lists, chosen, classes)
    span_posteriors(lists, classes, probabilities)
    spans = typed.chosen_spans(chosen)
    names = [ENTITY if name == REJECTED else name for name in typed.classes]
    labels = np.array([strings.add(name) for name in names], dtype=np.uint64)
    is_class = np.array([name != REJECTED for name in typed.classes], dtype=np.bool_)
    cuts = np.searchsorted(spans, typed.doc_spans)
    offset = np.repeat(typed.doc_starts[:-1], np.diff(cuts))
    keys = SpanKeys(typed.start[spans] - offset, typed.end[spans] - offset, labels[classes[spans]])
    probability, is_typed = probabilities[spans], is_class[classes[spans]]
    return [
        Chosen(keys.take(slice(i, j)), probability[i:j], is_typed[i:j])
        for i, j in pairwise(cuts.tolist())
    ]


def write_chosen(docs: Sequence[Doc], key: str, chosen: Sequence[Chosen], set_ents: bool) -> None:
    """Write what was chosen to `doc.spans[key]`, and with `set_ents` to `doc.ents`.

    A Doc whose spans are what they were is left as the classifier has made it, if that has set its
    entities.
    """
    for doc, found in zip(docs, chosen, strict=True):
        group = doc.spans[key]
        before = table_of_group(group).keys
        is_same = all(map(np.array_equal, before, found.spans))
        earlier = candidate_groups(doc, key)[0].attrs["earlier_iob"]
        writes_entities = set_ents and not (is_same and _has_changed(doc, earlier))
        if is_same and not writes_entities:
            continue
        spans = new_table(doc, *found.spans)
        confidences = found.confidences(group)
        (record,) = records_of([spans], [confidences], found.is_typed & writes_entities)
        if writes_entities:
            typed = spans.take(found.is_typed)
            record = only_added(record, _replace_entities(doc, before, typed, earlier))
        write_group(doc, key, spans, confidences, group.attrs, record)


def _has_changed(doc: Doc, earlier: npt.NDArray[np.int8]) -> bool:
    """Whether a component has set entities since the tokens had these values of `ENT_IOB`."""
    return not np.array_equal(np.asarray(doc.to_array(ENT_IOB)), earlier)


def _replace_entities(
    doc: Doc, replaced: SpanKeys, typed: SpanTable, before: Keys1d | npt.NDArray[np.int8]
) -> Bools1d:
    """Make `doc.ents` have the typed spans instead of the replaced ones that are among them.

    before: `ENT_IOB` of all tokens `[T]`, before any of these was set. Entities that were there
    then stay, and tokens that leave an entity are outside. Returns which typed spans were added,
    bool `[P]`.
    """
    of_tokens = np.asarray(doc.to_array(ENTITY_ATTRIBUTES), dtype=np.uint64)
    start, end = entity_bounds(of_tokens[:, 0], of_tokens[:, 1], np.array([len(doc)]))
    entities = SpanKeys(start, end, of_tokens[start, 1])
    gives_way = (find_spans(entities, replaced) >= 0) & ~taken_tokens(before)[start]
    entities = entities.take(gives_way)
    removed = entities.take(find_spans(entities, typed.keys) < 0)
    of_tokens[tokens_of(removed.start, removed.end)] = 0
    is_added = find_spans(typed.keys, entities) < 0
    of_new = add_spans(of_tokens, typed.take(is_added))
    if of_new is not None:
        is_added[is_added] = of_new
    doc.from_array(ENTITY_ATTRIBUTES, of_tokens)  # type: ignore[arg-type]
    return is_added
