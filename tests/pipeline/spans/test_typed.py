"""Types of the spans of N-best lists, and of groups, written to Docs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc, Span, SpanGroup

from helpers import blank, bounds, make_doc
from spacy_cascade import ConfigError
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.inference.schemes import Spans
from spacy_cascade.pipeline.spans.confidences import confidence_of
from spacy_cascade.pipeline.spans.groups import LastingGroup
from spacy_cascade.pipeline.spans.nbest import (
    Candidates,
    Ranked,
    RankedGroup,
    candidate_groups,
    candidates_by_doc,
    check_n,
    drop_candidates,
    segmentations,
    write_candidates,
)
from spacy_cascade.pipeline.spans.tables import characters_of, table_of
from spacy_cascade.pipeline.spans.typed import (
    KEPT,
    TypedSpans,
    distinct_spans,
    joint_confidences,
    typed_lists,
    write_typed,
    write_types,
)

VOCAB = blank().vocab
ENT, X, Y = (VOCAB.strings.add(label) for label in ("ENT", "X", "Y"))


def docs_of() -> list[Doc]:
    return [make_doc(VOCAB, "a b c d", [0, 2]), make_doc(VOCAB, ""), make_doc(VOCAB, "e f g")]


def spans(*rows: tuple[int, int]) -> Spans:
    start, end = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    return Spans(start, end, np.zeros(len(rows), dtype=np.int32))


def ranked(is_probabilistic: bool = True) -> Ranked:
    """Two ranks of three sentences, two of which are in the first Doc."""
    with np.errstate(divide="ignore"):  # there is no second one of the last sentence
        logs = np.log([[0.5, 0.75, 0.5], [0.25, 0.25, 0.0]])
    of_ranks = [spans((0, 1), (2, 4), (5, 6)), spans((0, 2), (2, 3))]
    return Ranked(of_ranks, 2 * logs, logs if is_probabilistic else None)


@pytest.mark.parametrize("is_probabilistic", [True, False])
def test_lists_are_split_by_docs_and_written(is_probabilistic: bool) -> None:
    docs, found = docs_of(), ranked(is_probabilistic)
    listed = candidates_by_doc(found, read_tokens(docs, ()))
    assert [(each.starts, each.n_spans) for each in listed] == [
        ([0, 2], [2, 2]), ([], [0, 0]), ([0], [1, 0]),
    ]  # fmt: skip
    assert [len(each.spans) for each in listed] == [2, 2, 2]
    write_candidates(docs, "c", listed, [ENT], characters_of(docs))
    texts = [[[s.text for s in g] for g in candidate_groups(doc, "c")] for doc in docs]
    assert texts == [[["a", "c d"], ["a b", "c"]], [[], []], [["f"], []]]
    groups = [RankedGroup.of(group) for group in candidate_groups(docs[0], "c")]
    scores = found.scores if found.log_probabilities is None else found.log_probabilities
    for rank, group in enumerate(groups):
        assert (group.sequence_starts, group.classes) == ([0, 2], None)
        assert group.sequence_scores == scores[rank, :2].tolist()
        assert group.is_log_probability == is_probabilistic
    assert [group.bounds.tolist() for group in groups] == [[[0, 1], [2, 4]], [[0, 2], [2, 3]]]
    docs[0].spans["c/3"] = [docs[0][0:1]]
    drop_candidates(docs[0], "c")
    assert list(docs[0].spans) == ["c/3"]


@pytest.mark.parametrize("n", [0, 101])
def test_no_other_number_of_segmentations(n: int) -> None:
    with pytest.raises(ConfigError, match=f"^here asks for the {n} best segmentations: take from"):
        check_n(n, "here")
    check_n(1, "here")
    check_n(100, "here")


def test_segmentations_of_each_sentence() -> None:
    docs = docs_of()
    first, _, last = candidates_by_doc(ranked(), read_tokens(docs, ()))
    made = segmentations(docs[0], first, [ENT])
    assert [[[s.text for s in one.spans] for one in each] for each in made] == [
        [["a"], ["a b"]], [["c d"], ["c"]],
    ]  # fmt: skip
    assert [[one.probability for one in each] for each in made] == [
        pytest.approx([0.5, 0.25]), pytest.approx([0.75, 0.25]),
    ]  # fmt: skip
    assert [one.score for one in made[0]] == first.scores[:, 0].tolist()
    assert len(segmentations(docs[2], last, [ENT])[0]) == 1  # a short sentence has fewer
    sure = Candidates([0], spans((0, 1)), [1], np.ones((1, 1)), np.full((1, 1), 1e-12))
    (((only,),)) = segmentations(docs[0], sure, [ENT])
    assert only.probability == 1.0


@pytest.mark.parametrize("are_plain", [False, True])
def test_each_span_of_a_list_is_typed_once(are_plain: bool) -> None:
    docs = docs_of()
    write_candidates(docs, "c", candidates_by_doc(ranked(), read_tokens(docs, ())), [ENT],
                     characters_of(docs))  # fmt: skip
    docs[0].ents = [Span(docs[0], 0, 1, "X")]
    if are_plain:
        for key, group in docs[0].spans.items():
            docs[0].spans[key] = SpanGroup(docs[0], name=key, spans=list(group), attrs=group.attrs)
    listed = distinct_spans(docs, "c")
    assert [each.bounds.tolist() for each in listed] == [
        [[0, 1], [0, 2], [2, 3], [2, 4]], [], [[1, 2]],
    ]  # fmt: skip
    assert [each.rows.tolist() for each in listed] == [[0, 3, 1, 2], [], [0]]
    scores = np.arange(10.0).reshape(5, 2)
    typed = typed_lists(listed, scores, np.array([0, 1, KEPT, 1, 0], dtype=np.int32))
    assert typed[0] is not None
    write_types(docs[0], typed[0], ["X", "Y"], [X, Y])
    groups = candidate_groups(docs[0], "c")
    assert [bounds(group) for group in groups] == [
        [(0, 1, "X"), (2, 4, "Y")], [(0, 2, "Y"), (2, 3, "ENT")],
    ]  # fmt: skip
    assert [group.attrs["class_scores"].tolist() for group in groups] == [
        [[0, 1], [6, 7]], [[2, 3], [4, 5]],
    ]  # fmt: skip
    assert groups[0].attrs["earlier_iob"].tolist() == [3, 2, 2, 2]
    assert "earlier_iob" not in groups[1].attrs
    assert all(isinstance(group, LastingGroup) for group in groups)
    assert [len(each.groups) for each in distinct_spans(docs, None)] == [0, 0, 0]
    assert typed_lists(distinct_spans(docs[:1], "other"), scores[:0], np.zeros(0, int)) == [None]


def written(set_ents: bool, key: str | None, are_ranked: bool = True, **attributes: Any) -> Doc:
    """Overlapping spans: a b, b c d, d; the last one keeps its label."""
    doc = make_doc(VOCAB, "a b c d")
    rows = [Span(doc, 0, 2, "ENT"), Span(doc, 1, 4, "ENT"), Span(doc, 3, 4, "ENT")]
    doc.spans["c"] = SpanGroup(doc, name="c", spans=rows, attrs=attributes)
    types, sure = np.array([0, 1, KEPT], dtype=np.int32), np.array([0.75, 0.5, 1.0])
    found = [TypedSpans(table_of(rows), types, sure)]
    write_typed([doc], key, "it", found, [X, Y], np.array([0.5, 0.5]), set_ents, are_ranked)
    return doc


@pytest.mark.parametrize(
    ("has_scores", "are_ranked", "entities"),
    [
        (True, True, [(0, 2, "X")]),
        (True, False, [(1, 4, "Y")]),
        (False, True, [(1, 4, "Y")]),
    ],
)
def test_entities_are_the_surest_or_the_longest(
    has_scores: bool, are_ranked: bool, entities: list[Any]
) -> None:
    given = {"scores": [1.0] * 3} if has_scores else {}
    doc = written(True, "c", are_ranked, n=1, **given)
    assert bounds(doc.ents) == entities
    assert bounds(doc.spans["c"]) == [(0, 2, "X"), (1, 4, "Y"), (3, 4, "ENT")]
    assert doc.spans["c"].attrs["n"] == 1
    assert list(doc.spans["c"].attrs["scores"]) == [0.75, 0.5, 1.0]
    assert [confidence_of(entity) for entity in doc.ents] == [0.75 if entities[0][0] == 0 else 0.5]
    assert bounds(written(False, "c", **given).ents) == []


def test_spans_of_entities_are_written_under_the_name() -> None:
    doc = written(False, None)
    assert bounds(doc.spans["c"]) == [(0, 2, "ENT"), (1, 4, "ENT"), (3, 4, "ENT")]
    assert bounds(doc.spans["it"]) == [(0, 2, "X"), (1, 4, "Y"), (3, 4, "ENT")]
    write_typed([], "c", "it", [], [], np.zeros(0), True)


def test_types_without_confidences() -> None:
    doc = make_doc(VOCAB, "a b c d")
    doc.ents = rows = [Span(doc, 0, 2, "ENT"), Span(doc, 3, 4, "ENT")]
    bare = TypedSpans(table_of(rows), np.array([1, KEPT], dtype=np.int32), None)
    write_typed([doc], None, "it", [bare], [X, Y], np.array([0.5, 1.0]), True)
    assert bounds(doc.ents) == [(0, 2, "Y"), (3, 4, "ENT")]
    assert (bounds(doc.spans["it"]), doc.spans["it"].attrs) == (bounds(doc.ents), {})
    assert bare.take(np.array([True, False])).confidences is None


def test_confidences_of_spans_and_types_are_multiplied() -> None:
    docs = docs_of()[::2]
    tables = []
    for doc, scores in zip(docs, ([0.5, 0.25], None), strict=True):
        rows = [Span(doc, 0, 1, "ENT"), Span(doc, 1, 2, "ENT")]
        attributes = {} if scores is None else {"scores": scores}
        doc.spans["c"] = SpanGroup(doc, name="c", spans=rows, attrs=attributes)
        tables.append(table_of(rows))
    is_typed, probabilities = np.array([True, False, True, True]), np.array([0.5, 0.25, 0.75])
    found = joint_confidences(docs, "c", tables, is_typed, probabilities)
    assert found.tolist() == [0.25, 0.25, 0.25, 0.75]
    alone = joint_confidences(docs, None, tables, is_typed, probabilities)
    assert alone.tolist() == [0.5, 1.0, 0.25, 0.75]
