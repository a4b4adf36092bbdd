"""Scores of pairs of neighbouring words that a thread has met, kept for its next batches."""

import threading
from dataclasses import dataclass
from weakref import ReferenceType, ref

from ..features.lexemes import LexemeTable
from ..features.pair_scores import KnownPairs, forget_pairs, no_pairs
from ..features.space import FeatureSpace
from ..types import Floats2d


@dataclass(frozen=True)
class _Kept:
    weights: Floats2d
    table: ReferenceType[LexemeTable]
    pairs: KnownPairs


class PairScores:
    """Known scores of pairs of words of one table under one set of weights, for each thread.

    Threads share none, for one may replace a pair while another one adds its scores.
    """

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def __reduce__(self) -> "tuple[type[PairScores], tuple[()]]":
        return PairScores, ()

    def known(self, space: FeatureSpace, table: LexemeTable, weights: Floats2d) -> KnownPairs:
        """This thread's, brought to these weights and this table."""
        kept: _Kept | None = getattr(self._of_thread, "kept", None)
        if kept is not None and kept.weights is weights and kept.table() is table:
            return kept.pairs
        shape = len(space.plan.pairs.anchor), weights.shape[1]
        if kept is not None and kept.pairs.shape == shape:
            pairs = kept.pairs
            forget_pairs(pairs)
        else:
            pairs = no_pairs(*shape)
        self._of_thread.kept = _Kept(weights, ref(table), pairs)
        return pairs
