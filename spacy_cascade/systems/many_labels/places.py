"""Weights of which most are zero: those that are there, by row, and sums of such rows.

With hundreds of labels a feature is seen with few of them. Rows in which many places are taken are
summed as whole rows nevertheless, because the processor adds neighbours several at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...jit import kernel, maker
from ...numeric.csr import BinaryCSR
from ...types import Floats1d, Floats2d, Ints1d, Pointers1d, RealsXd

_CROWDED = 5
"""A row with a weight in one of so many columns is crowded; measured with 1,000 columns."""


class Places(NamedTuple):
    """Which of the weights `[K, S]` are there, `P` of them (a named tuple, for kernels).

    indptr: int64 `[K + 1]`; the weights of row `k` are numbered `indptr[k]:indptr[k + 1]`. columns:
    int32 `[P]`, rising within a row. crowded: int32 `[K]`, the number of a crowded row among the
    crowded ones, -1 for other rows. n_crowded: how many there are. width: `S`.
    """

    indptr: Pointers1d
    columns: Ints1d
    crowded: Ints1d
    n_crowded: int
    width: int

    @property
    def rows(self) -> Ints1d:
        """The row of each weight, int32 `[P]`."""
        n_rows = len(self.indptr) - 1
        return np.repeat(np.arange(n_rows, dtype=np.int32), np.diff(self.indptr))

    def taken_from(self, weights: RealsXd) -> Floats1d:
        """The weights at these places of `[K, S]`, float64 `[P]`."""
        taken: Floats1d = weights[self.rows, self.columns].astype(np.float64)
        return taken

    def spread(self, values: RealsXd) -> npt.NDArray[Any]:
        """All weights `[K, S]`, zero but at these places; in single precision, to save memory."""
        spread = np.zeros((len(self.indptr) - 1, self.width), dtype=np.float32)
        with np.errstate(over="ignore"):
            spread[self.rows, self.columns] = values
        return spread


def make_places(indptr: Pointers1d, columns: Ints1d, width: int) -> Places:
    """Places from the columns of each row (`Places`)."""
    is_crowded = np.diff(indptr) * _CROWDED > width
    crowded = np.where(is_crowded, np.cumsum(is_crowded) - 1, -1).astype(np.int32)
    return Places(indptr, columns, crowded, int(is_crowded.sum()), width)


def nonzero_places(weights: RealsXd) -> Places:
    """The places of the weights `[K, S]` that are not zero."""
    n_rows, width = weights.shape
    places = np.flatnonzero(weights)
    indptr = np.searchsorted(places, np.arange(n_rows + 1) * width).astype(np.int64)
    return make_places(indptr, (places % width).astype(np.int32), width)


def seen_places(
    features: BinaryCSR, columns: Ints1d, width: int, others: Places | None = None
) -> Places:
    """The places of features in the columns that they are seen with in some unit.

    features `[U, K]`: of each unit. columns `[U]`: of each unit, -1 for none. others: further
    places.
    """
    of_entries = np.repeat(columns, np.diff(features.indptr))
    is_known = of_entries >= 0
    found = [features.indices[is_known].astype(np.int64) * width + of_entries[is_known]]
    if others is not None:
        found.append(others.rows.astype(np.int64) * width + others.columns)
    places = np.unique(np.concatenate(found))
    indptr = np.searchsorted(places, np.arange(features.n_columns + 1) * width).astype(np.int64)
    return make_places(indptr, (places % width).astype(np.int32), width)


@kernel
def crowded_rows(places: Places, values: Floats1d) -> Floats2d:
    """The crowded rows with the values `[P]`, `[n_crowded, S]`."""
    rows = np.zeros((places.n_crowded, places.width))
    for k in range(len(places.crowded)):
        row = places.crowded[k]
        if row >= 0:
            for i in range(places.indptr[k], places.indptr[k + 1]):
                rows[row, places.columns[i]] = values[i]
    return rows


@kernel
def add_from_crowded(places: Places, rows: Floats2d, out: Floats1d) -> None:
    """Add what stands in crowded rows `[n_crowded, S]` to the values `[P]` there."""
    for k in range(len(places.crowded)):
        row = places.crowded[k]
        if row >= 0:
            for i in range(places.indptr[k], places.indptr[k + 1]):
                out[i] += rows[row, places.columns[i]]


@kernel
def add_placed_rows(
    indptr: Pointers1d,
    indices: Ints1d,
    places: Places,
    values: Floats1d,
    crowded: Floats2d,
    out: Floats2d,
    begin: int,
) -> None:
    """`out[i] += Σ_j w[indices[j]]`, `j` in row `begin + i`; `w` are the weights with these places.

    values: float64 `[P]`. crowded: of `crowded_rows`. out `[n, S]`.
    """
    width, whole = out.shape[1], np.empty(4, dtype=np.int64)
    for i in range(len(out)):
        n_whole = 0
        for j in range(indptr[begin + i], indptr[begin + i + 1]):
            feature = indices[j]
            row = places.crowded[feature]
            if row < 0:
                for p in range(places.indptr[feature], places.indptr[feature + 1]):
                    out[i, places.columns[p]] += values[p]
                continue
            whole[n_whole] = row
            n_whole += 1
            if n_whole == 4:
                # Four rows at a time leave the sums in registers.
                a, b, c, d = whole[0], whole[1], whole[2], whole[3]
                n_whole = 0
                for s in range(width):
                    out[i, s] += (crowded[a, s] + crowded[b, s]) + (crowded[c, s] + crowded[d, s])
        for k in range(n_whole):
            for s in range(width):
                out[i, s] += crowded[whole[k], s]


@maker
def _by_crowded_row(indptr, indices, places, begin, n):  # type: ignore[no-untyped-def]
    """The units with each crowded row: `units[starts[r]:starts[r + 1]]`, of `n` from `begin`."""
    starts = np.zeros(places.n_crowded + 1, dtype=np.int64)
    for j in range(indptr[begin], indptr[begin + n]):
        row = places.crowded[indices[j]]
        if row >= 0:
            starts[row + 1] += 1
    for row in range(places.n_crowded):
        starts[row + 1] += starts[row]
    units, place = np.empty(starts[-1], dtype=np.int64), starts[:-1].copy()
    for i in range(n):
        for j in range(indptr[begin + i], indptr[begin + i + 1]):
            row = places.crowded[indices[j]]
            if row >= 0:
                units[place[row]] = i
                place[row] += 1
    return starts, units


@kernel
def add_to_places(
    indptr: Pointers1d,
    indices: Ints1d,
    places: Places,
    values: Floats2d,
    out: Floats1d,
    crowded: Floats2d,
    begin: int,
) -> None:
    """`w[indices[j]] += values[i]`, `j` in row `begin + i`, at the places that `w` has.

    values `[n, S]`. What belongs to crowded rows is added to `crowded` `[n_crowded, S]`, for
    `add_from_crowded`, the rest to `out` `[P]`.
    """
    n, width = values.shape
    for i in range(n):
        for j in range(indptr[begin + i], indptr[begin + i + 1]):
            feature = indices[j]
            if places.crowded[feature] < 0:
                for p in range(places.indptr[feature], places.indptr[feature + 1]):
                    out[p] += values[i, places.columns[p]]
    starts, units = _by_crowded_row(indptr, indices, places, begin, n)
    for row in range(places.n_crowded):
        j, end = starts[row], starts[row + 1]
        while j + 4 <= end:
            a, b, c, d = units[j], units[j + 1], units[j + 2], units[j + 3]
            for s in range(width):
                crowded[row, s] += (values[a, s] + values[b, s]) + (values[c, s] + values[d, s])
            j += 4
        for k in range(j, end):
            for s in range(width):
                crowded[row, s] += values[units[k], s]
