"""Iterative parameter mixing: parts of the sequences learn side by side, then weights are averaged.

Each of `P` parts makes a pass over its sequences from the same weights `w₀` and ends at `w_p`; all
go on from the mean `w = w₀ + (Σ_p δ_p) / P`, `δ_p = w_p - w₀` (McDonald, Hall and Mann 2010,
"Distributed training strategies for the structured perceptron"; docs/method.md, section 5.3).

The mean over all updates, those of all parts, is `w - v/A` as in `inference.passive_aggressive`.
With `A_p` and `v_p` of a part alone, and `A₀` and `v₀` of before,

    A = A₀ + Σ_p A_p        v = v₀ + A (w - w₀) + Σ_p (v_p - A_p δ_p)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..inference.structure import Averaged
from ..parallel import Workers, split
from ..types import Floats1d, Pointers1d

Learn: TypeAlias = Callable[[Pointers1d, Floats1d, Averaged], float]
"""Learns from sequences `[n]` in their order, with `A_{i-1}` of each; returns their loss."""


@dataclass(frozen=True)
class _Learnt:
    """Where a part ended, with the drift `v_p` of this part alone; counted: `A_p`."""

    averaged: Averaged
    counted: float
    loss: float


def learn_in_parts(
    learn: Learn,
    order: Pointers1d,
    counts: Floats1d,
    counted: float,
    averaged: Averaged,
    n_parts: int,
    workers: Workers,
) -> float:
    """Learn from all sequences, and mix the parts; returns the sum of their losses.

    order, counts `[n]`: the sequences, which are dealt to the parts like cards, and `a_i` of each.
    counted: `A₀`. averaged: where all parts begin, and in place where they end. The result depends
    on the number of parts, and not on the threads.
    """
    learnt: dict[int, _Learnt] = {}

    def run(begin: int, end: int) -> None:
        for part in range(begin, end):
            own, sums = order[part::n_parts].copy(), np.cumsum(counts[part::n_parts])
            at = _beginning(averaged)
            loss = learn(own, np.append(0.0, sums[:-1]), at)
            learnt[part] = _Learnt(at, float(sums[-1]), loss)

    workers.map(run, [(part, part + 1) for part in range(n_parts)])
    in_order = [learnt[part] for part in range(n_parts)]
    _mix(averaged, in_order, counted, workers)
    return sum(part.loss for part in in_order)


def _beginning(averaged: Averaged) -> Averaged:
    """Its weights, copied, without drift."""
    weights, drift, transitions, transitions_drift = averaged
    return Averaged(
        weights.copy(), np.zeros_like(drift), transitions.copy(), np.zeros_like(transitions_drift)
    )


def _mix(averaged: Averaged, parts: list[_Learnt], counted: float, workers: Workers) -> None:
    """Move the weights to the mean of the parts, in place, with the drift that goes with it."""
    total = counted + sum(part.counted for part in parts)

    def mix(
        weights: npt.NDArray[Any],
        drift: npt.NDArray[Any],
        found: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]],
    ) -> None:
        moves = [own - weights for own, _ in found]
        mean = sum(moves[1:], moves[0]) / len(moves)
        drift += total * mean
        for part, move, (_, own_drift) in zip(parts, moves, found, strict=True):
            drift += own_drift - part.counted * move
        weights += mean

    def rows(begin: int, end: int) -> None:
        own = slice(begin, end)
        found = [(p.averaged.weights[own], p.averaged.weights_drift[own]) for p in parts]
        mix(averaged.weights[own], averaged.weights_drift[own], found)

    # Huge counts give nothing finite; the model finds out when it takes the weights over.
    with np.errstate(over="ignore", invalid="ignore"):
        n_rows, width = averaged.weights.shape
        workers.map(rows, split(range(0, (n_rows + 1) * width, width), len(parts)))
        moved = [(p.averaged.transitions, p.averaged.transitions_drift) for p in parts]
        mix(averaged.transitions, averaged.transitions_drift, moved)
