"""The scores in the meta data of a pipeline that was derived from another one."""

from __future__ import annotations

from copy import deepcopy

import pytest
from spacy.language import Language
from spacy.training import Example

from helpers import make_doc, make_examples
from spacy_cascade.workflows.reconfigure import take_own_scores

BEFORE = {"ents_f": 0.25, "tag_acc": 0.5, "cascade_segmenter_loss": 7.0}


@pytest.fixture
def nlp(trained: Language) -> Language:
    nlp = deepcopy(trained)
    nlp.meta["performance"] = dict(BEFORE)
    return nlp


def test_what_can_be_scored_is_replaced(nlp: Language) -> None:
    take_own_scores(nlp, make_examples(nlp))
    assert nlp.meta["performance"] == {**BEFORE, "ents_f": 1.0}


def test_what_has_no_gold_annotation_is_0(nlp: Language) -> None:
    bare = Example(make_doc(nlp.vocab, "p53"), make_doc(nlp.vocab, "p53"))
    take_own_scores(nlp, [bare])
    assert nlp.meta["performance"] == {**BEFORE, "ents_f": 0.0}


def test_where_there_were_no_scores_there_are_none(nlp: Language) -> None:
    for before in ({}, None):
        nlp.meta["performance"] = before
        take_own_scores(nlp, make_examples(nlp))
        assert nlp.meta["performance"] is before


def test_scores_of_another_pipeline_are_left_out(nlp: Language) -> None:
    take_own_scores(nlp, [])
    assert nlp.meta["performance"] == {}
