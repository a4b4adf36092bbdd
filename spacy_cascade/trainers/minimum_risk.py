"""Online training of a reranker: minimum risk on N-best lists, averaged."""

from __future__ import annotations

import numpy as np

from ..inference.reranking import Learnt, Lists, minimum_risk
from ..numeric.design import Design
from ..types import Floats2d

_FIRST_SQUARES = 0.3
"""What sums of squares begin with, lest the first steps be as long as the later ones together."""


class MinimumRiskLearner:
    """Weights `[F, C]` of features of spans under training.

    rate: of learning. seed: of the order of sentences within a batch.
    """

    def __init__(self, weights: Floats2d, rate: float, seed: int = 0) -> None:
        self._rate = rate
        self._learnt = Learnt(
            weights.astype(np.float64),
            np.zeros(weights.shape),
            np.full(weights.shape, _FIRST_SQUARES),
        )
        self._generator = np.random.default_rng(seed)
        self._n_sentences = 0

    def learn(self, design: Design, lists: Lists, errors: Floats2d) -> float:
        """Pass over the sentences of a batch; the sum of their risks.

        design: features of the spans. errors: as in `inference.reranking`.
        """
        n_sentences = len(lists.starts) - 1
        features = design.active_features()
        order = self._generator.permutation(n_sentences)
        risk = minimum_risk(
            features.starts,
            features.columns,
            lists,
            errors,
            order,
            self._rate,
            self._n_sentences,
            self._learnt,
        )
        self._n_sentences += n_sentences
        return risk

    def weights(self) -> Floats2d:
        """The mean of the weights after each sentence, `[F, C]`."""
        return self._learnt.weights - self._learnt.drift / max(1, self._n_sentences)
