"""The loss of a corpus whose features have weights for few of the labels.

Scores and their gradients are made and used block by block, so memory does not grow with the corpus
times the number of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ...inference.structure import Part, Potentials, Weights
from ...losses.base import LabelledSequences, Loss
from ...numeric.design import only_design
from ...parallel import Workers, split
from ...types import Floats1d, Floats2d
from .places import Places, add_from_crowded, add_placed_rows, add_to_places, crowded_rows

_PARTS = 8
"""Sums that the gradient is gathered in, for any number of threads."""
_BLOCK = 1 << 17
"""Scores that are there at once: a megabyte, which stays near the processor."""
_READY = 8
"""So many times as many scores as there are transitions, at least."""
_Derivatives: TypeAlias = Callable[[Floats2d], Floats2d]
"""From first derivatives with respect to scores to those that are asked for."""


class SparseCorpusLoss:
    """As `CorpusLoss`, for weights at given places only: features `[P, 1]` instead of `[K, S]`.

    The structure has no segments and a column for each label, and the loss knows nothing of
    sequences but their labels. workers: the threads; results do not depend on their number.
    """

    def __init__(
        self, data: LabelledSequences, loss: Loss, places: Places, workers: Workers
    ) -> None:
        self.data, self.loss, self.places, self.workers = data, loss, places, workers
        self._of_sequences = loss.on(data.structure)
        self._features = only_design(data.encoded, "Sparse training").active_features()
        pieces = split(data.starts, places.width)
        cuts = [len(pieces) * i // _PARTS for i in range(_PARTS + 1)]
        self._parts = [(pieces[i][0], pieces[j - 1][1]) for i, j in pairwise(cuts) if i < j]

    def counts(self) -> Floats1d:
        """Number of units that have the feature of each weight, float64 `[P]`."""
        of_features = np.bincount(self._features.indices, minlength=self._features.n_columns)
        return of_features[self.places.rows].astype(np.float64)

    def value_and_gradient(self, weights: Weights, out: Floats2d) -> tuple[float, Floats1d]:
        """Loss, and the gradient of transitions `[E]`; that of features `[P, 1]` goes to `out`."""
        return self._sums(weights, lambda gradient: gradient, out)

    def hessian_diagonal(self, weights: Weights) -> Floats2d:
        """The diagonal of the second derivatives `[P, 1]`, as far as `Loss.variances` knows it."""
        diagonal = np.empty((len(self.places.columns), 1))
        self._sums(weights, self.loss.variances, diagonal)
        return diagonal

    def _sums(
        self, weights: Weights, derivatives: _Derivatives, out: Floats2d
    ) -> tuple[float, Floats1d]:
        """Loss, and gradient of the transitions; the derivatives of weights are written to `out`.

        The sums of parts are added up in their order, whichever thread makes them.
        """
        values = np.ascontiguousarray(weights.features[:, 0], dtype=np.float64)
        crowded = crowded_rows(self.places, values)
        sums = np.zeros((len(self._parts), len(out)))
        others: dict[int, tuple[float, Floats1d]] = {}

        def add(begin: int, end: int) -> None:
            for part in range(begin, end):
                rows, total = np.zeros_like(crowded), 0.0
                of_transitions = np.zeros_like(weights.transitions)
                for first, last in self._blocks(*self._parts[part]):
                    begin_unit = int(self.data.starts[first])
                    potentials = self._potentials(first, last, values, crowded, weights.transitions)
                    losses, of_block = self._losses(potentials, first, last)
                    total += losses
                    of_transitions += of_block
                    add_to_places(
                        self._features.indptr, self._features.indices, self.places,
                        derivatives(potentials.scores), sums[part], rows, begin_unit,
                    )  # fmt: skip
                add_from_crowded(self.places, rows, sums[part])
                others[part] = total, of_transitions

        self.workers.map(add, [(i, i + 1) for i in range(len(self._parts))])
        np.sum(sums, axis=0, out=out[:, 0])
        in_order = [others[part] for part in range(len(self._parts))]
        all_transitions: Floats1d = np.sum([of_part for _, of_part in in_order], axis=0)
        return float(sum(total for total, _ in in_order)), all_transitions

    def _blocks(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Ranges of sequences with few enough scores, or of one sequence.

        Transitions are made ready for each range, so it has more scores where these are many.
        """
        n_scores = max(_BLOCK, _READY * self.data.structure.n_transitions)
        starts, most = self.data.starts, max(1, n_scores // self.places.width)
        while first < last:
            fits = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
            end = min(max(fits, first + 1), last)
            yield first, end
            first = end

    def _potentials(
        self, first: int, last: int, values: Floats1d, crowded: Floats2d, transitions: Floats1d
    ) -> Potentials:
        """Of the sequences from `first` to before `last`."""
        starts = self.data.starts[first : last + 1]
        scores = np.zeros((int(starts[-1] - starts[0]), self.places.width))
        add_placed_rows(
            self._features.indptr, self._features.indices, self.places, values, crowded, scores,
            int(starts[0]),
        )  # fmt: skip
        return Potentials(scores, transitions, starts - starts[0])

    def _losses(self, potentials: Potentials, first: int, last: int) -> tuple[float, Floats1d]:
        """The sum of the losses, and the gradient of transitions; scores are OVERWRITTEN."""
        observed = self.data.observed[self.data.starts[first] : self.data.starts[last]]
        losses = np.empty(last - first)
        of_transitions = self._of_sequences(Part(potentials, observed, 0, len(losses), losses))
        return float(losses.sum()), of_transitions
