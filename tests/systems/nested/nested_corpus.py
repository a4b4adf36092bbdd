"""Sentences with spans inside of spans, and pipelines that find them."""

from __future__ import annotations

from typing import Any

from spacy.language import Language
from spacy.training import Example

from helpers import SMALL, Sentence, add_classifier, add_segmenter, blank, make_examples, train

NESTED: list[Sentence] = [
    (
        "The mayor of the town of Oslo met Ada .",
        [(0, 7, "person"), (3, 7, "place"), (6, 7, "place"), (8, 9, "person")],
    ),
    (
        "The governor of the Bank of England spoke .",
        [(0, 7, "person"), (3, 7, "group"), (6, 7, "place")],
    ),
    ("Ada saw the king of Spain .", [(0, 1, "person"), (2, 6, "person"), (5, 6, "place")]),
    ("Nothing happened here .", []),
    ("The Bank of England and Ada agree .", [(0, 4, "group"), (3, 4, "place"), (5, 6, "person")]),
    (
        "Spain and Oslo like the king of the town of Oslo .",
        [(0, 1, "place"), (2, 3, "place"), (4, 11, "person"), (7, 11, "place"), (10, 11, "place")],
    ),
]  # fmt: skip
"""The deepest spans have two others around them."""

LEVELS, SEGMENTER, CLASSIFIER = "cascade_levels", "cascade_segmenter", "cascade_classifier"


def nested_pipeline(
    key: str = "gold", levels: dict[str, Any] | None = None, **classifier: Any
) -> Language:
    """Segmenter, levels and classifier, not trained."""
    nlp = blank()
    add_segmenter(nlp, gold_key=key, gold_level="innermost")
    nlp.add_pipe(LEVELS, config={**SMALL, "gold_key": key, **(levels or {})})
    add_classifier(nlp, **{"gold_key": key, "prefer": "outermost", **classifier})
    return nlp


def nested_examples(nlp: Language, key: str = "gold") -> list[Example]:
    """The sentences as examples."""
    return make_examples(nlp, NESTED, key)


def trained_levels(
    key: str = "gold", levels: dict[str, Any] | None = None, **classifier: Any
) -> Language:
    """A pipeline that knows the sentences by heart."""
    nlp = nested_pipeline(key, levels, **classifier)
    train(nlp, nested_examples(nlp, key), updates=4)
    return nlp
