"""What the network computes of units, and the way back.

    e(w) = Σ_j V[j] + x(w) A              of the features `j` and the vectors `x` of a word
    h    = max(0, b + Σ_o W_o e(w_o))     of the words at the places `o` around a unit
    z    = c + U h                        a score for each label

All that depends on one word is `P[w] = [W_o e(w)]_o`: a row for each place. For a unit it is a sum
of as many rows as there are places; the last place of spans is the mean of the words inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from thinc.api import NumpyOps

from ...jit import kernel
from ...numeric.csr import BinaryCSR, add_rows
from ...types import Ints1d, Ints2d, Pointers1d, Reals1d, Reals2d

_OPS = NumpyOps()


class NetworkWeights(NamedTuple):
    """All float32. For `K` features, `d` numbers in vectors, `D` in `e`, `H` in `h`, `Y` labels.

    of_features `V` `[K, D]`, of_vectors `A` `[d, D]`, of_window `W` `[D, o · H]`, bias `b` `[H]`,
    of_hidden `U` `[H, Y]`, of_labels `c` `[Y]`.
    """

    of_features: Reals2d
    of_vectors: Reals2d
    of_window: Reals2d
    bias: Reals1d
    of_hidden: Reals2d
    of_labels: Reals1d


class Window(NamedTuple):
    """The words at places around units, by numbers.

    around: int32 `[U, o']`, at the places beside it. inside, first: int32 and int64 `[U + 1]`, the
    words inside unit `u` are `inside[first[u]:first[u + 1]]`; both empty where units are tokens.
    """

    around: Ints2d
    inside: Ints1d
    first: Pointers1d

    def take(self, units: Pointers1d) -> Window:
        """The window of some units."""
        if not len(self.first):
            return Window(self.around[units], self.inside, self.first)
        words = BinaryCSR(self.first, self.inside, 0).take(units)
        return Window(self.around[units], words.indices, words.indptr)

    def words(self) -> Ints1d:
        """Numbers of all words, ascending."""
        found: Ints1d = np.unique(np.concatenate([self.around.ravel(), self.inside]))
        return found

    def renumbered(self, number: Ints1d) -> Window:
        """With other numbers for words, int32 `[n]`."""
        return Window(number[self.around], number[self.inside], self.first)


@kernel
def add_hidden(
    tabulated: Reals2d, around: Ints2d, inside: Ints1d, first: Pointers1d, hidden: Reals2d
) -> None:
    """`h_u += Σ_o P[w_o, o] + mean_i P[w_i, last]`, before the non-linearity.

    tabulated `P`: float32 `[n, o · H]`. around, inside, first: as in `Window`. hidden: float32
    `[U, H]`, holds `b`.
    """
    width, n_places = hidden.shape[1], around.shape[1]
    for unit in range(len(hidden)):
        for place in range(n_places):
            row = tabulated[around[unit, place], place * width : (place + 1) * width]
            for i in range(width):
                hidden[unit, i] += row[i]
        if len(first):
            begin, end = first[unit], first[unit + 1]
            share = np.float32(1.0) / np.float32(end - begin)
            for j in range(begin, end):
                row = tabulated[inside[j], n_places * width :]
                for i in range(width):
                    hidden[unit, i] += share * row[i]


@kernel
def add_to_tabulated(
    slopes: Reals2d, around: Ints2d, inside: Ints1d, first: Pointers1d, out: Reals2d
) -> None:
    """The gradient of `P` `[n, o · H]` of that of `h` `[U, H]`: `add_hidden`, the other way."""
    width, n_places = slopes.shape[1], around.shape[1]
    for unit in range(len(slopes)):
        for place in range(n_places):
            row = out[around[unit, place], place * width : (place + 1) * width]
            for i in range(width):
                row[i] += slopes[unit, i]
        if len(first):
            begin, end = first[unit], first[unit + 1]
            share = np.float32(1.0) / np.float32(end - begin)
            for j in range(begin, end):
                row = out[inside[j], n_places * width :]
                for i in range(width):
                    row[i] += share * slopes[unit, i]


def summed(features: BinaryCSR, rows: Reals2d) -> Reals2d:
    """`Σ_j V[j]` of each word, float32 `[n, D]`."""
    sums = np.zeros((features.n_rows, rows.shape[1]), dtype=np.float32)
    add_rows(features.indptr, features.indices, rows, sums, 0, features.n_rows)  # type: ignore[arg-type]
    return sums


def product(
    first: Reals2d, second: Reals2d, first_transposed: bool = False, second_transposed: bool = False
) -> Reals2d:
    """`A B`, or `Aᵀ B`, or `A Bᵀ`, the same bits for any number of threads.

    Those of NumPy's own depend on it, and its threads wait for each other where cores are busy.
    """
    found: Reals2d = _OPS.gemm(first, second, trans1=first_transposed, trans2=second_transposed)
    return found


def tabulated(features: BinaryCSR, vectors: Reals2d, weights: NetworkWeights) -> Reals2d:
    """`P` of words, float32 `[n, o · H]`; vectors: `[n, d]`."""
    sums = summed(features, weights.of_features) + product(vectors, weights.of_vectors)
    return product(sums, weights.of_window)


def hidden(table: Reals2d, window: Window, bias: Reals1d) -> Reals2d:
    """`h` of units before the non-linearity, float32 `[U, H]`."""
    found = np.empty((len(window.around), len(bias)), dtype=np.float32)
    found[:] = bias
    add_hidden(table, *window, found)
    return found
