"""Losses of single choices among many labels, by vectors instead of edges.

With `x(i, y) = s(i, y) + m(y) + cost(i, y)` of unit `i`, the loss is
`log Σ_y exp x(i, y) - s(i, g) - m(g)`, `g` the observed label (docs/method.md, section 2.2).
"""

from __future__ import annotations

import numpy as np

from ..types import Floats1d
from .lattice import Chains, LossTerms

MANY_CHOICES = 64
"""From so many labels on this is faster than `chain_losses`, whose last bits differ."""


def choice_losses(chains: Chains, terms: LossTerms) -> Floats1d:
    """As `chain_losses.chain_losses`, of sequences of one unit; scores are OVERWRITTEN.

    Returns the gradient of the transitions `[E]`, one for each label.
    """
    _, scores, transitions, cost, tags, starts = chains
    _, shares, first, last, losses = terms
    units = starts[first:last]
    block, observed = scores[units[0] : units[-1] + 1], tags[units]
    is_known = observed >= 0
    rows, right = np.flatnonzero(is_known), observed[is_known]
    block += transitions
    agreeing = block[rows, right]
    block += cost[observed + 1]
    highest = block.max(axis=1)
    block -= highest[:, None]
    np.exp(block, out=block)
    total = block.sum(axis=1)
    losses[first:last] = 0.0
    losses[first + rows] = highest[rows] + np.log(total[rows]) - agreeing
    expected, of_observed = (weights[first:last] for weights in shares)
    block *= np.where(is_known, expected / total, 0.0)[:, None]
    block[rows, right] -= of_observed[rows]
    of_transitions: Floats1d = block.sum(axis=0)
    return of_transitions
