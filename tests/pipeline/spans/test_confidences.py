"""`span._.confidence` of spans that several components found, and after tokens were merged."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup

import spacy_cascade
from helpers import SENTENCES, TEXTS, add_segmenter, blank, make_doc, trained_cascade
from spacy_cascade.pipeline.spans.confidences import confidence_of, confidences_of, key_of
from spacy_cascade.pipeline.spans.entities import write_group
from spacy_cascade.pipeline.spans.tables import table_of

N_MANY = 4_000


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
    del doc.spans["cascade"]
    assert confidence_of(spans[1]) is None


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
