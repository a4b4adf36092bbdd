"""Posteriors of typed spans, their mean over models, and the spans that a mean decides for.

For a span of a text and a label `c`, with the members `m = 1 … M` of an ensemble,

    p(span, c) = 1/M Σ_m P_m(span)·P_m(c | span)        P(background) = 1 - p(span, c)

A span stays background only where `P(background) - p(span, c) > penalty` for its best label `c`,
that is, where `p(span, c) < (1 - penalty) / 2`. Of spans that overlap, those with the largest sum
of `p - (1 - penalty) / 2` are kept. (Source: the random forest of MEMMs in docs/combining.md, where
the penalty is on the sum over the members: 2 there is 0.2 here with ten members.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from spacy.training import Example

from ...pipeline.spans.gold import read_gold
from ...pipeline.spans.placing import choose_disjoint
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d


class TypedPosteriors(NamedTuple):
    """Spans with the probability of each label.

    start, end (exclusive): int64 `[P]`, counted from the first token of a batch. probabilities:
    float64 `[P, C]`; the sum of a row is the posterior of the span.
    """

    start: Pointers1d
    end: Pointers1d
    probabilities: Floats2d


class Decision(NamedTuple):
    """Which spans `[P]` become entities, the best label of each, and its probability."""

    chosen: Bools1d
    label: Ints1d
    probability: Floats1d


def mean_posteriors(members: Sequence[TypedPosteriors]) -> TypedPosteriors:
    """The mean over members, in ascending order of spans; a span that one has not is 0 there."""
    start, end, probabilities = (np.concatenate(parts) for parts in zip(*members, strict=True))
    if not len(start):
        return TypedPosteriors(start, end, probabilities)
    order = np.lexsort((end, start))
    start, end, probabilities = start[order], end[order], probabilities[order]
    is_new = np.append(True, (np.diff(start) != 0) | (np.diff(end) != 0))
    first = np.flatnonzero(is_new)
    sums = np.add.reduceat(probabilities, first, axis=0)
    return TypedPosteriors(start[first], end[first], sums / len(members))


def least_probability(penalty: float) -> float:
    """The probability from which on a span is no background."""
    return (1.0 - penalty) / 2


def decide(spans: TypedPosteriors, penalty: float) -> Decision:
    """The entities among spans that may overlap."""
    if not len(spans.start):
        nothing = np.zeros(0)
        return Decision(nothing.astype(np.bool_), nothing.astype(np.int32), nothing)
    label = spans.probabilities.argmax(axis=1).astype(np.int32)
    best = spans.probabilities.max(axis=1)
    chosen = choose_disjoint(spans.start, spans.end, best - least_probability(penalty))
    return Decision(chosen, label, best)


def at_temperature(probabilities: Floats1d, temperature: float) -> Floats1d:
    """Probabilities whose log-odds are divided by a temperature."""
    with np.errstate(divide="ignore"):
        log_odds = np.log(probabilities) - np.log1p(-np.minimum(probabilities, 1.0))
    flatter: Floats1d = 1.0 / (1.0 + np.exp(-log_odds / temperature))
    return flatter


def gold_in_batch(
    examples: Sequence[Example], labels: Sequence[str]
) -> tuple[set[tuple[int, int, int]], Bools1d]:
    """Gold entities of a batch, and which of its tokens `[T]` are annotated.

    An entity is its start, end (exclusive) and number among the labels, -1 for any other label.
    """
    numbers = {label: i for i, label in enumerate(labels)}
    wanted, observed, offset = set(), [np.zeros(0, dtype=np.bool_)], 0
    for example in examples:
        gold = read_gold(example, None)
        for start, end, label in gold.spans:
            wanted.add((start + offset, end + offset, numbers.get(label, -1)))
        observed.append(gold.observed)
        offset += len(example.predicted)
    return wanted, np.concatenate(observed)
