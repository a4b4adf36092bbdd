"""Online training of a reranker: minimum risk on N-best lists, averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inference.structure import Weights
from ...numeric.design import Design
from ...trainers.base import Fit, Progress
from ...types import Floats2d
from .kernels import Learnt, Lists, minimum_risk

_FIRST_SQUARES = 0.3
"""What sums of squares begin with, lest the first steps be as long as the later ones together."""


class RiskData(NamedTuple):
    """What N-best lists teach.

    design: features of the spans. lists, errors: as in `systems.reranking.kernels`.
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
