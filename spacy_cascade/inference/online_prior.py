"""What is known of weights before passive-aggressive updates begin.

A weight that earlier data have determined well moves less. With `d` the differences of features
`F(y) - F(ŷ)`, `M` the mixing of columns and `1 + c` the precision of each parameter, an update
changes the weights by

    τ·((d M) / (1 + c)) M           and its squared norm is     Σ (d M)² / (1 + c)

Where `c = 0` this is `τ·d M²`, and that is what is computed there. (docs/method.md, section 4.4)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import maker
from ..types import Floats1d, Floats2d


class OnlinePrior(NamedTuple):
    """Precisions of parameters, relative to those of which nothing is known.

    features: `c` `[J, S]` of the first features; there is nothing about others. transitions:
    `1 + c` `[E]`. mixing, inverse: `M` and its inverse `[S, S]`.
    """

    features: Floats2d
    transitions: Floats1d
    mixing: Floats2d
    inverse: Floats2d


def no_prior(n_columns: int, n_transitions: int) -> OnlinePrior:
    """Nothing is known: updates as they are in training from scratch."""
    return OnlinePrior(
        np.zeros((0, n_columns)), np.ones(n_transitions),
        np.eye(n_columns), np.eye(n_columns),
    )  # fmt: skip


@maker
def hold_back(prior, features, n, changes):  # type: ignore[no-untyped-def]
    """Shrink the changes `d M²` of the first `n` features; by how much less their norm is."""
    width = changes.shape[1]
    parameters = np.empty(width)
    less = 0.0
    for k in range(n):
        if features[k] >= len(prior.features):
            continue
        known = prior.features[features[k]]
        if not known.any():
            continue
        parameters[:] = 0.0
        for r in range(width):
            if changes[k, r] != 0.0:
                for s in range(width):
                    parameters[s] += changes[k, r] * prior.inverse[r, s]
        for s in range(width):
            less += parameters[s] * parameters[s] * known[s] / (1.0 + known[s])
            parameters[s] /= 1.0 + known[s]
        changes[k, :] = 0.0
        for r in range(width):
            if parameters[r] != 0.0:
                for s in range(width):
                    changes[k, s] += parameters[r] * prior.mixing[r, s]
    return less
