"""`similarity(NAME)`: the largest similarity of the span to a term of a dictionary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from ....errors import TemplateError
from ....features.attributes import Attribute, ContextAttribute, Options, TextOf, chosen
from ....features.resources import ResourceSpec
from ....features.span_context import SpanContext
from ....types import Keys1d
from ..terms import list_from
from .measures import MEASURES
from .resource import SimilarTerms, TrainingTerms

CUMULATIVE = "cumulative"
"""Asks for a feature of each step that a similarity has reached, in place of one of its step."""
TRAINING = "training"
"""Name of the dictionary that is made of the gold spans of the training corpus."""


class Similarity(ContextAttribute):
    """`similarity(NAME, MEASURE)`, or `similarity(NAME)` for one attribute of each measure.

    A value is the number of the step that the similarity is in (`Measure.steps`).
    `similarity(NAME, MEASURE, cumulative)` stands for one attribute of each step (`SimilarityOf`).
    """

    reads: ClassVar[tuple[str, ...]] = ("lower",)

    def __init__(self, name: str, spec: ResourceSpec, measure: str) -> None:
        super().__init__(f"{name}({spec.name}, {measure})", spec)
        self._dictionary_name, self._measure = spec.name, measure

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        dictionary, *asked = (part.strip() for part in (argument or "").split(","))
        measures = asked[:1] or list(MEASURES)
        if measures[0] not in MEASURES:
            raise TemplateError(
                f"'{measures[0]}' is no measure of similarity. Known: {', '.join(MEASURES)}; leave "
                "it out for all of them."
            )
        if asked[1:] not in ([], [CUMULATIVE]):
            raise TemplateError(
                f"'{', '.join(asked[1:])}' is not known after a measure. Write '{CUMULATIVE}' "
                "for a feature of each step that a similarity has reached, or nothing."
            )
        found: list[Attribute] = []
        for spec in _specs(name, dictionary, options):
            for measure in measures:
                steps = range(1, 1 + len(MEASURES[measure].steps))
                if asked[1:]:
                    found += [SimilarityOf(name, spec, measure, step) for step in steps]
                else:
                    found.append(cls(name, spec, measure))
        return found

    def values(self, spans: SpanContext, resource: Any) -> Keys1d:
        values: Keys1d = resource.values(self._measure, spans)
        return values

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return (
            f"{self._measure} {MEASURES[self._measure].describe(value)} to {self._dictionary_name}"
        )


class SimilarityOf(Similarity):
    """Whether a similarity is in one of the steps from the given one on; 1 if it is.

    The weights of the steps that are reached add up. So a rare step is not learnt from its own
    spans alone.
    """

    def __init__(self, name: str, spec: ResourceSpec, measure: str, step: int) -> None:
        super().__init__(name, spec, measure)
        self._step, self._least = step, f"{MEASURES[measure].steps[step - 1]:g} or more"
        self.name = f"{name}({spec.name}, {measure}, {self._least})"

    def values(self, spans: SpanContext, resource: Any) -> Keys1d:
        reached: Keys1d = (super().values(spans, resource) >= self._step).astype(np.uint64)
        return reached

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return f"{self._measure} {self._least} to {self._dictionary_name}"


def _specs(name: str, dictionary: str, options: Options) -> list[ResourceSpec]:
    """The resources of a dictionary's name, or of all lists for `*`."""
    if TRAINING in options.lexicons:
        raise TemplateError(
            f"'{name}({TRAINING})' is the dictionary of the training corpus, so no list can have "
            f"the name '{TRAINING}'. Give the list under 'lexicons' another name."
        )
    if dictionary == TRAINING:
        return [ResourceSpec(TrainingTerms, name, TRAINING)]
    return [
        ResourceSpec(SimilarTerms, name, key, list_from(options.lexicons[key]))
        for key in chosen(dictionary, "lexicon", options.lexicons)
    ]
