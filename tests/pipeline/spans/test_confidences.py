"""`span._.confidence` of spans that several components found, and after tokens were merged."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup

import spacy_cascade
from helpers import SENTENCES, TEXTS, add_segmenter, blank, make_doc, trained_cascade
from spacy_cascade.pipeline.spans.confidences import (
    confidence_of,
    confidences_of,
    key_of,
    records_of,
    register_confidence,
    scores_of,
)
from spacy_cascade.pipeline.spans.entities import write_group
from spacy_cascade.pipeline.spans.tables import table_of
from spacy_cascade.pipeline.spans.typed import typed_spans

N_MANY = 4_000
WORDS = ["Mr", "Vorn", "said", "so"]


@pytest.fixture(scope="module")
def nlp(trained: Language) -> Language:
    return trained


@pytest.fixture
def other_extension() -> Iterator[None]:
    getter = Span.get_extension("confidence")
    Span.set_extension("confidence", default=-1.0, force=True)
    yield
    Span.set_extension("confidence", getter=getter[2], force=True)


def expected(nlp: Language, text: str) -> dict[str, float]:
    return {e.text: e._.confidence for e in nlp(make_doc(nlp.vocab, text)).ents}


def found(doc: Doc) -> dict[str, float]:
    return {e.text: e._.confidence for e in doc.ents}


def merged(nlp: Language, text: str) -> Doc:
    return blank().add_pipe("merge_entities")(nlp(make_doc(nlp.vocab, text)))


def test_the_confidence_is_that_of_the_last_component() -> None:
    doc = Doc(blank().vocab, words=["Mr", "Vorn", "said", "so"])
    both, first = Span(doc, 1, 2, "PER"), Span(doc, 0, 1, "PER")
    scores = {"first_pass": [0.25, 0.5], "cascade": [0.75], "without": None}
    for key, spans in scores.items():
        attributes = {} if spans is None else {"scores": spans}
        group = [first, both][-len(spans or [0]) :]
        doc.spans[key] = SpanGroup(doc, name=key, spans=group, attrs=attributes)
    assert [confidence_of(span) for span in (first, both, doc[2:3])] == [0.25, 0.75, None]
    assert confidences_of(doc) == {key_of(first): 0.25, key_of(both): 0.75}


def test_groups_that_change_are_read_again() -> None:
    doc = Doc(blank().vocab, words=["Mr", "Vorn", "said", "so"])
    spans = [Span(doc, 0, 1, "PER"), Span(doc, 1, 2, "PER")]
    write_group(doc, "cascade", table_of(spans[:1]), np.array([0.25]))
    assert [confidence_of(span) for span in spans] == [0.25, None]
    doc.spans["cascade"].append(spans[1])
    doc.spans["cascade"].attrs["scores"] = [0.5, 0.75]
    assert [confidence_of(span) for span in spans] == [0.5, 0.75]
    write_group(doc, "cascade", table_of(spans[1:]), np.array([0.125]))
    assert [confidence_of(span) for span in spans] == [None, 0.125]
    del doc.spans["cascade"].attrs["scores"]  # the record is still there
    assert [confidence_of(span) for span in spans] == [None, 0.125]
    del doc.spans["cascade"]
    assert confidence_of(spans[1]) is None


def test_each_group_that_changes_is_read_again() -> None:
    doc = Doc(blank().vocab, words=WORDS)
    spans = [Span(doc, 0, 1, "PER"), Span(doc, 1, 2, "PER")]
    for key, span in zip(("first", "second"), spans, strict=True):
        write_group(doc, key, table_of([span]), np.array([0.25]))
    assert [confidence_of(span) for span in spans] == [0.25, 0.25]
    for key, expected in {"first": [0.5, 0.25], "second": [0.5, 0.5]}.items():
        doc.spans[key].attrs["scores"] = [0.5]
        assert [confidence_of(span) for span in spans] == expected


def test_entities_of_an_earlier_group_keep_their_confidences() -> None:
    """Unless another component has set them, as the third one, or they are gone."""
    doc = Doc(blank().vocab, words=WORDS)
    spans = [Span(doc, i, i + 1, "PER") for i in range(4)]
    doc.ents = spans[:3]
    table, scores = table_of(spans), np.array([0.125, 0.25, 0.5, 0.625])
    (record,) = records_of([table], [scores], np.array([True, True, False, True]))
    write_group(doc, "cascade", table, scores, record=record)
    assert [confidence_of(span) for span in spans] == [0.125, 0.25, None, 0.625]
    again, scores = table_of(spans[1::2]), np.array([0.375, 0.75])
    (record,) = records_of([again], [scores])
    write_group(doc, "cascade", again, scores, record=record)
    expected = [0.125, 0.375, None, 0.75]
    bare = doc.copy()
    bare.user_data.clear()
    for each in (doc, bare):
        found = confidences_of(each)
        assert [confidence_of(each[i : i + 1]) for i in range(4)] == [None] * 4  # no label
        assert [found.get(key_of(span)) for span in spans] == expected
        own = [Span(each, i, i + 1, "PER") for i in range(4)]
        assert [confidence_of(span) for span in own] == expected
    joined = Doc.from_docs([doc, doc])
    assert [confidence_of(entity) for entity in joined.ents] == expected[:3] * 2
    doc.ents = spans
    assert [confidence_of(span) for span in spans] == [0.125, 0.375, None, None]
    doc.ents = spans[1:2]
    write_group(doc, "cascade", table_of([]), np.zeros(0))
    assert [confidence_of(span) for span in spans] == [None, 0.375, None, None]


@pytest.mark.parametrize("order", [1, -1])
def test_in_joined_docs_an_entity_has_what_its_own_component_gave(order: int) -> None:
    doc = Doc(blank().vocab, words=WORDS)
    doc.ents = [Span(doc, 1, 2, "PER")]
    table = table_of(doc.ents)
    for key, scores in [("found", np.array([0.25])), ("set", np.array([0.5]))][::order]:
        record = records_of([table], [scores], key == "set")[0]
        write_group(doc, key, table, scores, record=record)
    joined = Doc.from_docs([doc, doc])
    assert [confidence_of(entity) for entity in joined.ents] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("n_words", "entities", "expected"),
    [
        (4, [], 0.5),
        (3, [(1, 3, "A")], None),
        (4, [(1, 3, "A"), (3, 4, "A")], None),
        (4, [(1, 3, "B")], 0.5),
        (4, [(1, 4, "A")], 0.5),
        (4, [(0, 3, "A")], 0.5),
        (4, [(1, 2, "A"), (2, 3, "A")], 0.5),
    ],
)
def test_only_the_same_entity_of_another_component_hides_the_confidence(
    n_words: int, entities: list[tuple[int, int, str]], expected: float | None
) -> None:
    doc = Doc(blank().vocab, words=WORDS[:n_words])
    span = Span(doc, 1, 3, "A")
    table, scores = table_of([span]), np.array([0.5])
    write_group(doc, "cascade", table, scores, record=records_of([table], [scores])[0])
    doc.ents = [Span(doc, *entity) for entity in entities]
    assert confidence_of(span) == expected
    assert confidences_of(doc).get(key_of(span)) == expected


@pytest.mark.parametrize(
    "name", [7, "note", ("note",), ("a", "cascade_confidences of b"), ("._.", "mine", 0, None)]
)
def test_what_others_keep_in_a_doc_is_no_confidence(name: Any) -> None:
    doc = Doc(blank().vocab, words=WORDS)
    doc.user_data[name] = b"x"
    assert confidence_of(doc[0:1]) is None
    assert confidences_of(doc) == {}


def test_a_group_without_confidences_keeps_none_of_the_attributes_that_it_is_given() -> None:
    doc = Doc(blank().vocab, words=WORDS)
    given = {"scores": [0.5], "scored": b"", "n": 1}
    write_group(doc, "cascade", table_of([Span(doc, 0, 1, "PER")]), None, given)
    assert doc.spans["cascade"].attrs == {"n": 1}
    assert given.keys() == {"scores", "scored", "n"}


def test_scores_follow_the_spans_of_a_group() -> None:
    doc = Doc(blank().vocab, words=WORDS)
    spans = [Span(doc, i, i + 1, "PER") for i in range(3)]
    write_group(doc, "cascade", table_of(spans[:2]), np.array([0.25, 0.5]))
    group = doc.spans["cascade"]
    assert scores_of(group).tolist() == [0.25, 0.5]
    group[0], group[1] = group[1], group[0]
    group.append(spans[2])
    assert scores_of(group, unknown=1.0).tolist() == [0.5, 0.25, 1.0]
    np.testing.assert_array_equal(scores_of(group), [0.5, 0.25, np.nan])
    for scores, expected in [(None, None), ([0.5], None), ([0.5, 0.25], [0.5, 0.25])]:
        attributes = {} if scores is None else {"scores": scores}
        found = scores_of(SpanGroup(doc, spans=spans[:2], attrs=attributes))
        assert (None if found is None else found.tolist()) == expected


def test_components_without_confidences_have_no_records() -> None:
    doc = Doc(blank().vocab, words=WORDS)
    table = table_of([Span(doc, 0, 1, "PER")])
    assert records_of([table, table], [np.ones(1), None]) == [b"", b""]
    assert records_of([], []) == []
    both = records_of([table, table], [np.ones(1), np.zeros(1)], np.array([True, False]))
    alone = zip((np.ones(1), np.zeros(1)), (True, False), strict=True)
    assert both == [records_of([table], [scores], is_set)[0] for scores, is_set in alone]


def test_types_are_told_for_each_doc() -> None:
    doc = Doc(blank().vocab, words=WORDS)
    tables = [table_of([Span(doc, i, i + 1, "X") for i in range(n)]) for n in (2, 0, 1)]
    is_typed = np.array([True, False, True])
    found = typed_spans(tables, is_typed, np.array([3, 5]), np.array([0.5, 1, 0.25]), [None] * 3)
    assert [each.types.tolist() for each in found] == [[3, -1], [], [5]]
    assert [each.confidences.tolist() for each in found] == [[0.5, 1], [], [0.25]]
    assert {each.types.dtype for each in found} == {np.dtype(np.int32)}
    (kept,) = (each.take(np.array([False, True])) for each in found[:1])
    assert (kept.types.tolist(), kept.confidences.tolist()) == ([-1], [1])
    assert (kept.spans.n_spans, kept.spans.start.tolist()) == (1, [1])


@pytest.mark.parametrize("is_read_before", [False, True])
def test_merged_entities_keep_their_confidence(nlp: Language, is_read_before: bool) -> None:
    for text, gold in SENTENCES:
        before = nlp(make_doc(nlp.vocab, text))
        if is_read_before:
            found(before)
        doc = blank().add_pipe("merge_entities")(before)
        assert all(len(entity) == 1 for entity in doc.ents)
        assert found(doc) == expected(nlp, text)
        assert len(doc.ents) == len(gold)


def test_split_tokens_and_longer_entities(nlp: Language) -> None:
    text = "Both IL-2 and p53 activate cells ."
    doc = nlp(make_doc(nlp.vocab, text))
    wanted = found(doc)
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[3], ["p", "53"], heads=[(doc[3], 1), doc[2]])
        retokenizer.merge(doc[4:6], attrs={"ENT_TYPE": "cell", "ENT_IOB": 3})
    # What a merge made longer is another entity than the one that was found.
    assert wanted.keys() == {"IL-2", "p53", "cells"}
    assert found(doc) == {
        "IL-2": wanted["IL-2"],
        "p53": wanted["p53"],
        "activate cells": None,
    }


def test_merged_docs_can_be_stored_copied_and_read(nlp: Language) -> None:
    docs = [merged(nlp, text) for text in TEXTS]
    binned = DocBin(docs=docs).to_bytes()
    loaded = list(DocBin().from_bytes(binned).get_docs(blank().vocab))
    for text, doc, again in zip(TEXTS, docs, loaded, strict=True):
        wanted = expected(nlp, text)
        copies = [doc, again, doc.copy(), Doc(nlp.vocab).from_bytes(doc.to_bytes())]
        for copy in copies:
            assert found(copy) == wanted
            assert {span.text: span._.confidence for span in copy.spans["cascade"]} == wanted
            assert [len(span) for span in copy.spans["cascade"]] == [1] * len(wanted)


def test_a_pipeline_that_merges_in_processes(nlp: Language) -> None:
    merging = trained_cascade()
    merging.add_pipe("merge_entities")
    for text, doc in zip(TEXTS, merging.pipe(TEXTS, n_process=2), strict=True):
        assert found(doc) == expected(nlp, text)


def test_a_group_in_tokens_that_swallow_its_spans() -> None:
    doc = Doc(blank().vocab, words=["a", "b", "c", "d", "e"])
    write_group(doc, "cascade", table_of([doc[1:3], doc[3:4], doc[4:5]]), np.array([0.1, 0.2, 0.3]))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    assert [(s.start, s.end) for s in doc.spans["cascade"]] == [(1, 3), (2, 3), (3, 4)]
    assert [s._.confidence for s in (doc[1:3], doc[2:3], doc[3:4])] == [None, None, 0.3]


def test_entities_that_others_set_cost_little() -> None:
    """Half of the entities are a ruler's; each look-up that scans the group would take ms."""
    doc = Doc(blank().vocab, words=["w"] * (2 * N_MANY))
    spans = [Span(doc, i, i + 1, "A") for i in range(0, 2 * N_MANY, 2)]
    others = [Span(doc, i, i + 1, "A") for i in range(1, 2 * N_MANY, 2)]
    write_group(doc, "cascade", table_of(spans), np.linspace(0, 1, N_MANY))
    begin = time.process_time()
    assert [confidence_of(span) for span in spans] == np.linspace(0, 1, N_MANY).tolist()
    assert {confidence_of(span) for span in others} == {None}
    assert time.process_time() - begin < 1.0


def test_an_extension_of_the_user_stays_and_is_told(nlp: Language, other_extension: None) -> None:
    with pytest.warns(UserWarning, match=r"spacy_cascade\.confidence_of\(span\)"):
        add_segmenter(blank())
    (entity, *_) = nlp(make_doc(nlp.vocab, TEXTS[0])).ents
    assert entity._.confidence == -1.0
    assert 0.0 < spacy_cascade.confidence_of(entity) <= 1.0


def test_the_extension_is_made_once() -> None:
    Span.remove_extension("confidence")
    try:
        register_confidence()
        assert Span.get_extension("confidence")[2] is confidence_of
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            register_confidence()
    finally:
        Span.set_extension("confidence", getter=confidence_of, force=True)


def test_two_cascades_under_one_key_both_have_confidences(nlp: Language) -> None:
    """The second one finds nothing new, since all entities are there; it takes the group."""
    first, second = trained_cascade(), trained_cascade({"constrained": True})
    doc = first(make_doc(first.vocab, TEXTS[0]))
    wanted = found(doc)
    assert None not in wanted.values()
    for _, pipe in second.pipeline:
        doc = pipe(doc)
    assert found(doc) == wanted
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert found(again) == found(doc.copy()) == wanted
    assert {key: confidences_of(again)[key] for key in map(key_of, again.ents)} == {
        key_of(entity): wanted[entity.text] for entity in doc.ents
    }
