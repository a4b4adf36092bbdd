"""Cascades with a network of words, whose features see nothing."""

from __future__ import annotations

from typing import Any

import spacy
from spacy.language import Language
from spacy.training import Example

from encoded import BIAS, examples

NETWORK = {
    "@misc": "spacy_cascade.WordWindow.v1", "width": 32, "hidden": 32, "epochs": 220, "share": 1.5,
}  # fmt: skip
STAGES = ("cascade_segmenter", "cascade_classifier")
ARCHITECTURES = dict(
    zip(STAGES, ("spacy_cascade.LinearChain.v1", "spacy_cascade.SpanClassifier.v1"), strict=True)
)


def blank(templates: Any = BIAS, **settings: Any) -> Language:
    """A cascade whose features see nothing, so that the network finds all."""
    nlp = spacy.blank("en")
    for name, architecture in ARCHITECTURES.items():
        model = {
            "@architectures": architecture, "templates": templates, "min_count": 1,
            "network": {**NETWORK, **settings},
        }  # fmt: skip
        nlp.add_pipe(name, config={"model": model})
    return nlp


def twice(nlp: Language) -> list[Example]:
    """The network looks at words that occur at least twice."""
    return [*examples(nlp), *examples(nlp)]


def trained(nlp: Language) -> Language:
    data = twice(nlp)
    nlp.initialize(lambda: data)
    for _ in range(2):
        nlp.update(data)
    return nlp


def beside(nlp: Language, name: str = STAGES[0]) -> Any:
    return nlp.get_pipe(name).model.attrs["beside"]
