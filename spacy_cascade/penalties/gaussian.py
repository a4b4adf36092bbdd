"""Gaussian priors on the weights.

    ½ Σ_k Σ_j precision[k, j] · z[k, j]²,   w = mean + z M

`M` is the label-pair mixing of `inference.lattice`. Training from scratch has mean 0 and precision
`1/σ²`. Adaptation (Chelba and Acero 2004) has the trained weights as its mean; where the old data
have determined a weight well its precision is larger by what they added to the curvature of the
loss, so that it stays what it is, while weights that they said little of are free to move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..inference.lattice import Lattice
from ..types import Floats1d, Floats2d, RealsXd


@dataclass(frozen=True)
class Prior:
    """A Gaussian prior.

    mean, precision: `[K, S]`. transitions, transition_precision: `[E]`, the same for transitions.
    """

    mean: RealsXd
    precision: RealsXd
    transitions: Floats1d
    transition_precision: Floats1d


def zero_prior(sigma: float, shape: tuple[int, int], n_edges: int) -> Prior:
    """The prior of training from scratch."""
    return Prior(
        np.broadcast_to(0.0, shape),
        np.broadcast_to(sigma**-2, shape),
        np.zeros(n_edges),
        np.full(n_edges, sigma**-2),
    )


def centred_prior(
    sigma: float,
    weights: RealsXd,
    transitions: Floats1d,
    curvature: Floats2d | None,
    lattice: Lattice,
) -> Prior:
    """The prior of adaptation, centred on trained weights `[K, S]` and transitions `[E]`.

    curvature: `[K, S]`, what the data that they were trained on added to the precision; None
    where that is not known.
    """
    curvature = np.zeros(weights.shape) if curvature is None else curvature
    # No transition is more certain than the most frequent feature of where it leads to.
    of_columns = curvature.max(axis=0, initial=0.0)
    return Prior(
        weights,
        sigma**-2 + curvature,
        transitions,
        sigma**-2 + of_columns[lattice.column],
    )
