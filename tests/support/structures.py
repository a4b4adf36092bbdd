"""Segmenters with each model, for tests of what all models can do and of what only one can."""

from __future__ import annotations

from typing import Any

from spacy.language import Language

from helpers import SENTENCES, TEXTS, add_segmenter, blank, bounds, make_doc

LIKELIHOOD = {"loss": {"@misc": "spacy_cascade.Likelihood.v2"}}
NARROW = {"penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 1.0}}
"""What a maximum entropy Markov model needs for a few sentences."""


def chain(**settings: Any) -> dict[str, Any]:
    return {
        "@architectures": "spacy_cascade.LinearChain.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "min_count": 1,
        **settings,
    }


def memm(**settings: Any) -> dict[str, Any]:
    return chain(**{"@architectures": "spacy_cascade.MaximumEntropyMarkov.v1", **settings})


def higher_order(**settings: Any) -> dict[str, Any]:
    return chain(**{"@architectures": "spacy_cascade.HigherOrderChain.v1", **settings})


def semi_markov(**settings: Any) -> dict[str, Any]:
    return chain(
        **{
            "@architectures": "spacy_cascade.SemiMarkov.v1",
            "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
            "segment_min_count": 1,
            **settings,
        }
    )


MODELS = {
    "chain": (chain, {}),
    "higher order": (higher_order, {}),
    "memm": (memm, NARROW),
    "semi": (semi_markov, {}),
}
"""Each model with the options of the segmenter that it is tested with."""


def segmenter_of(name: str, model: dict[str, Any] | None = None, **options: Any) -> Language:
    """A pipeline of a segmenter with a model of this name."""
    make_model, own = MODELS[name]
    nlp = blank()
    add_segmenter(nlp, model=model or make_model(), **{**own, **options})
    return nlp


def wanted(typed: bool) -> list[list[tuple[int, int, str]]]:
    """The spans of the sentences that segmenters learn by heart."""
    return [[(s, e, label if typed else "ENT") for s, e, label in of] for _, of in SENTENCES]


def found(nlp: Language, texts: list[str] = TEXTS) -> list[list[tuple[int, int, str]]]:
    docs = [nlp(make_doc(nlp.vocab, text)) for text in texts]
    return [bounds(doc.spans["cascade"]) for doc in docs]
