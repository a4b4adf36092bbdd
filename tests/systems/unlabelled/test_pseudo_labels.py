"""Partial annotation by confident opinions, and how it is judged."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_cascade.errors import ConfigError
from spacy_cascade.systems.unlabelled.opinions import Opinion
from spacy_cascade.systems.unlabelled.pseudo_labels import Confidence, has_gold, judge, pseudo_label

WORDS = ["Ann", "saw", "New", "York", "and", "me"]
INSIDE = np.array([0.9, 0.05, 0.9, 0.8, 0.3, 0.0])
SURE = Confidence(threshold=0.5, background=0.05)


def test_spans_background_and_missing() -> None:
    doc = Doc(Vocab(), words=WORDS, sent_starts=[True, *[False] * 5], tags=list("NVNNCP"))
    likely = {
        (0, 1, "PER"): 0.5, (2, 4, "LOC"): 0.7, (2, 3, "LOC"): 0.6, (4, 5, "PER"): 0.3,
    }  # fmt: skip
    unsure = Doc(doc.vocab, words=["who"])
    opinions = [Opinion({}, np.zeros(1)), Opinion(likely, INSIDE)]
    (found,) = pseudo_label([unsure, doc], opinions, SURE)
    assert found.number == 1
    assert found.confidences == {(0, 1, "PER"): 0.5, (2, 4, "LOC"): 0.7}
    assert [t.ent_iob_ for t in found.doc] == ["B", "O", "B", "I", "", "O"]
    assert [t.ent_type_ for t in found.doc] == ["PER", "", "LOC", "LOC", "", ""]
    assert [t.tag_ for t in found.doc] == list("NVNNCP")
    assert [t.is_sent_start for t in found.doc] == [True, *[False] * 5]
    assert not doc.has_annotation("ENT_IOB")


def test_what_is_added_is_compared_with_gold_or_estimated() -> None:
    gold = Doc(Vocab(), words=WORDS)
    gold.set_ents([Span(gold, 2, 4, "LOC"), Span(gold, 5, 6, "PER")], default="outside")
    opinion = Opinion({(0, 1, "PER"): 0.6, (2, 4, "LOC"): 0.9}, INSIDE)
    pseudo = pseudo_label([gold], [opinion], SURE)
    found = judge(pseudo, [gold], is_gold=True)
    assert (found.documents, found.spans, found.background) == (1, 2, 2)
    assert found.by_label == {"LOC": 1, "PER": 1}
    assert (found.right, found.background_right) == (0.5, 0.5)  # "me" is no background
    assert found.expected == pytest.approx(0.75)
    unknown = judge(pseudo, [gold], is_gold=False)
    assert (unknown.right, unknown.background_right) == (None, None)
    nothing = judge([], [gold], is_gold=True)
    assert (nothing.spans, nothing.expected, nothing.right) == (0, None, None)
    assert has_gold([gold, Doc(gold.vocab)])
    assert not has_gold([gold, Doc(gold.vocab, words=["who"])])
    assert not has_gold([Doc(gold.vocab)])


@pytest.mark.parametrize(
    ("threshold", "background"), [(0.0, 0.1), (1.1, 0.1), (0.5, -0.1), (0.5, 1.1)]
)
def test_no_probabilities_are_refused(threshold: float, background: float) -> None:
    with pytest.raises(ConfigError, match="threshold of spans must be above 0"):
        Confidence(threshold, background)


def test_the_bounds_are_probabilities() -> None:
    doc = Doc(Vocab(), words=["Ann", "saw", "me"])
    opinion = Opinion({(0, 1, "PER"): 1.0, (2, 3, "PER"): 0.9}, np.array([1.0, 0.0, 0.9]))
    for background, states in ((0.0, ["B", "O", ""]), (1.0, ["B", "O", "O"])):
        (found,) = pseudo_label([doc], [opinion], Confidence(1.0, background))
        assert [token.ent_iob_ for token in found.doc] == states
