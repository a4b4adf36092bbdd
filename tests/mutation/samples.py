"""How many mutants to try, and how sure what came of them is: by the normal approximation."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import NamedTuple

_NORMAL = 1.959964
"""Of 95 %."""


class Stratum(NamedTuple):
    """Mutants of which some, drawn at random, were tried."""

    mutants: int
    tried: int
    killed: int


def needed(mutants: int, share: float, half_width: float) -> int:
    """How many of them to try, so that the interval of 95 % is no wider.

    share: of the mutants that are killed, as far as one knows before.
    """
    if not mutants:
        return 0
    of_many = _NORMAL**2 * share * (1 - share) / half_width**2
    return ceil(of_many / (1 + (of_many - 1) / mutants))


def estimate(strata: Sequence[Stratum]) -> tuple[float, float]:
    """The share of all mutants that are killed, and half the width of its interval of 95 %.

    Each stratum counts by its number of mutants. Where none survived, the width is as if one had.
    """
    mutants = sum(stratum.mutants for stratum in strata)
    share = variance = 0.0
    for all_of_it, tried, killed in strata:
        weight = all_of_it / mutants
        share += weight * killed / tried
        assumed = min(killed, tried - 1) / tried
        if tried < all_of_it:
            spread = assumed * (1 - assumed) / max(1, tried - 1)
            variance += weight**2 * spread * (1 - tried / all_of_it)
    return share, _NORMAL * sqrt(variance)
