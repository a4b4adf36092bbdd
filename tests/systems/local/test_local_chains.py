"""A maximum entropy Markov model: what only it does, or does not."""

from __future__ import annotations

from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.training import Example

from helpers import TEXTS, TRAINER, blank, make_doc, make_examples, train
from spacy_cascade import ModelFileError
from spacy_cascade.tools.explaining.explain import explain_spans, explain_tags
from spacy_cascade.tools.explaining.top_features import top_features
from structures import LIKELIHOOD, NARROW, chain, found, memm, segmenter_of, wanted


def test_it_learns_with_a_margin() -> None:
    """And an explanation names the choices after a span."""
    nlp = segmenter_of("memm", typed=True, loss={"@misc": "spacy_cascade.SoftmaxMargin.v2"})
    train(nlp, make_examples(nlp), updates=4)
    assert found(nlp) == wanted(True)
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    for explanation in explain_spans(segmenter, make_doc(nlp.vocab, TEXTS[0])):
        assert any(c.name.startswith("all choices after ") for c in explanation.contributions)
    top = top_features(segmenter, make_examples(nlp), 5)
    assert {"O", "B-DNA", "L-cell", "U-protein"} <= {of.label for of in top.labels if of.strongest}


def test_a_saved_model_is_no_linear_chain() -> None:
    nlp = segmenter_of("memm")
    train(nlp, make_examples(nlp), updates=1)
    with pytest.raises(ModelFileError, match=r"cascade_local_chain.*cascade_linear_chain"):
        segmenter_of("chain").from_bytes(nlp.to_bytes())


def test_a_tagger_chooses_tag_by_tag() -> None:
    nlp = blank()
    templates = {"@misc": "spacy_cascade.TaggingTemplates.v1"}
    tagger: Any = nlp.add_pipe(
        "cascade_tagger",
        config={"model": memm(templates=templates), "trainer": TRAINER, **LIKELIHOOD, **NARROW},
    )
    words, tags = ["the", "man", "saw", "the", "saw"], ["DT", "NN", "VB", "DT", "NN"]
    reference = Doc(nlp.vocab, words=words, tags=tags)
    train(nlp, [Example(Doc(nlp.vocab, words=words), reference)], updates=4)
    doc = nlp(Doc(nlp.vocab, words=words))
    assert [token.tag_ for token in doc] == tags
    for explanation in explain_tags(tagger, doc):
        assert explanation.evidence > 0


def test_label_bias() -> None:
    """After a tag that must be followed by another one, only a chain looks at the word."""
    templates = {
        "@misc": "spacy_cascade.Templates.v1", "templates": ["bias", "word"], "patterns": {},
        "lexicons": {},
    }  # fmt: skip
    sentences = 3 * [("New York grew .", [(0, 2, "X")])] + 2 * [("New ideas grew .", [])]
    for name, make_model, spans in (("chain", chain, []), ("memm", memm, [(0, 2, "ENT")])):
        penalty = {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 3.0}
        model = make_model(templates=templates)
        nlp = segmenter_of(name, model, penalty=penalty, **LIKELIHOOD)
        train(nlp, make_examples(nlp, sentences), updates=8)
        assert found(nlp, ["New York grew .", "New ideas grew ."]) == [[(0, 2, "ENT")], spans]
