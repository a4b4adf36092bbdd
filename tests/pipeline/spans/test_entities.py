"""What stands on tokens already, and what entities keep when others are added."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.tokens import Doc, Span

from helpers import blank, make_doc
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.inference.linear_chain import ChainFamily
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.pipeline.spans.entities import (
    entity_bounds,
    read_presets,
    taken_tokens,
    tokens_of,
    write_entities,
)
from spacy_cascade.pipeline.spans.tables import table_of

VOCAB = blank().vocab
X, Y = (VOCAB.strings.add(label) for label in "XY")
STRUCTURE = ChainFamily(label_pairs=False).of_spans(TagSet("IOB2", ("X", "Y")))
"""Tags: O, B-X, I-X, B-Y, I-Y."""


def docs_of(*rows: tuple[int, int, str]) -> list[Doc]:
    docs = [make_doc(VOCAB, "a b c"), make_doc(VOCAB, ""), make_doc(VOCAB, "d e f g", [0, 2])]
    docs[2].ents = [Span(docs[2], *row) for row in rows]
    return docs


def presets(docs: list[Doc], labels: list[int] | None, longest: int | None = None):
    return read_presets(docs, read_tokens(docs, ()), STRUCTURE, "cascade", labels, longest)


@pytest.mark.parametrize(
    ("row", "labels", "longest", "tags"),
    [
        ((0, 2, "Y"), [X, Y], None, [3, 4, None, None]),
        ((0, 2, "Y"), None, None, [1, 2, None, None]),
        ((0, 2, "Y"), [X, Y], 2, [3, 4, None, None]),
        ((0, 2, "Y"), [X, Y], 1, [0, 0, None, None]),
        ((0, 2, "Z"), [X, Y], None, [0, 0, None, None]),
        ((1, 3, "X"), [X, Y], None, [None, 0, 0, None]),
    ],
)
def test_entities_are_what_a_labelling_has_to_have(
    row: tuple[int, int, str], labels: list[int] | None, longest: int | None, tags: list[int | None]
) -> None:
    """Outside where no labelling has them."""
    docs = docs_of(row)
    found = presets(docs, labels, longest)
    assert found is not None
    expected = [None] * 3 + tags
    assert found.taken.tolist() == [tag is not None for tag in expected]
    names = [STRUCTURE_TAGS[tag] for tag in found.tags[found.taken]]
    assert names == [STRUCTURE_TAGS[tag] for tag in expected if tag is not None]


STRUCTURE_TAGS = TagSet("IOB2", ("X", "Y")).tags


def test_own_spans_of_an_earlier_run_do_not_count() -> None:
    docs = docs_of((0, 2, "X"), (3, 4, "Y"))
    docs[2].spans["cascade"] = [docs[2][3:4], docs[2][1:3]]
    found = presets(docs, [X, Y])
    assert found is not None
    assert np.flatnonzero(found.taken).tolist() == [3, 4]
    docs[2].spans["cascade"] = [docs[2][3:4], docs[2][0:2]]
    assert presets(docs, [X, Y]) is None
    assert presets(docs_of(), [X, Y]) is None


def test_entities_end_at_boundaries() -> None:
    """iob: 3 begins an entity, 1 goes on, 2 is outside, 0 unknown."""
    iob, label = np.array([3, 1, 1, 3, 2, 1, 3, 0]), np.array([7, 7, 7, 7, 0, 7, 0, 0])
    for boundary, end in ((0, 3), (2, 2)):
        start, found = entity_bounds(iob, label, np.array([0, boundary]))
        assert list(zip(start, found, strict=True)) == [(0, end), (3, 4)]
    assert taken_tokens(iob).tolist() == [True, True, True, True, False, True, True, False]
    assert tokens_of(np.array([4, 0, 2]), np.array([6, 1, 2])).tolist() == [4, 5, 0]


@pytest.mark.parametrize("name", ["kb_id", "span_id"])
def test_ids_are_kept_where_only_some_spans_have_them(name: str) -> None:
    doc = make_doc(VOCAB, "a b c")
    spans = [Span(doc, 0, 1, "X"), Span(doc, 1, 3, "X", **{name: "Q1"})]
    assert write_entities(doc, table_of(spans)) is None
    key = "ent_kb_id_" if name == "kb_id" else "ent_id_"
    assert [getattr(token, key) for token in doc] == ["", "Q1", "Q1"]


def test_which_spans_were_added_is_told() -> None:
    doc = make_doc(VOCAB, "a b c d")
    doc.ents = [Span(doc, 0, 1, "X")]
    table = table_of([Span(doc, 0, 2, "Y"), Span(doc, 2, 2, "Y"), Span(doc, 2, 4, "Y")])
    assert write_entities(doc, table).tolist() == [False, False, True]
    replaced = table_of(list(doc.ents)[:1])
    new = table_of([Span(doc, 0, 2, "Y"), Span(doc, 1, 3, "Y")])
    assert write_entities(doc, new, replaced, np.array([0.5, 1.0])).tolist() == [True, False]
    assert [(e.start, e.end, e.label_) for e in doc.ents] == [(0, 2, "Y"), (2, 4, "Y")]
