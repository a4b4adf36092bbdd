"""How deep the spans of a corpus are nested, and what flat models would lose of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc
from spacy.util import filter_spans

from ...pipeline.spans.nesting import nesting
from ...pipeline.spans.parts import annotations_of


@dataclass(frozen=True)
class NestedSpans:
    """The spans of `doc.spans[key]` of a corpus, each counted once.

    depths, heights: how many spans have so many around them, and so many levels inside. crossing:
    spans that share tokens with another one, and neither is inside the other.
    """

    key: str
    depths: Counter[int]
    heights: Counter[int]
    crossing: int

    @property
    def n_spans(self) -> int:
        """Number of spans."""
        return self.depths.total()

    @property
    def n_inside(self) -> int:
        """Spans inside another one."""
        return self.n_spans - self.depths[0]

    @property
    def share_inside(self) -> float:
        """Share of the spans that are inside another one."""
        return self.n_inside / max(1, self.n_spans)


def measure_nested(docs: Sequence[Doc]) -> NestedSpans | None:
    """The group of spans with the most of them inside another one; None without any such."""
    found = [_measure(docs, key) for key in sorted({key for doc in docs for key in doc.spans})]
    nested = [each for each in found if each.n_inside]
    return max(nested, key=lambda each: each.n_inside, default=None)


def _measure(docs: Sequence[Doc], key: str) -> NestedSpans:
    found = NestedSpans(key, Counter(), Counter(), 0)
    crossing = 0
    for doc in docs:
        nested = nesting([(s.start, s.end, s.label_) for s in doc.spans.get(key, ())])
        found.depths.update(nested.depths)
        found.heights.update(nested.heights)
        crossing += len(nested.crossing)
    return NestedSpans(key, found.depths, found.heights, crossing)


def nested_text(nested: NestedSpans) -> str:
    """What was found, in sentences."""
    n, inside = nested.n_spans, nested.n_inside
    deep = ", ".join(f"{nested.depths[d]:,} at depth {d}" for d in sorted(nested.depths) if d)
    text = (
        f"{inside:,} of the {n:,} spans in doc.spans['{nested.key}'] ({inside / n:.1%}) are inside "
        f"another one: {deep}. A flat model of the outermost spans loses these; one of the "
        f"innermost spans loses {n - nested.heights[0]:,} ({1 - nested.heights[0] / n:.1%})."
    )
    if nested.crossing:
        text += f" {nested.crossing:,} spans cross another one, and cannot be learnt beside it."
    return text


def take_entities(docs: Iterable[Doc]) -> None:
    """Where no Doc has entities, and spans are nested: the outermost spans as entities."""
    listed = list(docs)
    nested = None if any(doc.ents for doc in listed) else measure_nested(listed)
    for doc in listed if nested else ():
        doc.set_ents(filter_spans(doc.spans.get(nested.key, ())))  # type: ignore[union-attr]


def discontinuous_text(docs: Iterable[Doc]) -> str | None:
    """How many annotations of span groups have several parts; None where none has."""
    groups = (group for doc in docs for group in doc.spans.values())
    sizes = [len(parts) for group in groups for parts in annotations_of(group) if len(parts) > 1]
    if not sizes:
        return None
    return (
        f"{len(sizes):,} annotations are discontinuous: {sum(sizes):,} parts. gold_parts of the "
        "components says whether training takes the covering spans, the parts, or neither."
    )
