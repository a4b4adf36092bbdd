"""Scores of units under weights that are mostly zero, as those of hundreds of labels are.

Scores of words cannot be kept for so many labels: those of one word in one place would take 8 KB
with a thousand of them. So the weights of all features of a unit are summed, without their zeros.
"""

from dataclasses import dataclass

import numpy as np

from ...features.space import FeatureSpace
from ...features.units import Units
from ...scorers.kept_scores import check_features
from ...types import Floats1d, Floats2d
from .places import Places, add_placed_rows, crowded_rows, nonzero_places

_MOST_THERE = 1 / 8
"""Share of the weights that are not zero, up to which leaving out the others pays."""


@dataclass(frozen=True)
class PlacedWeights:
    """Weights `[P]` by their places (`systems.many_labels.places`), and the crowded rows."""

    places: Places
    values: Floats1d
    crowded: Floats2d

    def add_scores(
        self, space: FeatureSpace, units: Units, weights: Floats2d, out: Floats2d
    ) -> None:
        """Add the scores of units to `out` `[U, S]`; weights: those that these are of."""
        features = space.active_features(units)
        check_features(space, weights)
        add_placed_rows(
            features.indptr, features.indices, self.places, self.values, self.crowded, out, 0
        )


class SparseScores:
    """What is made once of weights, if they are sparse; the last weights are kept."""

    def __init__(self) -> None:
        self._last: tuple[Floats2d, PlacedWeights | None] | None = None

    def __reduce__(self) -> "tuple[type[SparseScores], tuple[()]]":
        return SparseScores, ()

    def of(self, weights: Floats2d) -> PlacedWeights | None:
        """Those of weights `[K, S]`, None where these are mostly not zero."""
        # Read once, for another thread may replace it meanwhile.
        last = self._last
        if last is None or last[0] is not weights:
            last = self._last = weights, _placed(weights)
        return last[1]


def _placed(weights: Floats2d) -> PlacedWeights | None:
    if np.count_nonzero(weights) > _MOST_THERE * weights.size:
        return None
    places = nonzero_places(weights)
    values = places.taken_from(weights)
    return PlacedWeights(places, values, crowded_rows(places, values))
