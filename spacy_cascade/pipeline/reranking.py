"""The choice among the N best of each sentence, and how its feature weights are learnt.

A hypothesis scores

    total(k) = sequence_score(k) + weight · Σ type_scores(k) + θ·φ(k)

and the first of the highest wins. The loss of a sentence is the log-loss of the hypotheses
with the fewest errors (*oracles*), by a softmax over its candidates:

    loss = log Σ_k exp(total(k)) - log Σ_{k oracle} exp(total(k))

Steps are those of AdaGrad, divided by each feature's deviation from the mean of its sentence:
the same as standardized features, with weights in the features' own units. Only differences
within a sentence count, so their means are of no account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..types import Bools1d, Floats1d, Floats2d, Floats3d, Ints1d


@dataclass(frozen=True)
class Judged:
    """The hypotheses of one sentence that has more than one.

    features: float64 `[K, F]`. base: float64 `[K]`, the total without features.
    is_oracle: bool `[K]`.
    """

    features: Floats2d
    base: Floats1d
    is_oracle: Bools1d


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
            found.append(Judged(features[there, i], base[there, i], wrong == wrong.min()))
    return found


class Learner:
    """Weights of features under training; `theta` float64 `[F]` is what has been learnt."""

    def __init__(self, theta: Floats1d, rate: float) -> None:
        self.theta = theta.astype(np.float64)
        self.rate = rate
        self._squares = np.zeros(len(theta))
        self._deviations = np.zeros(len(theta))
        self._n_hypotheses = 0

    def pass_over(self, sentences: Sequence[Judged], order: Sequence[int]) -> float:
        """One step for each sentence; the sum of their losses before it."""
        return sum(self._step(sentences[i]) for i in order)

    def _step(self, sentence: Judged) -> float:
        total = sentence.base + sentence.features @ self.theta
        shifted = np.exp(total - total.max())
        expected = shifted / shifted.sum()
        right = np.where(sentence.is_oracle, shifted, 0.0)
        mass = right.sum()
        loss = -np.log(max(mass / shifted.sum(), np.finfo(float).tiny))
        target = right / mass if mass > 0.0 else sentence.is_oracle / sentence.is_oracle.sum()
        gradient = (expected - target) @ sentence.features
        deviations = sentence.features - sentence.features.mean(axis=0)
        self._deviations += (deviations**2).sum(axis=0)
        self._n_hypotheses += len(deviations)
        self._squares += gradient**2
        scale = np.sqrt(self._deviations / self._n_hypotheses) * np.sqrt(self._squares)
        self.theta -= self.rate * np.divide(gradient, scale, np.zeros_like(scale), where=scale > 0)
        return float(loss)
