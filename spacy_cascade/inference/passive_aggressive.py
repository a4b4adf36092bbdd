"""Passive-aggressive training, one sequence at a time.

With `F(y)` the features of a path, `y` the observed one and `ŷ` the best other,

    ℓ = max(0, cost(y, ŷ) - (w·F(y) - w·F(ŷ)))       τ = min(C, ℓ/‖F(y) - F(ŷ)‖²)
    w ← w + τ·(F(y) - F(ŷ))

Let the weights after sequence `i` count `a_i` in the average, and `A_i = a_1 + … + a_i`. The
average after `c` sequences is `w - v/A_c`, where `v` adds up each change times `A_{i-1}`; so an
update touches nothing but the features in which the two paths differ. (docs/method.md, sections 5.3
and 5.4) Weights that are known from earlier data move less (`inference.online_prior`).
"""

from __future__ import annotations

import numpy as np

from ..jit import helper, kernel, maker
from ..types import Floats2d, Ints1d, Pointers1d
from .chain import edge_between
from .lattice import Chains, Lattice
from .online_prior import hold_back
from .structure import OnlineStep
from .viterbi import best_paths


@kernel
def cut_sequences(tags: Ints1d, starts: Pointers1d, label: int, least: int) -> Pointers1d:
    """Sequences cut where the observed label is `label`, into pieces of at least `least` units.

    tags `[T]`, -1 where not observed; starts `[N + 1]`. Where a sequence starts as if `label`
    stood before it, a piece sees what it would in the whole. Returns the starts of the pieces.
    """
    pieces = np.empty(len(tags) + len(starts), dtype=np.int64)
    n = 0
    for i in range(len(starts) - 1):
        pieces[n] = starts[i]
        n += 1
        for t in range(starts[i], starts[i + 1] - 1):
            if tags[t] == label and t + 1 - pieces[n - 1] >= least:
                pieces[n] = t + 1
                n += 1
    pieces[n] = starts[-1]
    cut: Pointers1d = pieces[: n + 1]
    return cut


@helper
def unit_score(weights, active, begin, end, scores):  # type: ignore[no-untyped-def]
    """`scores = Σ_j weights[active[j]]`, four rows at a time to leave the sums in registers."""
    scores[:] = 0.0
    width = len(scores)
    j = begin
    while j + 4 <= end:
        a, b, c, d = active[j], active[j + 1], active[j + 2], active[j + 3]
        for s in range(width):
            scores[s] += (weights[a, s] + weights[b, s]) + (weights[c, s] + weights[d, s])
        j += 4
    for i in range(j, end):
        for s in range(width):
            scores[s] += weights[active[i], s]


@helper
def path_edges(lattice, path, edges):  # type: ignore[no-untyped-def]
    """Write the edges of a path."""
    previous = lattice.start
    for t in range(len(path)):
        edges[t] = edge_between(lattice, previous, path[t])
        previous = path[t]


@maker
def token_differences(lattice, right, wrong, starts, active, mixing, place_of, features, changes):  # type: ignore[no-untyped-def]
    """Features in which two paths differ, written to `features`, and `d M²` to their `changes`.

    `d` is a feature's row of `F(y) - F(ŷ)`. place_of `[K]` is -1 everywhere, before and after.
    Returns how many features there are, and `Σ d M² dᵀ`, of which adding `δ` to `d` makes
    `2·δ·(d M²) + δ M² δᵀ` more.
    """
    n = 0
    norm = 0.0
    width = changes.shape[1]
    change = np.empty(width)
    for t in range(len(right)):
        if right[t] == wrong[t]:
            continue
        plus, minus = lattice.column[right[t]], lattice.column[wrong[t]]
        for s in range(width):
            change[s] = mixing[plus, s] - mixing[minus, s]
        alone = change[plus] - change[minus]
        for i in range(starts[t], starts[t + 1]):
            place = place_of[active[i]]
            if place < 0:
                place_of[active[i]] = n
                features[n] = active[i]
                norm += alone
                for s in range(width):
                    changes[n, s] = change[s]
                n += 1
            else:
                norm += 2.0 * (changes[place, plus] - changes[place, minus]) + alone
                for s in range(width):
                    changes[place, s] += change[s]
    for i in range(n):
        place_of[features[i]] = -1
    return n, norm


@kernel
def passive_aggressive(
    unit_starts: Pointers1d,
    unit_features: Ints1d,
    lattice: Lattice,
    tags: Ints1d,
    starts: Pointers1d,
    settings: OnlineStep,
    mixing: Floats2d,
) -> float:
    """Learn from sequences, one after the other; returns the sum of `ℓ`.

    unit_starts `[T + 1]`, unit_features: from `rows.active_features`. tags `[T]`, starts `[N + 1]`:
    as in `chain_losses`; where tags are not observed, `y` is the best path that agrees with
    those that are. mixing: `M²` `[S, S]`, so that label and label pair share a column
    (`structure.Columns.mixing`). settings: the weights in it are changed in place.
    """
    cost, clamp = settings.costs
    decoding_cost = cost if settings.is_cost_augmented else np.zeros_like(cost)
    order, before, averaged = settings.order, settings.before, settings.averaged
    prior = settings.prior
    weights, transitions = averaged.weights, averaged.transitions
    width, n_edges = weights.shape[1], len(lattice.source)
    longest = 0
    most = 0
    for i in order:
        longest = max(longest, starts[i + 1] - starts[i])
        most = max(most, unit_starts[starts[i + 1]] - unit_starts[starts[i]])
    scores = np.empty((longest, width))
    bounds = np.zeros(2, dtype=np.int64)
    right, wrong = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32)
    right_edges, wrong_edges = np.empty(longest, np.int32), np.empty(longest, np.int32)
    path_score = np.empty(1)
    place_of = np.full(len(weights), -1, dtype=np.int32)
    features = np.empty(most, dtype=np.int32)
    changes = np.empty((most, width))
    counts = np.empty(n_edges)
    total_loss = 0.0
    for step, i in enumerate(order):
        begin, end = starts[i], starts[i + 1]
        length = bounds[1] = end - begin
        observed = tags[begin:end]
        ends = unit_starts[begin : end + 1]
        for t in range(length):
            unit_score(weights, unit_features, ends[t], ends[t + 1], scores[t])
            right[t] = observed[t]
        chains = Chains(lattice, scores, transitions, decoding_cost, observed, bounds)
        best_paths(chains, wrong, path_score)
        if (observed < 0).any():
            chains = Chains(lattice, scores, transitions, clamp, observed, bounds)
            best_paths(chains, right, path_score)
        path_edges(lattice, right[:length], right_edges)
        path_edges(lattice, wrong[:length], wrong_edges)
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
        n, norm = token_differences(
            lattice, right_edges[:length], wrong_edges[:length], ends, unit_features, mixing,
            place_of, features, changes,
        )  # fmt: skip
        norm -= hold_back(prior, features, n, changes)
        moves = counts / prior.transitions
        if width != n_edges:
            norm += (counts * moves).sum()
        if norm <= 0.0:
            continue
        tau = min(settings.largest_step, loss / norm)
        for k in range(n):
            feature = features[k]
            for s in range(width):
                weights[feature, s] += tau * changes[k, s]
            for s in range(width):
                averaged.weights_drift[feature, s] += before[step] * tau * changes[k, s]
        if width != n_edges:
            for e in range(n_edges):
                transitions[e] += tau * moves[e]
                averaged.transitions_drift[e] += before[step] * tau * moves[e]
    return total_loss
