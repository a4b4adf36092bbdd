"""Choice among hypotheses, and minimum-risk training of the weights that choose.

A hypothesis of a sentence is a segmentation `k` with a class for each of its spans. With
`q(k)` the score of the segmentation and `s[u, c]` that of class `c` for the span `u`, which has
the features `φ(u)`,

    total(k, c) = q(k) + Σ_{u in k} s[u, c(u)],        s[u, c] = s'[u, c] + w[c]·φ(u)

and the largest wins. Training minimises the number of errors, entities that are wrong and
entities that are missed, expected under a softmax over all hypotheses of a sentence:

    p(c | u) = exp(s[u, c] - S(u))        S(u) = log Σ_c exp s[u, c]
    e(u) = Σ_c p(c | u)·error[u, c]       risk(k) = Σ_{u in k} e(u)
    p(k) ∝ exp(q(k) + Σ_{u in k} S(u))    risk = Σ_k p(k)·risk(k)

    ∂risk/∂s[u, c] = p(c | u) · Σ_{k with u} p(k)·(risk(k) - risk + error[u, c] - e(u))

Steps are those of AdaGrad, one sentence at a time; weights are averaged as in
`passive_aggressive`. (docs/method.md, sections 3.6, 5.6 and 6.5)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inference.structure import Weights
from ...jit import helper, kernel, maker
from ...numeric.design import Design
from ...trainers.base import Fit, Progress
from ...types import Floats1d, Floats2d, Ints1d, Pointers1d

NEGLIGIBLE = 1e-6
"""Slopes below it, which most features of most sentences have, are taken for 0."""


class Lists(NamedTuple):
    """The N-best lists of some sentences.

    span_starts `[S + 1]`: the distinct spans of sentence `i` are the `U` rows from `span_starts[i]`
    on. starts `[S + 1]`: the same of its `K` segmentations, of which there may be none.
    member_starts `[K + 1]`, members `[M]`: the spans of each segmentation. sequence_scores `[K]`.
    class_scores `[U, C]`.
    """

    span_starts: Pointers1d
    starts: Pointers1d
    member_starts: Pointers1d
    members: Ints1d
    sequence_scores: Floats1d
    class_scores: Floats2d


class Learnt(NamedTuple):
    """Weights under training, float64 `[F, C]`; changed in place.

    weights, drift: as in `passive_aggressive.Averaged`. squares: sums of squared gradients.
    """

    weights: Floats2d
    drift: Floats2d
    squares: Floats2d


@kernel
def choose(lists: Lists, chosen: Ints1d, classes: Ints1d) -> None:
    """Write the number of the best segmentation of each sentence, and the best class of each span.

    chosen `[S]`: counted from the first of the sentence, -1 where there is none; of equals the
    first. classes `[U]`.
    """
    best = np.empty(len(classes))
    for u in range(len(classes)):
        classes[u] = 0
        for c in range(1, lists.class_scores.shape[1]):
            if lists.class_scores[u, c] > lists.class_scores[u, classes[u]]:
                classes[u] = c
        best[u] = lists.class_scores[u, classes[u]]
    for i in range(len(chosen)):
        chosen[i] = -1
        highest = -np.inf
        for k in range(lists.starts[i], lists.starts[i + 1]):
            total = lists.sequence_scores[k]
            for m in range(lists.member_starts[k], lists.member_starts[k + 1]):
                total += best[lists.members[m]]
            if chosen[i] < 0 or total > highest:
                chosen[i], highest = k - lists.starts[i], total


@helper
def _softmax(scores):  # type: ignore[no-untyped-def]
    """Turn scores into probabilities; returns the logarithm of what they are divided by."""
    largest, total = scores[0], 0.0
    for c in range(1, len(scores)):
        largest = max(largest, scores[c])
    for c in range(len(scores)):
        scores[c] = np.exp(scores[c] - largest)
        total += scores[c]
    for c in range(len(scores)):
        scores[c] /= total
    return largest + np.log(total)


@maker
def _softmaxes(lists, i, scores):  # type: ignore[no-untyped-def]
    """Turn the scores `[U, C]` of the spans of a sentence into `p(c | u)`.

    Returns `S(u)`, `p(k)`, and the probability of each span, whatever its class.
    """
    offset, first, last = lists.span_starts[i], lists.starts[i], lists.starts[i + 1]
    log_sums, mass = np.empty(len(scores)), np.zeros(len(scores))
    for u in range(len(scores)):
        log_sums[u] = _softmax(scores[u])
    p = lists.sequence_scores[first:last].copy()
    for k in range(first, last):
        for m in range(lists.member_starts[k], lists.member_starts[k + 1]):
            p[k - first] += log_sums[lists.members[m] - offset]
    _softmax(p)
    for k in range(first, last):
        for m in range(lists.member_starts[k], lists.member_starts[k + 1]):
            mass[lists.members[m] - offset] += p[k - first]
    return log_sums, p, mass


@kernel
def span_posteriors(lists: Lists, classes: Ints1d, posteriors: Floats1d) -> None:
    """Write the probability of each span with its class, float64 `[U]`, by the softmax above."""
    for i in range(len(lists.starts) - 1):
        begin, end = lists.span_starts[i], lists.span_starts[i + 1]
        if begin == end or lists.starts[i] == lists.starts[i + 1]:
            continue
        log_sums, _, mass = _softmaxes(lists, i, lists.class_scores[begin:end].copy())
        for u in range(begin, end):
            of_class = np.exp(lists.class_scores[u, classes[u]] - log_sums[u - begin])
            posteriors[u] = min(1.0, mass[u - begin] * of_class)


@maker
def _risk(lists, i, errors, scores):  # type: ignore[no-untyped-def]
    """Risk of a sentence; its gradient replaces the scores `[U, C]` of the sentence's spans."""
    offset, first, last = lists.span_starts[i], lists.starts[i], lists.starts[i + 1]
    n_spans, n_classes = scores.shape
    _, p, mass = _softmaxes(lists, i, scores)
    expected, excess = np.zeros(n_spans), np.zeros(n_spans)
    for u in range(n_spans):
        for c in range(n_classes):
            expected[u] += scores[u, c] * errors[offset + u, c]
    risks = np.zeros(last - first)
    for k in range(first, last):
        for m in range(lists.member_starts[k], lists.member_starts[k + 1]):
            risks[k - first] += expected[lists.members[m] - offset]
    risk = (p * risks).sum()
    for k in range(first, last):
        for m in range(lists.member_starts[k], lists.member_starts[k + 1]):
            excess[lists.members[m] - offset] += p[k - first] * (risks[k - first] - risk)
    for u in range(n_spans):
        for c in range(n_classes):
            scores[u, c] *= excess[u] + mass[u] * (errors[offset + u, c] - expected[u])
    return risk


@kernel
def minimum_risk(
    unit_starts: Pointers1d,
    unit_features: Ints1d,
    lists: Lists,
    errors: Floats2d,
    order: Pointers1d,
    rate: float,
    n_before: int,
    learnt: Learnt,
) -> float:
    """Learn from the sentences in `order`, one after the other; returns the sum of their risks.

    unit_starts `[U + 1]`, unit_features: features of the spans, from `rows.active_features`.
    errors: float64 `[U, C]`. n_before: sentences learnt from so far. learnt: changed in place.
    """
    weights = learnt.weights
    n_classes = weights.shape[1]
    total = 0.0
    for step, i in enumerate(order):
        begin, end = lists.span_starts[i], lists.span_starts[i + 1]
        if begin == end or lists.starts[i] == lists.starts[i + 1]:
            continue
        gradient = lists.class_scores[begin:end].copy()
        for u in range(end - begin):
            for j in range(unit_starts[begin + u], unit_starts[begin + u + 1]):
                for c in range(n_classes):
                    gradient[u, c] += weights[unit_features[j], c]
        total += _risk(lists, i, errors, gradient)
        before = n_before + step
        for u in range(end - begin):
            for j in range(unit_starts[begin + u], unit_starts[begin + u + 1]):
                feature = unit_features[j]
                for c in range(n_classes):
                    slope = gradient[u, c]
                    if abs(slope) > NEGLIGIBLE:
                        learnt.squares[feature, c] += slope * slope
                        change = rate * slope / np.sqrt(learnt.squares[feature, c])
                        weights[feature, c] -= change
                        learnt.drift[feature, c] -= before * change
    return total


_FIRST_SQUARES = 0.3
"""What sums of squares begin with, lest the first steps be as long as the later ones together."""


class RiskData(NamedTuple):
    """What N-best lists teach.

    design: features of the spans. lists, errors: as for `minimum_risk`.
    """

    design: Design
    lists: Lists
    errors: Floats2d


class MinimumRiskFit(Fit[RiskData]):
    """Weights `[F, C]` of features of spans under training; transitions stay what they are.

    rate: of learning. seed: of the order of sentences within a batch.
    """

    def __init__(self, start: Weights, rate: float, seed: int = 0) -> None:
        self._rate = rate
        self._transitions = start.transitions
        shape = start.features.shape
        self._learnt = Learnt(
            start.features.astype(np.float64), np.zeros(shape), np.full(shape, _FIRST_SQUARES)
        )
        self._generator = np.random.default_rng(seed)
        self._n_sentences = 0

    def _step(self, data: RiskData, progress: Progress) -> float:
        """Pass over the sentences of a batch; the sum of their risks."""
        n_sentences = len(data.lists.starts) - 1
        features = data.design.active_features()
        risk = minimum_risk(
            features.indptr, features.indices, data.lists, data.errors,
            self._generator.permutation(n_sentences), self._rate, self._n_sentences, self._learnt,
        )  # fmt: skip
        self._n_sentences += n_sentences
        return risk

    def weights(self) -> Weights:
        """The mean of the weights after each sentence."""
        mean = self._learnt.weights - self._learnt.drift / max(1, self._n_sentences)
        return Weights(mean, self._transitions)
