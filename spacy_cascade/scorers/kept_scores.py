"""Scores that are summed once and kept: of words, and of pairs of words that were met."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from ..errors import TrainingError
from ..features.lexemes import LexemeTable
from ..features.pair_scores import KnownPairs, forget_pairs, no_pairs
from ..features.space import FeatureSpace
from ..numeric.arrays import grown
from ..numeric.csr import add_rows
from ..parallel import LEXEME_LOCK
from ..types import Floats2d, Keys2d, Reals2d

_AT_ONCE = 1 << 12
"""Lexemes whose features are looked up at once: arrays that are much larger are slow."""


class LexemeScores:
    """Cached scores of the (lexeme, slot) rows of tables, each under one set of weights.

    Scores live as long as their table: other threads may still have batches of a table that the
    feature space has given up.
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[LexemeTable, _TableScores] = WeakKeyDictionary()

    def __reduce__(self) -> "tuple[type[LexemeScores], tuple[()]]":
        return LexemeScores, ()

    def rows(self, space: FeatureSpace, table: LexemeTable, weights: Floats2d) -> Reals2d:
        """Scores `[n_lexemes · n_slots, S]` at least, brought up to date with the table."""
        with LEXEME_LOCK:
            known = self._known.get(table)
            if known is None or known.weights is not weights:
                known = self._known[table] = _TableScores(weights)
            return known.rows(space, table.attributes)


class _TableScores:
    """Scores of the lexemes of one table; rows are added and never changed."""

    def __init__(self, weights: Floats2d) -> None:
        self.weights = weights
        self._rows = np.zeros((0, weights.shape[1]))
        self._n_lexemes = 0

    def rows(self, space: FeatureSpace, attributes: Keys2d) -> Reals2d:
        """Scores of the lexemes with these attributes; those of the first lexemes are known."""
        n_slots, known, size = space.plan.n_slots, self._n_lexemes, len(attributes)
        if size > known:
            if size * n_slots > len(self._rows):
                self._rows = grown(self._rows[: known * n_slots], 2 * size * n_slots)
            for begin in range(known, size, _AT_ONCE):
                end = min(begin + _AT_ONCE, size)
                features = space.lexeme_features(attributes[begin:end])
                check_features(space, self.weights)
                new = self._rows[begin * n_slots : end * n_slots]
                new[:] = 0.0
                add_rows(features.indptr, features.indices, self.weights, new, 0, features.n_rows)
            self._n_lexemes = size
        return self._rows


@dataclass(frozen=True)
class _Kept:
    weights: Floats2d
    table: ReferenceType[LexemeTable]
    pairs: KnownPairs


class PairScores:
    """Known scores of pairs of words of one table under one set of weights, lent to one at a time.

    Threads never share them at once, for one may replace a pair while another one adds its scores.
    There are as many as were ever lent at the same time, and a new thread gets filled ones.
    """

    def __init__(self) -> None:
        self._free: list[_Kept] = []

    def __reduce__(self) -> "tuple[type[PairScores], tuple[()]]":
        return PairScores, ()

    @contextmanager
    def lent(
        self, space: FeatureSpace, table: LexemeTable, weights: Floats2d
    ) -> Iterator[KnownPairs]:
        """Those that were given back last, brought to these weights and this table."""
        try:
            kept: _Kept | None = self._free.pop()
        except IndexError:
            kept = None
        if kept is None or kept.weights is not weights or kept.table() is not table:
            shape = len(space.plan.pairs.anchor), weights.shape[1]
            if kept is None or kept.pairs.shape != shape:
                pairs = no_pairs(*shape)
            else:
                pairs = kept.pairs
                forget_pairs(pairs)
            kept = _Kept(weights, ref(table), pairs)
        try:
            yield kept.pairs
        finally:
            self._free.append(kept)


def check_features(space: FeatureSpace, weights: Floats2d) -> None:
    """Raise `TrainingError` where features have no weights; called when features are found.

    Kernels check no bounds, and features are never taken away from a space, only added.
    """
    if len(space) > len(weights):
        raise TrainingError(
            f"There are {len(space)} features, but weights of {len(weights)}. Did another thread "
            "train the component meanwhile? Train only while no thread annotates."
        )
