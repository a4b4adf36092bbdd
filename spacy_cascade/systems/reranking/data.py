"""What annotated N-best lists teach a reranker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numeric.design import Design
from ...parallel import Workers
from ...types import Floats2d, RealsXd
from .kernels import Lists, choose
from .typed_lists import TypedLists


@dataclass(frozen=True)
class RerankerData:
    """Typed N-best lists with their features and the errors that choices would make.

    design: features of the spans, None for those of an untrained reranker. errors: float64
    `[U, C]` as `TypedLists.errors` gives them. n_gold: number of gold entities.
    """

    design: Design | None
    typed: TypedLists
    errors: Floats2d
    n_gold: int

    def f1(self, lists: Lists, weights: RealsXd | None = None) -> float:
        """Entity F1 of the choice that such scores make; weights `[F, C]` of the features."""
        if weights is not None and self.design is not None:
            learnt = self.design.scores(weights, Workers(1))
            lists = lists._replace(class_scores=lists.class_scores + learnt)
        chosen = np.empty(len(lists.starts) - 1, dtype=np.int32)
        classes = np.empty(len(lists.class_scores), dtype=np.int32)
        choose(lists, chosen, classes)
        spans = self.typed.chosen_spans(chosen)
        errors = self.errors[spans, classes[spans]]
        n_all = np.count_nonzero(errors) + self.n_gold
        return 2.0 * np.count_nonzero(errors < 0) / n_all if n_all else 0.0
