"""Scores of words, summed once for each and kept: a word's part of the score of a unit."""

from weakref import WeakKeyDictionary

import numpy as np

from ..errors import TrainingError
from ..features.lexemes import LexemeTable
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


def check_features(space: FeatureSpace, weights: Floats2d) -> None:
    """Raise `TrainingError` where features have no weights; called when features are found.

    Kernels check no bounds, and features are never taken away from a space, only added.
    """
    if len(space) > len(weights):
        raise TrainingError(
            f"There are {len(space)} features, but weights of {len(weights)}. Did another thread "
            "train the component meanwhile? Train only while no thread annotates."
        )
