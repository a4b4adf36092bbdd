"""What feature induction finds."""

from __future__ import annotations

from dataclasses import dataclass

from ...inference.structure import Weights
from ...types import Pointers1d
from .candidates import Candidate, Conjunction


@dataclass(frozen=True)
class Round:
    """What a round added; n_hard: how many units were wrong before it. loss: after it."""

    n_hard: int
    added: tuple[Candidate, ...]
    loss: float


@dataclass(frozen=True)
class Induced:
    """What induction found.

    kept: features of segments, which all stay. features: the others, in the order in which they
    were added. units: the first unit that has each of those. weights: of both, in this order.
    """

    kept: Pointers1d
    features: tuple[Conjunction, ...]
    units: Pointers1d
    rounds: tuple[Round, ...]
    weights: Weights
