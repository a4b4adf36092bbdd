"""Chains of a higher order in components: what only they do, or do not."""

from __future__ import annotations

from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.training import Example

from helpers import TEXTS, TRAINER, blank, make_doc, make_examples, train
from spacy_cascade import ModelFileError
from spacy_cascade.tools.explaining.explain import explain_spans, explain_tags
from spacy_cascade.tools.explaining.top_features import top_features
from structures import LIKELIHOOD, NARROW, chain, found, higher_order, segmenter_of, wanted


@pytest.mark.parametrize("tags_seen", [2, 3])
def test_features_can_see_several_tags(tags_seen: int) -> None:
    """And explanations name the tags before."""
    nlp = segmenter_of("higher order", higher_order(tags_seen=tags_seen), scheme="BILOU")
    train(nlp, make_examples(nlp), updates=4)
    assert found(nlp) == wanted(False)
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    (first, *_) = explain_spans(segmenter, make_doc(nlp.vocab, TEXTS[0]))
    names = {c.name for c in first.contributions if c.name.startswith("transition ")}
    assert all(len(name.partition(" to ")[0].split()) == 3 for name in names)
    top = top_features(segmenter, make_examples(nlp), 5)
    assert {"O", "B-ENT", "L-ENT"} <= {of.label for of in top.labels if of.strongest}


@pytest.mark.parametrize("settings", [{"order": 3}, {"tags_seen": 2}])
def test_another_order_or_other_features_do_not_fit(settings: dict[str, int]) -> None:
    nlp = segmenter_of("higher order")
    train(nlp, make_examples(nlp), updates=1)
    with pytest.raises(ModelFileError, match=next(iter(settings))):
        segmenter_of("higher order", higher_order(**settings)).from_bytes(nlp.to_bytes())


def test_a_tag_after_two_others() -> None:
    """Which tag the last word has depends on the one two words before, and no feature sees that."""
    templates = {
        "@misc": "spacy_cascade.Templates.v1", "templates": ["bias", "word"], "patterns": {},
        "lexicons": {},
    }  # fmt: skip
    sentences = {"one and x": ["A", "and", "A"], "two and x": ["B", "and", "B"]}
    tags_of = {}
    for name, make_model in (("first", chain), ("second", higher_order)):
        nlp = blank()
        settings = {"label_pairs": False} if name == "first" else {}
        tagger: Any = nlp.add_pipe(
            "cascade_tagger",
            config={
                "model": make_model(templates=templates, **settings), "trainer": TRAINER,
                **LIKELIHOOD, **NARROW,
            },
        )  # fmt: skip
        examples = [
            Example(Doc(nlp.vocab, words=text.split()), Doc(nlp.vocab, text.split(), tags=tags))
            for text, tags in sentences.items()
        ]
        train(nlp, examples, updates=4)
        docs = [nlp(Doc(nlp.vocab, words=text.split())) for text in sentences]
        tags_of[name] = [[token.tag_ for token in doc] for doc in docs]
        assert all(each.evidence >= 0 for doc in docs for each in explain_tags(tagger, doc))
    assert tags_of["second"] == [*sentences.values()]
    assert tags_of["first"] != tags_of["second"]
