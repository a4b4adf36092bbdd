"""An attribute of the span with an argument, as another package would have it.

`neighbours(n)` is the number of spans that were found within `n` tokens of a span.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from spacy_cascade import TemplateError
from spacy_cascade.features.attributes import (
    Attribute,
    ContextAttribute,
    Options,
    TextOf,
    numbers,
)
from spacy_cascade.features.span_context import SpanContext
from spacy_cascade.types import Keys1d


class Neighbours(ContextAttribute):
    def __init__(self, name: str, reach: int) -> None:
        super().__init__(f"{name}({reach})")
        self.reach = reach

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        reaches = numbers(argument or "")
        if min(reaches) < 1:
            raise TemplateError(f"'{name}' looks 1 token away or more.")
        return [cls(name, reach) for reach in reaches]

    def values(self, spans: SpanContext, resource: Any) -> Keys1d:
        starts = spans.tokens.doc_starts
        doc = np.searchsorted(starts, spans.start, side="right") - 1
        low = np.maximum(spans.start - self.reach, starts[doc])
        high = np.minimum(spans.end + self.reach, starts[doc + 1])
        after, before = np.searchsorted(spans.found.start, high), spans.found.end
        return (after - np.searchsorted(before, low, side="right") + 1).astype(np.uint64)

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return str(value - 1)
