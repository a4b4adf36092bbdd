"""Probabilities of an ensemble as targets of the stages of a cascade (`systems.ensembles.loss`).

How often a chain is expected to use each of its scores follows from probabilities of spans alone.
Tags inside of spans follow from the spans. Where no span goes on from token `t - 1` to `t`, the
tags on both sides are taken as independent given that, which is the distribution of the greatest
entropy with these spans:

    P(x at t-1, y at t) = P(x ends at t-1)·P(y begins at t) / P(no span goes on)

`x` is outside or the last tag of a span, `y` outside or the first tag of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from spacy.training import Example

from ...errors import ConfigError
from ...inference.lattice import Lattice
from ...inference.linear_chain import LinearChain
from ...inference.schemes import SCHEMES, Spans, TagSet
from ...jit import kernel
from ...losses.base import LabelledSequences
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.gold import GoldSpans, read_gold
from ...types import Bools1d, Floats1d, Floats2d, Pointers1d
from .component import CascadeEnsemble
from .loss import Targets
from .members import TypedPosteriors, mean_posteriors

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


_AT_ONCE = 128


def posteriors_of(
    ensemble: CascadeEnsemble, examples: Sequence[Example], shares: Sequence[float]
) -> TypedPosteriors:
    """Mean of what the ensemble and the gold annotation say of examples, counted as one batch.

    shares: of the gold annotation, for each example; 1 leaves the example out. Labels are those of
    the ensemble.
    """
    offsets = np.cumsum([0, *(len(example.predicted) for example in examples)])
    chosen = [i for i, share in enumerate(shares) if share < 1]
    found = []
    for first in range(0, len(chosen), _AT_ONCE):
        part = chosen[first : first + _AT_ONCE]
        spans = ensemble.posteriors([examples[i].predicted for i in part])
        cuts = np.cumsum([0, *(len(examples[i].predicted) for i in part)])
        which = np.searchsorted(cuts, spans.start, side="right") - 1
        moved = (offsets[part] - cuts[:-1])[which]
        kept = 1.0 - np.array([shares[i] for i in part])[which]
        found.append(
            TypedPosteriors(
                spans.start + moved, spans.end + moved, spans.probabilities * kept[:, None]
            )
        )
    mixed = [(i, read_gold(examples[i], None)) for i in chosen if shares[i] > 0]
    found += [_gold(gold, offsets[i], shares[i], ensemble.labels) for i, gold in mixed]
    nothing = np.zeros(0, dtype=np.int64)
    found.append(TypedPosteriors(nothing, nothing, np.zeros((0, len(ensemble.labels)))))
    mean = mean_posteriors(found)
    return mean._replace(probabilities=mean.probabilities * len(found))


def segmenter_targets(
    segmenter: CascadeSegmenter, data: LabelledSequences, found: TypedPosteriors, has: Bools1d
) -> Targets:
    """Targets of a chain of tags. has: bool `[T]`, tokens of Docs that have targets.

    Raises `ConfigError` for a segmenter that is no linear chain.
    """
    structure = data.structure
    if type(structure) is not LinearChain:
        raise ConfigError(
            f"'{segmenter.name}' is no linear chain, and nothing else can be distilled into. Use "
            'the architecture "spacy_cascade.LinearChain.v1".'
        )
    if segmenter.typed:
        row, label = np.nonzero(found.probabilities)
        probabilities = found.probabilities[row, label]
    else:
        row, probabilities = np.arange(len(found.start)), found.probabilities.sum(axis=1)
        label = np.zeros_like(row)
    spans = Spans(found.start[row], found.end[row], label.astype(np.int32))
    parts = expected_parts(structure.lattice, structure.tag_set, spans, probabilities, data.starts)
    return Targets(parts.scores, parts.transitions, has[data.starts[:-1]], has)


def classifier_targets(
    classifier: CascadeClassifier, data: LabelledSequences, found: TypedPosteriors,
    examples: Sequence[Example], has: Bools1d,
) -> Targets:  # fmt: skip
    """Targets of the classes of the gold spans of examples.

    Raises `ConfigError` for a classifier that rejects spans, which no ensemble speaks of.
    """
    if classifier.reject:
        raise ConfigError(
            f"'{classifier.name}' learns to reject spans, and an ensemble has no such class. Set "
            "reject = false to distil."
        )
    place = {bounds: i for i, bounds in enumerate(zip(found.start.tolist(), found.end.tolist()))}  # noqa: B905
    scores: Floats2d = np.zeros((len(data.observed), data.structure.n_columns))
    scores[np.arange(len(scores)), data.observed] = 1.0
    given = np.zeros(len(scores), dtype=np.bool_)
    offset = row = 0
    for example in examples:
        for start, end, label in read_gold(example, classifier.gold_key).spans:
            if label not in classifier.labels:
                continue
            i = place.get((start + offset, end + offset))
            if i is not None and has[start + offset]:
                scores[row] = found.probabilities[i] / found.probabilities[i].sum()
                given[row] = True
            row += 1
        offset += len(example.predicted)
    transitions = np.zeros((len(scores), data.structure.n_transitions))
    return Targets(scores, transitions, given, given)


def tokens_with(examples: Sequence[Example], shares: Sequence[float]) -> Bools1d:
    """Tokens `[T]` of the examples of which not all is gold."""
    lengths = [len(example.predicted) for example in examples]
    return np.repeat(np.array(shares) < 1, lengths)


def _gold(gold: GoldSpans, offset: int, share: float, labels: Sequence[str]) -> TypedPosteriors:
    numbers = {label: i for i, label in enumerate(labels)}
    rows = [(s + offset, e + offset, numbers[label]) for s, e, label in gold.spans]
    start, end, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return TypedPosteriors(start, end, share * np.eye(len(labels))[label])
