"""Gains of candidate features by mean field, all at once (McCallum and Li 2003, section 3).

    G(g) = max_μ Σ_i [μ·g(y_i, i) - log Σ_y P(y | i)·exp(μ·g(y, i))] - μ²/(2σ²)

`i` runs over units that the model gets wrong, and `P` are its marginals, which stand still: units
are independent of each other, and only the weight `μ` of the candidate moves. A candidate holds in
some of the units, for one label `a`; with `p = P(a | i)` the second term is `log(1 + p·(e^μ - 1))`.
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d

NEWTON_STEPS = 12
_LONGEST_STEP = 5.0
_CONVERGED = 1e-7


@kernel
def newton_gains(
    indptr: Pointers1d, indices: Ints1d, marginals: Floats2d, observed: Floats2d, precision: float
) -> tuple[Floats2d, Floats2d]:
    """Weights `μ` and gains `G` `[C, Y]` of candidates for each label, by Newton's method.

        dG/dμ = Σ_i [o_i - q_i] - μ/σ²      d²G/dμ² = -Σ_i q_i·(1 - q_i) - 1/σ²
        q_i = p_i·e^μ / (1 + p_i·(e^μ - 1))

    `G` is concave. A step that leaves the interval in which its slope changes sign is replaced by
    half of the interval. indptr, indices: the units in which each candidate holds, rows `[C, I]`.
    marginals `[I, Y]`: of the model. observed `[I, Y]`: probability of each label given the
    annotation, 1 for the right one. precision: `1/σ²`.
    """
    n_candidates, n_labels = len(indptr) - 1, marginals.shape[1]
    weights, gains = np.zeros((n_candidates, n_labels)), np.zeros((n_candidates, n_labels))
    for c in range(n_candidates):
        rows = indices[indptr[c] : indptr[c + 1]]
        for a in range(n_labels):
            low, high, mu = -np.inf, np.inf, 0.0
            for _ in range(NEWTON_STEPS):
                slope, curvature = -mu * precision, precision
                grown = np.exp(mu)
                for row in rows:
                    p = marginals[row, a]
                    q = p * grown / (1.0 + p * (grown - 1.0))
                    slope += observed[row, a] - q
                    curvature += q * (1.0 - q)
                if slope > 0.0:
                    low = mu
                else:
                    high = mu
                step = min(max(slope / curvature, -_LONGEST_STEP), _LONGEST_STEP)
                if abs(step) < _CONVERGED:
                    break
                mu += step
                if not low < mu < high:
                    mu = 0.5 * (low + high)
            gain, grown = -0.5 * mu * mu * precision, np.exp(mu)
            for row in rows:
                gain += mu * observed[row, a] - np.log1p(marginals[row, a] * (grown - 1.0))
            weights[c, a], gains[c, a] = mu, gain
    return weights, gains


@kernel
def screen(
    parent_indptr: Pointers1d,
    parent_units: Ints1d,
    test_indptr: Pointers1d,
    tests: Ints1d,
    joins: Bools1d,
    residuals: Floats2d,
    variances: Floats2d,
    precision: float,
    min_count: int,
    floor: float,
    begin: int,
    end: int,
) -> tuple[Ints1d, Ints1d, Floats1d]:
    """Gains of all conjunctions of a parent with a test, to second order in `μ`.

        G ≈ Σ_a (Σ_i r_ia)² / (2·(Σ_i v_ia + 1/σ²))      r = o - p, v = p·(1 - p)

    Parents `begin <= f < end` hold in the units `[F, I]`; tests `[I, n]` of each unit. joins `[n]`:
    the tests that can be in a conjunction. Returns parent, test and gain of the candidates of at
    least `min_count` units whose gain is above `floor`. A test that holds wherever the parent does
    adds nothing to it, and is left out.
    """
    n_labels = residuals.shape[1]
    sums = np.zeros((len(joins), 2 * n_labels))
    counts = np.zeros(len(joins), dtype=np.int64)
    touched = np.empty(len(joins), dtype=np.int32)
    parent, test = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int32)
    gains, size = np.empty(1024), 0
    for f in range(begin, end):
        n_touched = 0
        for i in range(parent_indptr[f], parent_indptr[f + 1]):
            unit = parent_units[i]
            for j in range(test_indptr[unit], test_indptr[unit + 1]):
                t = tests[j]
                if not joins[t]:
                    continue
                if counts[t] == 0:
                    touched[n_touched] = t
                    n_touched += 1
                    sums[t] = 0.0
                counts[t] += 1
                for a in range(n_labels):
                    sums[t, a] += residuals[unit, a]
                    sums[t, n_labels + a] += variances[unit, a]
        n_units = parent_indptr[f + 1] - parent_indptr[f]
        for k in range(n_touched):
            t = touched[k]
            if min_count <= counts[t] < n_units:
                gain = 0.0
                for a in range(n_labels):
                    gain += sums[t, a] ** 2 / (2.0 * (sums[t, n_labels + a] + precision))
                if gain > floor:
                    if size == len(gains):
                        parent, test = np.append(parent, parent), np.append(test, test)
                        gains = np.append(gains, gains)
                    parent[size], test[size], gains[size] = f, t, gain
                    size += 1
            counts[t] = 0
    return parent[:size].copy(), test[:size].copy(), gains[:size].copy()
