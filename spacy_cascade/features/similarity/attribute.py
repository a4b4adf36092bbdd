"""`similarity(NAME)`: the largest similarity of the span to a term of a dictionary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ...errors import TemplateError
from ...types import Keys1d
from ..attributes import Attribute, ContextAttribute, Options, TextOf, chosen
from ..resources import ResourceSpec
from ..span_context import SpanContext
from .measures import MEASURES
from .resource import SimilarTerms, TrainingTerms

TRAINING = "training"
"""Name of the dictionary that is made of the gold spans of the training corpus."""


class Similarity(ContextAttribute):
    """`similarity(NAME, MEASURE)`, or `similarity(NAME)` for one attribute of each measure.

    A value is the number of the step that the similarity is in (`Measure.steps`).
    """

    reads: ClassVar[tuple[str, ...]] = ("lower",)

    def __init__(self, name: str, spec: ResourceSpec, measure: str) -> None:
        super().__init__(f"{name}({spec.name}, {measure})", spec)
        self._dictionary_name, self._measure = spec.name, measure

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        dictionary, comma, measure = (argument or "").partition(",")
        dictionary, measure = dictionary.strip(), measure.strip()
        if comma and measure not in MEASURES:
            raise TemplateError(
                f"'{measure}' is no measure of similarity. Known: {', '.join(MEASURES)}; leave it "
                "out for all of them."
            )
        return [
            cls(name, spec, each)
            for spec in _specs(name, dictionary, options)
            for each in ([measure] if comma else MEASURES)
        ]

    def values(self, spans: SpanContext, resource: Any) -> Keys1d:
        values: Keys1d = resource.values(self._measure, spans)
        return values

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return (
            f"{self._measure} {MEASURES[self._measure].describe(value)} to {self._dictionary_name}"
        )


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
        ResourceSpec(SimilarTerms, name, key, options.lexicons[key])
        for key in chosen(dictionary, "lexicon", options.lexicons)
    ]
