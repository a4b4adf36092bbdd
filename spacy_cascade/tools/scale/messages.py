"""What a driver asks of its workers, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...types import Floats1d, Floats2d, Floats3d, RealsXd


class Wanted(Enum):
    """What to compute of the loss of a shard: its gradient, or its second derivatives."""

    GRADIENT = "gradient"
    VARIANCES = "variances"


@dataclass(frozen=True)
class Question:
    """The point at which the loss is to be computed.

    by_lexeme: scores that the weights give to each lexeme and slot, float64 `[R, S]`. features:
    weights `[K, S]`. transitions: `[E]`.
    """

    wanted: Wanted
    by_lexeme: Floats2d
    features: RealsXd
    transitions: Floats1d


@dataclass(frozen=True)
class Answer:
    """What one shard adds to the loss; only the features and lexemes that it has.

    losses: of its own sequences, float64 `[N]`. transitions: a gradient for each of its pieces,
    `[n, E]`. by_lexeme `[N, r, S]`, features `[N, k, S]`, segments `[N, q, n]`: sums of each of the
    nodes that its parts are (`tools.scale.parts`).
    """

    losses: Floats1d
    transitions: Floats2d
    by_lexeme: Floats3d
    features: Floats3d
    segments: Floats3d
