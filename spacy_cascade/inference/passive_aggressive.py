"""Passive-aggressive training, one sequence at a time.

With `F(y)` the features of a path, `y` the observed one and `ŷ` the best other,

    ℓ = max(0, cost(y, ŷ) - (w·F(y) - w·F(ŷ)))       τ = min(C, ℓ/‖F(y) - F(ŷ)‖²)
    w ← w + τ·(F(y) - F(ŷ))

(PA-I of Crammer et al. 2006, section 3; METHOD.md, OCR.) The average of the weights after each
of `c` sequences is `w - v/c`, where `v` adds up each change times the number of sequences before
it; so an update touches nothing but the features in which the two paths differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import helper, kernel
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d
from .chain import viterbi
from .lattice import Lattice


class SparseDesign(NamedTuple):
    """The arrays of a factored design matrix (`features.design`)."""

    lexeme_starts: Pointers1d
    lexeme_columns: Ints1d
    unit_lexeme_starts: Pointers1d
    unit_lexeme_columns: Ints1d
    unit_starts: Pointers1d
    unit_columns: Ints1d


class Averaged(NamedTuple):
    """Weights and what their average needs; changed in place.

    weights, weights_drift: `w` and `v` of the features, float64 `[K, S]`. transitions,
    transitions_drift: the same for `[E]`.
    """

    weights: Floats2d
    weights_drift: Floats2d
    transitions: Floats1d
    transitions_drift: Floats1d


@helper
def _active_features(design, first, last, ends, active):  # type: ignore[no-untyped-def]
    """Features of the units `first <= u < last`: those of `u` end at `ends[u - first]`.

    Returns the array that holds them, which is `active` or a larger one.
    """
    size = 0
    for unit in range(first, last):
        needed = size + design.unit_starts[unit + 1] - design.unit_starts[unit]
        for i in range(design.unit_lexeme_starts[unit], design.unit_lexeme_starts[unit + 1]):
            row = design.unit_lexeme_columns[i]
            needed += design.lexeme_starts[row + 1] - design.lexeme_starts[row]
        if needed > len(active):
            grown = np.empty(2 * needed, dtype=np.int32)
            grown[:size] = active[:size]
            active = grown
        for i in range(design.unit_lexeme_starts[unit], design.unit_lexeme_starts[unit + 1]):
            row = design.unit_lexeme_columns[i]
            for j in range(design.lexeme_starts[row], design.lexeme_starts[row + 1]):
                active[size] = design.lexeme_columns[j]
                size += 1
        for i in range(design.unit_starts[unit], design.unit_starts[unit + 1]):
            active[size] = design.unit_columns[i]
            size += 1
        ends[unit - first] = size
    return active


@helper
def _edges(lattice, path, edges):  # type: ignore[no-untyped-def]
    """Write the edges of a path."""
    previous = lattice.start
    for t in range(len(path)):
        for e in range(lattice.first_edge[path[t]], lattice.first_edge[path[t] + 1]):
            if lattice.source[e] == previous:
                edges[t] = e
        previous = path[t]


@helper
def _difference(lattice, right, wrong, ends, active, place_of, features, changes):  # type: ignore[no-untyped-def]
    """Features in which two paths differ: written to `features`, and `F(y) - F(ŷ)` to `changes`.

    place_of `[K]` is -1 everywhere, before and after. Returns how many there are.
    """
    n = 0
    for t in range(len(right)):
        if right[t] == wrong[t]:
            continue
        begin = 0 if t == 0 else ends[t - 1]
        for i in range(begin, ends[t]):
            feature = active[i]
            if place_of[feature] < 0:
                place_of[feature] = n
                features[n] = feature
                changes[n, :] = 0.0
                n += 1
            changes[place_of[feature], lattice.column[right[t]]] += 1.0
            changes[place_of[feature], lattice.column[wrong[t]]] -= 1.0
    for i in range(n):
        place_of[features[i]] = -1
    return n


@helper
def _mix(changes, n, mixing):  # type: ignore[no-untyped-def]
    """Turn rows of edge counts `d` into weight changes `d M²`; returns `Σ d M² dᵀ`."""
    width = changes.shape[1]
    mixed = np.empty(width)
    norm = 0.0
    for i in range(n):
        for s in range(width):
            mixed[s] = 0.0
            for r in range(width):
                mixed[s] += changes[i, r] * mixing[r, s]
            norm += mixed[s] * changes[i, s]
        changes[i] = mixed
    return norm


@kernel
def passive_aggressive(
    design: SparseDesign,
    lattice: Lattice,
    cost: Floats2d,
    decoding_cost: Floats2d,
    clamp: Floats2d,
    mixing: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    order: Pointers1d,
    largest_step: float,
    n_before: int,
    averaged: Averaged,
) -> float:
    """Learn from the sequences in `order`, one after the other; returns the sum of `ℓ`.

    cost, clamp `[Y + 1, Y]`, tags `[T]`, starts `[N + 1]`: as in `chain.chain_losses`; where
    tags are not observed, `y` is the best path that agrees with those that are.
    decoding_cost: `cost` for a cost-augmented `ŷ`, zeros for a plain one. mixing: `M²`
    `[S, S]`, so that label and label pair share a column (`lattice.label_pair_mixing`).
    largest_step: `C`. n_before: sequences learnt from so far. averaged: changed in place.
    """
    weights, transitions = averaged.weights, averaged.transitions
    width, n_edges = weights.shape[1], len(lattice.source)
    longest = 0
    for i in order:
        longest = max(longest, starts[i + 1] - starts[i])
    scores = np.empty((longest, width))
    bounds = np.zeros(2, dtype=np.int64)
    right, wrong = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32)
    right_edges, wrong_edges = np.empty(longest, np.int32), np.empty(longest, np.int32)
    path_score = np.empty(1)
    ends = np.empty(longest, dtype=np.int64)
    active = np.empty(0, dtype=np.int32)
    place_of = np.full(len(weights), -1, dtype=np.int32)
    features = np.empty(0, dtype=np.int32)
    changes = np.empty((0, width))
    counts = np.empty(n_edges)
    total_loss = 0.0
    for step, i in enumerate(order):
        begin, end = starts[i], starts[i + 1]
        length = bounds[1] = end - begin
        observed = tags[begin:end]
        active = _active_features(design, begin, end, ends, active)
        for t in range(length):
            scores[t, :] = 0.0
            for j in range(0 if t == 0 else ends[t - 1], ends[t]):
                for s in range(width):
                    scores[t, s] += weights[active[j], s]
        viterbi(lattice, scores, transitions, decoding_cost, observed, bounds, wrong, path_score)
        right[:length] = observed
        if (observed < 0).any():
            viterbi(lattice, scores, transitions, clamp, observed, bounds, right, path_score)
        _edges(lattice, right[:length], right_edges)
        _edges(lattice, wrong[:length], wrong_edges)
        loss = 0.0
        counts[:] = 0.0
        for t in range(length):
            e, f = right_edges[t], wrong_edges[t]
            loss += cost[observed[t] + 1, wrong[t]]
            loss += scores[t, lattice.column[f]] + transitions[f]
            loss -= scores[t, lattice.column[e]] + transitions[e]
            counts[e] += 1.0
            counts[f] -= 1.0
        if loss <= 0.0:
            continue
        total_loss += loss
        if ends[length - 1] > len(features):
            features = np.empty(2 * ends[length - 1], dtype=np.int32)
            changes = np.empty((len(features), width))
        n = _difference(
            lattice, right_edges[:length], wrong_edges[:length], ends, active, place_of,
            features, changes,
        )  # fmt: skip
        norm = _mix(changes, n, mixing)
        if width != n_edges:
            norm += (counts * counts).sum()
        if norm <= 0.0:
            continue
        tau = min(largest_step, loss / norm)
        before = n_before + step
        for k in range(n):
            for s in range(width):
                weights[features[k], s] += tau * changes[k, s]
                averaged.weights_drift[features[k], s] += before * tau * changes[k, s]
        if width != n_edges:
            for e in range(n_edges):
                transitions[e] += tau * counts[e]
                averaged.transitions_drift[e] += before * tau * counts[e]
    return total_loss
