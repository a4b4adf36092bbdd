"""Components with a maximum entropy Markov model: whatever the linear chain can do, but one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import (
    SENTENCES,
    SHORT,
    TEXTS,
    TRAINER,
    add_classifier,
    add_segmenter,
    blank,
    bounds,
    make_doc,
    make_example,
    make_examples,
    train,
    weights,
)
from spacy_cascade import ConfigError, ModelFileError
from spacy_cascade.explaining.explain import explain_spans, explain_tags
from spacy_cascade.explaining.top_features import top_features

LIKELIHOOD = {"loss": {"@misc": "spacy_cascade.Likelihood.v2"}}
SETTINGS = {"penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 1.0}}


def memm(**settings: Any) -> dict[str, Any]:
    return {
        "@architectures": "spacy_cascade.MaximumEntropyMarkov.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "min_count": 1,
        **settings,
    }


def segmenter_of(**settings: Any) -> Language:
    nlp = blank()
    add_segmenter(nlp, model=memm(), **SETTINGS, **settings)
    return nlp


def wanted(typed: bool) -> list[list[tuple[int, int, str]]]:
    return [[(s, e, label if typed else "ENT") for s, e, label in of] for _, of in SENTENCES]


def found(nlp: Language, texts: list[str] = TEXTS) -> list[list[tuple[int, int, str]]]:
    docs = [nlp(make_doc(nlp.vocab, text)) for text in texts]
    return [bounds(doc.spans["cascade"]) for doc in docs]


@pytest.mark.parametrize("loss", ["Likelihood", "SoftmaxMargin"])
@pytest.mark.parametrize("scheme", ["BILOU", "IOB2"])
@pytest.mark.parametrize("typed", [False, True])
def test_it_learns_a_few_sentences_by_heart(typed: bool, scheme: str, loss: str) -> None:
    loss_section = {"@misc": f"spacy_cascade.{loss}.v2"}
    nlp = segmenter_of(scheme=scheme, typed=typed, loss=loss_section)
    train(nlp, make_examples(nlp), updates=4)
    assert found(nlp) == wanted(typed)


def test_a_saved_model_says_the_same_and_is_no_linear_chain() -> None:
    nlp = segmenter_of()
    train(nlp, make_examples(nlp), updates=4)
    loaded = segmenter_of()
    loaded.from_bytes(nlp.to_bytes())
    assert found(loaded) == found(nlp)
    chain = blank()
    add_segmenter(chain, model={**memm(), "@architectures": "spacy_cascade.LinearChain.v1"})
    with pytest.raises(ModelFileError, match=r"cascade_local_chain.*cascade_linear_chain"):
        chain.from_bytes(nlp.to_bytes())


def test_threads_do_not_change_a_bit() -> None:
    found = []
    for threads in (1, 2):
        nlp = segmenter_of(trainer={**TRAINER, "threads": threads})
        train(nlp, make_examples(nlp) * 20, updates=2)
        found.append(weights(nlp.get_pipe("cascade_segmenter")))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_online_training_is_refused() -> None:
    with pytest.raises(ConfigError, match="learn_online, which LocalChain does not offer"):
        add_segmenter(
            blank(), model=memm(), loss={"@misc": "spacy_cascade.Hinge.v2"}, penalty=None,
            trainer={"@misc": "spacy_cascade.PassiveAggressive.v1"},
        )  # fmt: skip


def test_probabilities_of_segmentations_and_spans() -> None:
    nlp = segmenter_of()
    train(nlp, make_examples(nlp), updates=1)
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    doc = make_doc(nlp.vocab, SHORT[0])
    probability: dict[Any, float] = {}
    best = segmenter.nbest(doc, 100)[0]
    for segmentation in best:
        for key in bounds(segmentation.spans):
            probability[key] = probability.get(key, 0.0) + segmentation.probability
    assert sum(s.probability for s in best) == pytest.approx(1.0, abs=1e-6)
    assert [s.score for s in best] == pytest.approx(np.log([s.probability for s in best]).tolist())
    exact = [float(segmenter.posteriors([doc], [[key]])[0][0]) for key in probability]
    assert exact == pytest.approx(list(probability.values()), abs=1e-6)
    segmenter.overlapping, segmenter.threshold = True, 0.05
    (likely,) = found(nlp, [SHORT[0]])
    assert set(likely) == {key for key, p in probability.items() if p >= 0.05}


def test_an_explanation_accounts_for_the_whole_difference() -> None:
    nlp = segmenter_of()
    train(nlp, make_examples(nlp), updates=2)
    segmenter: Any = nlp.get_pipe("cascade_segmenter")
    doc = make_doc(nlp.vocab, TEXTS[0])
    ranked = segmenter.scored([doc])
    paths, scores = ranked.best_paths(60)
    explained = explain_spans(segmenter, doc)
    assert explained
    for explanation in explained:
        assert any(c.name.startswith("all choices after ") for c in explanation.contributions)
        span = explanation.span[:2]
        lacking = [
            score
            for path, score in zip(paths, scores[:, 0].tolist(), strict=True)
            if span not in list(zip(*(c.tolist() for c in ranked.spans(path)[:2]), strict=True))
        ]
        assert explanation.evidence == pytest.approx(scores[0, 0] - max(lacking), abs=1e-5)
    top = top_features(segmenter, make_examples(nlp), 5)
    assert {of.label for of in top.labels if of.strongest} == {"O", "B-ENT", "L-ENT", "U-ENT"}


def test_presets_are_kept() -> None:
    nlp = segmenter_of(constrained=True)
    train(nlp, make_examples(nlp), updates=4)
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.set_ents([Span(doc, 1, 6, "ENT")], blocked=[doc[6:7]], default="missing")
    spans = bounds(nlp(doc).spans["cascade"])
    assert all(not start <= 6 < end for start, end, _ in spans)
    assert all(end <= 1 or start >= 6 for start, end, _ in spans)


def test_what_is_not_annotated_teaches_nothing() -> None:
    nlp = segmenter_of()
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.set_ents([Span(doc, 4, 5, "protein")], default="missing")
    train(nlp, [*make_examples(nlp), Example(make_doc(nlp.vocab, TEXTS[0]), doc)], updates=4)
    assert found(nlp) == wanted(False)


def test_a_tagger_chooses_tag_by_tag() -> None:
    nlp = blank()
    templates = {"@misc": "spacy_cascade.TaggingTemplates.v1"}
    tagger: Any = nlp.add_pipe(
        "cascade_tagger",
        config={"model": memm(templates=templates), "trainer": TRAINER, **LIKELIHOOD, **SETTINGS},
    )
    words, tags = ["the", "man", "saw", "the", "saw"], ["DT", "NN", "VB", "DT", "NN"]
    reference = Doc(nlp.vocab, words=words, tags=tags)
    train(nlp, [Example(Doc(nlp.vocab, words=words), reference)], updates=4)
    doc = nlp(Doc(nlp.vocab, words=words))
    assert [token.tag_ for token in doc] == tags
    for explanation in explain_tags(tagger, doc):
        assert explanation.evidence > 0


def test_it_adapts_to_new_examples_and_keeps_what_it_knew() -> None:
    nlp = segmenter_of()
    train(nlp, make_examples(nlp), updates=4)
    loaded = segmenter_of()
    loaded.from_bytes(nlp.to_bytes())
    example = make_example(loaded, "Zebra fish swim .", [(0, 2, "animal")])
    for _ in range(3):
        loaded.update([example])
    assert found(loaded, ["Zebra fish swim ."]) == [[(0, 2, "ENT")]]
    assert found(loaded) == wanted(False)


def test_two_phases_with_a_classifier() -> None:
    nlp = segmenter_of()
    add_classifier(nlp)
    train(nlp, make_examples(nlp), updates=5)
    docs = list(nlp.pipe(make_doc(nlp.vocab, text) for text in TEXTS))
    assert [[(e.start, e.end, e.label_) for e in doc.ents] for doc in docs] == wanted(True)


def test_label_bias() -> None:
    """After a tag that must be followed by another one, only a chain looks at the word."""
    templates = {
        "@misc": "spacy_cascade.Templates.v1", "templates": ["bias", "word"], "patterns": {},
        "lexicons": {},
    }  # fmt: skip
    sentences = 3 * [("New York grew .", [(0, 2, "X")])] + 2 * [("New ideas grew .", [])]
    for architecture, spans in (("LinearChain", []), ("MaximumEntropyMarkov", [(0, 2, "ENT")])):
        model = memm(templates=templates)
        model["@architectures"] = f"spacy_cascade.{architecture}.v1"
        nlp = blank()
        penalty = {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 3.0}
        add_segmenter(nlp, model=model, penalty=penalty, **LIKELIHOOD)
        train(nlp, make_examples(nlp, sentences), updates=20)
        assert found(nlp, ["New York grew .", "New ideas grew ."]) == [[(0, 2, "ENT")], spans]
