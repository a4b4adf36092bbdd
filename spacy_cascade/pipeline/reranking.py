"""The choice among the N best of each sentence, and how its feature weights are learnt.

A hypothesis scores

    total(k) = sequence_score(k) + weight · Σ type_scores(k) + θ·φ(k)

and the first of the highest wins. What is minimised is the number of errors, wrong entities
and missed ones, expected under a softmax over the candidates of each sentence:

    loss = Σ_k p(k)·errors(k),    p(k) ∝ exp(total(k))
    gradient = Σ_k p(k)·(errors(k) - loss)·φ(k)

(minimum risk; Och 2003, Smith and Eisner 2006). On lists of few candidates, most of which
are wrong in some way, it did better than the log-loss of the best candidates, which it
would rather have far off than nearly right.

Steps are those of AdaGrad on features divided by their deviation from the mean of their
sentence. Only differences within a sentence count, so the means are of no account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..types import Floats1d, Floats2d, Floats3d, Ints1d


@dataclass(frozen=True)
class Judged:
    """The hypotheses of one sentence that has more than one.

    features: float64 `[K, F]`. base: float64 `[K]`, the total without features. errors: float64
    `[K]`, but for a constant.
    """

    features: Floats2d
    base: Floats1d
    errors: Floats1d


def choose(base: Floats2d, features: Floats3d | None, theta: Floats1d) -> Ints1d:
    """The best hypothesis of each sentence, counted from 0; of equals the first.

    base: float64 `[N, S]`, `-inf` where there is none. features: `[N, S, F]`, None for zeros.
    """
    total = base if features is None else base + features @ theta
    best: Ints1d = total.argmax(axis=0).astype(np.int32)
    return best


def judge(base: Floats2d, features: Floats3d, errors: Floats2d) -> list[Judged]:
    """The sentences of a Doc that have something to teach; errors: float64 `[N, S]`."""
    found = []
    for i in range(base.shape[1]):
        there = base[:, i] > -np.inf
        wrong = errors[there, i]
        if len(wrong) and wrong.min() < wrong.max():
            found.append(Judged(features[there, i], base[there, i], wrong - wrong.min()))
    return found


class Learner:
    """Weights of features under training; `theta` float64 `[F]` is what has been learnt."""

    def __init__(self, theta: Floats1d, rate: float) -> None:
        self.theta = theta.astype(np.float64)
        self.rate = rate
        # From one, not from zero: the first steps would be as large as the gradient is small.
        self._squares = np.ones(len(theta))
        self._deviations = np.zeros(len(theta))
        self._n_hypotheses = 0

    def pass_over(self, sentences: Sequence[Judged], order: Sequence[int]) -> float:
        """One step for each sentence; the sum of their losses before it."""
        for sentence in sentences:
            centred = sentence.features - sentence.features.mean(axis=0)
            self._deviations += (centred**2).sum(axis=0)
            self._n_hypotheses += len(centred)
        scale = np.sqrt(self._deviations / max(1, self._n_hypotheses))
        # A feature that never differs has no gradient either.
        scale[scale == 0.0] = 1.0
        return sum(self._step(sentences[i], scale) for i in order)

    def _step(self, sentence: Judged, scale: Floats1d) -> float:
        total = sentence.base + sentence.features @ self.theta
        probabilities = np.exp(total - total.max())
        probabilities /= probabilities.sum()
        loss = float(probabilities @ sentence.errors)
        gradient = (probabilities * (sentence.errors - loss)) @ sentence.features / scale
        self._squares += gradient**2
        self.theta -= self.rate * gradient / np.sqrt(self._squares) / scale
        return loss
