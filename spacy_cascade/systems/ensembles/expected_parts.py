"""How often a chain is expected to use each of its scores, from probabilities of spans alone.

Tags inside of spans follow from the spans. Where no span goes on from token `t - 1` to `t`, the
tags on both sides are taken as independent given that, which is the distribution of the greatest
entropy with these spans:

    P(x at t-1, y at t) = P(x ends at t-1)·P(y begins at t) / P(no span goes on)

`x` is outside or the last tag of a span, `y` outside or the first tag of one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ConfigError
from ...inference.lattice import Lattice
from ...inference.schemes import SCHEMES, Spans, TagSet
from ...jit import kernel
from ...types import Floats1d, Floats2d, Pointers1d

_SMALLEST = 1e-12


class ExpectedParts(NamedTuple):
    """Expected uses of scores, float64 `[T, S]`, and of transitions of each sequence `[N, E]`."""

    scores: Floats2d
    transitions: Floats2d


def expected_parts(
    lattice: Lattice,
    tag_set: TagSet,
    spans: Spans,
    probabilities: Floats1d,
    starts: Pointers1d,
) -> ExpectedParts:
    """The expected parts of sequences, given all spans `[P]` that they may have.

    lattice: of the tag set. probabilities: of spans, whose sum over those that overlap is 1 at
    most. starts: `[N + 1]`; spans lie in one sequence. Raises `ConfigError` under a scheme that
    does not tell spans apart that touch.
    """
    scheme = SCHEMES[tag_set.scheme]
    if not scheme.separates:
        raise ConfigError(
            f"Probabilities of spans say nothing of tags under the scheme {tag_set.scheme}, where "
            "spans that touch become one. Use BILOU or IOB2."
        )
    places = [scheme.prefixes.index(prefix) for prefix in scheme]
    first = 1 + np.arange(len(tag_set.labels))[:, None] * len(scheme.prefixes)
    tags = (first + np.array(places)).astype(np.int32)
    number = np.full((lattice.n_labels, lattice.n_labels), -1, dtype=np.int32)
    number[lattice.source, lattice.target] = np.arange(lattice.n_edges)
    scores = np.zeros((int(starts[-1]), lattice.n_columns))
    transitions = np.zeros((len(starts) - 1, lattice.n_edges))
    sequence = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ends, begins = np.zeros((2, len(scores), lattice.n_labels))
    goes_on = np.zeros(len(scores))
    parts = (lattice, number, sequence, scores, transitions)
    _add_spans(*parts, spans, tags, probabilities, ends, begins, goes_on)
    _add_boundaries(*parts, starts, ends, begins, goes_on)
    return ExpectedParts(scores, transitions)


@kernel
def _add_spans(  # type: ignore[no-untyped-def]
    lattice, number, sequence, scores, transitions, spans, tags, probabilities, ends, begins,
    goes_on,
) -> None:  # fmt: skip
    """Add the edges inside of spans to `scores` and `transitions`.

    tags: `[C, 4]`, those of the first, an inside, the last and the single token of each label.
    ends, begins `[T, Y]`: get `P(a span with this last tag ends at t)`, and `P(one begins)` with
    this first tag. goes_on `[T]`: gets `P(a span has t - 1 and t)`.
    """
    for p in range(len(spans.start)):
        start, end, label = spans.start[p], spans.end[p], spans.label[p]
        weight = probabilities[p]
        if end - start == 1:
            begins[start, tags[label, 3]] += weight
            ends[start, tags[label, 3]] += weight
            continue
        begins[start, tags[label, 0]] += weight
        ends[end - 1, tags[label, 2]] += weight
        previous = tags[label, 0]
        for t in range(start + 1, end):
            current = tags[label, 2] if t == end - 1 else tags[label, 1]
            edge = number[previous, current]
            scores[t, lattice.column[edge]] += weight
            transitions[sequence[t], edge] += weight
            goes_on[t] += weight
            previous = current


@kernel
def _add_boundaries(  # type: ignore[no-untyped-def]
    lattice, number, sequence, scores, transitions, starts, ends, begins, goes_on
) -> None:
    """Add the edges from token to token where no span goes on; ends, begins: OVERWRITTEN."""
    n_labels = ends.shape[1]
    for t in range(len(goes_on)):
        covered = goes_on[t] + begins[t].sum()
        ends[t, 0] = begins[t, 0] = max(0.0, 1.0 - covered)
    for i in range(len(starts) - 1):
        for t in range(starts[i], starts[i + 1]):
            free = max(1.0 - goes_on[t], _SMALLEST)
            for y in range(n_labels):
                if begins[t, y] == 0.0:
                    continue
                if t == starts[i]:
                    edge = number[lattice.start, y]
                    scores[t, lattice.column[edge]] += begins[t, y]
                    transitions[i, edge] += begins[t, y]
                    continue
                for x in range(n_labels):
                    weight = ends[t - 1, x] * begins[t, y] / free
                    if weight > 0.0:
                        edge = number[x, y]
                        scores[t, lattice.column[edge]] += weight
                        transitions[i, edge] += weight
