"""Gold levels: what a chain that adds levels of spans learns from."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from spacy.training import Example
from spacy.util import logger

from ...features.tokens import Tokens, join_tokens
from ...inference.schemes import Spans
from ...pipeline.corpus import GetExamples
from ...pipeline.span_gold import SpanGold
from ...pipeline.spans.gold import GoldSpans, without_crossing
from ...pipeline.spans.nesting import nesting
from ...pipeline.spans.placing import LabelledSpan
from ...types import Bools1d, Pointers1d
from .sequences import Labels, fitting, take_sequences, with_any, with_spans


@dataclass(frozen=True)
class GoldLevels(GoldSpans):
    """The gold spans of a Doc that hold others; levels: of them, the one above the innermost first.

    Spans that cross others are in no level, and their tokens are not observed there.
    """

    levels: list[GoldSpans]

    def level(self, number: int) -> GoldSpans:
        """One level; above the last one there are no spans."""
        if number < len(self.levels):
            return self.levels[number]
        return GoldSpans([], self.observed)


@dataclass(frozen=True)
class LevelGold(SpanGold):
    """The gold spans above the innermost ones; a corpus may have none."""

    def read(self, example: Example) -> GoldLevels:
        """The spans of all these levels."""
        gold = self.read_to_judge(example)
        nested = nesting(gold.spans)
        by_height: list[list[LabelledSpan]] = [
            [] for _ in range(1 + max(nested.heights, default=0))
        ]
        for span, height in zip(nested.spans, nested.heights, strict=True):
            by_height[height].append(span)
        levels = [without_crossing(sorted(spans), gold.observed) for spans in by_height[1:]]
        spans = sorted(span for level in levels for span in level.spans)
        return GoldLevels(spans, gold.observed, levels, n_cut=gold.n_cut)

    def check_found(
        self, found: Collection[str], present: Counter[str], n_cut: int, get_examples: GetExamples
    ) -> None:
        """Raise `TrainingError` where there are no gold spans of any level."""
        if present or not any(self.read_to_judge(each).spans for each in get_examples()):
            super().check_found(found, present, n_cut, get_examples)
            return
        logger.warning(
            "'%s' finds no span inside of another one in the corpus. It learns nothing, and will "
            "add no spans.",
            self.pipe.name,
        )


class Placing(Protocol):
    """A component that places gold spans in a batch."""

    spans_key: str

    def gold_in(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> tuple[Spans, Bools1d]: ...


class Passes(NamedTuple):
    """What a chain sees in training: the sequences of every pass that it would make over a batch.

    tokens: of all passes, each with the gold levels of those before. numbers: int64 `[T]`, which
    tokens of the batch they are. spans: to be found. observed: bool `[T]`.
    """

    tokens: Tokens
    numbers: Pointers1d
    spans: Spans
    observed: Bools1d


def passes_over(
    pipe: Placing, tokens: Tokens, gold: Sequence[GoldLevels], labels: Labels
) -> Passes:
    """The passes over a batch whose span group has the spans below.

    Each is over the sequences in which the last one has a span, the first one over those with spans
    below.
    """
    made: list[Passes] = []
    below = with_any(tokens, tokens.groups[pipe.spans_key].spans.start)
    current, numbers = take_sequences(tokens, below)
    for level in range(max(1, *(len(of_doc.levels) for of_doc in gold), 1)):
        placed, observed = pipe.gold_in(tokens, [of_doc.level(level) for of_doc in gold])
        place = np.full(len(tokens.words), -1)
        place[numbers] = np.arange(len(numbers))
        there = placed.take(place[placed.start] >= 0)
        spans = Spans(place[there.start], place[there.end - 1] + 1, there.label)
        own = observed[numbers]
        fits = fitting(current.groups[pipe.spans_key].disjoint, spans)
        for i in np.flatnonzero(~fits):  # where the spans below are those of a model
            own[spans.start[i] : spans.end[i]] = False
        spans = spans.take(fits)
        made.append(Passes(current, numbers, spans, own))
        if not fits.any():
            break
        current = with_spans(current, pipe.spans_key, spans, labels)
        current, kept = take_sequences(current, with_any(current, spans.start))
        numbers = numbers[kept]
    return _joined(made)


def _joined(passes: Sequence[Passes]) -> Passes:
    if len(passes) == 1:
        return passes[0]
    offsets = np.cumsum([0, *(len(each.numbers) for each in passes)]).tolist()
    moved = [
        (each.spans.start + n, each.spans.end + n, each.spans.label)
        for each, n in zip(passes, offsets, strict=False)
    ]
    return Passes(
        join_tokens([each.tokens for each in passes]),
        np.concatenate([each.numbers for each in passes]),
        Spans(*map(np.concatenate, zip(*moved, strict=True))),
        np.concatenate([each.observed for each in passes]),
    )
