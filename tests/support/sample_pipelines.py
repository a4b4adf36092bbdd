"""A small pipeline of every kind, trained on a few Docs of the sample corpus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.training import Example

from helpers import SMALL, blank, cascade, sample_examples, train
from spacy_cascade.tools.annotation.adapting import adapt

ONLINE: dict[str, Any] = {
    "model": {"min_count": 1},
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1, "passes": 3},
}
LIKELIHOOD: dict[str, Any] = {
    "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
    "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 1.0},
}
TERMS = {"@misc": "spacy_cascade.TermList.v1", "source": ["T cells", "NF-kappa B"]}
N_DOCS = 6


def with_templates(**templates: Any) -> dict[str, Any]:
    """Settings of a segmenter whose templates have something more."""
    made = {"@misc": "spacy_cascade.SegmentationTemplates.v1", **templates}
    return {"model": {"min_count": 1, "templates": made}}


def tagged_examples(nlp: Language) -> list[Example]:
    """The ends of words are tags enough."""
    examples = sample_examples(nlp, n_docs=N_DOCS)
    for example in examples:
        for token in example.reference:
            token.tag_ = token.text[-2:]
    return examples


def memb() -> Language:
    nlp = cascade()
    train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=2)
    return nlp


def with_network() -> Language:
    """A network beside the features of both stages."""
    network = {"@misc": "spacy_cascade.WordWindow.v1", "width": 8, "hidden": 8, "epochs": 2}
    settings = {"model": {"min_count": 1, "network": network}}
    nlp = cascade(settings, settings)
    train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=2)
    return nlp


def ocr() -> Language:
    nlp = cascade(ONLINE, ONLINE)
    train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=2)
    return nlp


def joint() -> Language:
    nlp = blank()
    later = {"@misc": "spacy_cascade.TrainedJointly.v1"}
    config = {**SMALL, **LIKELIHOOD, "trainer": later}
    nlp.add_pipe("cascade_segmenter", config=config)
    config = {
        **with_templates(extra=["span(cascade)@-1..1"]),
        **LIKELIHOOD,
        "trainer": {
            "@misc": "spacy_cascade.JointLBFGS.v1", "C": 0.1, "iterations": 3, "threads": 1,
        },
        "scheme": "IOB2",
        "typed": True,
        "set_ents": True,
        "spans_key": "types",
    }  # fmt: skip
    nlp.add_pipe("cascade_segmenter", name="types", config=config)
    train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=2)
    return nlp


def typed() -> Language:
    nlp = blank()
    config = {**SMALL, "typed": True, "set_ents": True, "constrained": True}
    nlp.add_pipe("cascade_segmenter", config=config)
    train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=1)
    return nlp


def semi_markov() -> Language:
    model = {
        "@architectures": "spacy_cascade.SemiMarkov.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1", "extra": ["brackets & size"]},
        "min_count": 1,
    }
    nlp = cascade({"model": model}, {})
    train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=2)
    return nlp


def overlapping() -> Language:
    nlp = cascade({"overlapping": True, "threshold": 0.05}, {"reject": True})
    train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=1)
    return nlp


def tagged() -> Language:
    nlp = blank()
    nlp.add_pipe("cascade_tagger", config={"model": {"min_count": 1}})
    config = {**SMALL, **with_templates(extra=["tag@-1..1"])}
    nlp.add_pipe("cascade_segmenter", config=config)
    nlp.add_pipe("cascade_classifier", config=SMALL)
    train(nlp, tagged_examples(nlp), updates=2)
    return nlp


def with_lexicons() -> Language:
    lexicons = {"listed": {**TERMS, "leave_out": True}, "cells": ["Jurkat", "monocytes", "HeLa"]}
    nlp = cascade(with_templates(lexicons=lexicons), {})
    train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=2)
    return nlp


def reranked() -> Language:
    """The reranker learns from lists of Docs that the stages know, which is enough here."""
    nlp = cascade({"n_best": 4}, {})
    reranker = nlp.add_pipe("cascade_reranker", config={"model": {"min_count": 1}})
    stages = ["cascade_segmenter", "cascade_classifier"]
    with nlp.select_pipes(enable=stages):
        train(nlp, sample_examples(nlp, n_docs=N_DOCS), updates=1)
        examples = sample_examples(nlp, n_docs=N_DOCS)
        for example in examples:
            example.predicted = nlp(example.predicted)
    reranker.initialize(lambda: examples, nlp=nlp)
    reranker.update(examples)
    return nlp


def adapted() -> Language:
    """It has the curvature of two trainings."""
    first = memb()
    nlp = blank().from_config(first.config).from_bytes(first.to_bytes())
    adapt(nlp, sample_examples(nlp, "dev", n_docs=3), updates=2)
    return nlp


PIPELINES: dict[str, Callable[[], Language]] = {
    "memb": memb,
    "ocr": ocr,
    "network": with_network,
    "joint": joint,
    "typed": typed,
    "semi-Markov": semi_markov,
    "overlapping": overlapping,
    "tagged": tagged,
    "lexicons": with_lexicons,
    "reranked": reranked,
    "adapted": adapted,
}
