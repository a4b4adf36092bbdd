"""Passive-aggressive training of the semi-Markov chain, one sequence at a time.

As `inference.passive_aggressive`, with `F(y)` the features of a segmentation: those of its tokens,
those of its spans as wholes, and weights of lengths. Columns of spans share nothing, so that an
update changes a feature of a span as much as it says. (docs/method.md, sections 2.10 and 5.3)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inference.lattice import Chains, Lattice
from ...inference.online_prior import hold_back
from ...inference.passive_aggressive import path_edges, token_differences, unit_score
from ...inference.structure import OnlineStep
from ...jit import helper, kernel, maker
from ...types import Floats2d, Ints1d, Pointers1d
from .best import best_segmentation
from .segments import Grid, Segments


class SegmentFeatures(NamedTuple):
    """Features of segments, as `numeric.design.SegmentRows`; features are sparse rows."""

    ends: Pointers1d
    length: Ints1d
    indptr: Pointers1d
    indices: Ints1d


@maker
def _segments_of(rows, weights, first_column, of_lengths, begin, end):  # type: ignore[no-untyped-def]
    """Scores of the segments of the units from `begin` to before `end`."""
    first, last = rows.ends[begin], rows.ends[end]
    n = of_lengths.shape[1]
    scores = np.zeros((last - first, n))
    for m in range(first, last):
        for j in range(rows.indptr[m], rows.indptr[m + 1]):
            for label in range(n):
                scores[m - first, label] += weights[rows.indices[j], first_column + label]
    return Segments(rows.ends[begin : end + 1] - first, rows.length[first:last], scores, of_lengths)


@helper
def _spans_of(grid, lattice, path, spans):  # type: ignore[no-untyped-def]
    """Write last unit, length and label of the spans of a path `[P, 3]`; how many there are."""
    n, begin, label = 0, 0, -1
    for t in range(len(path)):
        tag = path[t]
        is_inside = label >= 0 and lattice.target[grid.inside_inside[label]] == tag
        is_last = label >= 0 and tag == grid.last[label]
        if not is_inside and not is_last:
            begin, label = t, -1
            for k in range(len(grid.single)):
                if tag == grid.single[k] or tag == grid.first[k]:
                    label = k
            if label < 0:
                continue
            n += 1
        spans[n - 1, 0], spans[n - 1, 1], spans[n - 1, 2] = t, t + 1 - begin, label
    return n


@helper
def _span_differences(  # type: ignore[no-untyped-def]
    rows, first_row, segments, spans, sign, first_column, place_of, features, changes, n
):
    """Add the features of spans, `sign` times, to a difference; features, and what the norm grows.

    place_of: as for `token_differences`, but for the caller to reset.
    """
    norm = 0.0
    for p in range(len(spans)):
        t, d, column = spans[p, 0], spans[p, 1], first_column + spans[p, 2]
        for m in range(segments.ends[t], segments.ends[t + 1]):
            if segments.length[m] != d:
                continue
            for j in range(rows.indptr[first_row + m], rows.indptr[first_row + m + 1]):
                feature = rows.indices[j]
                if place_of[feature] < 0:
                    place_of[feature] = n
                    features[n] = feature
                    changes[n, :] = 0.0
                    n += 1
                place = place_of[feature]
                norm += 2.0 * sign * changes[place, column] + 1.0
                changes[place, column] += sign
    return n, norm


@kernel
def learn_segmentations(
    unit_starts: Pointers1d,
    unit_features: Ints1d,
    rows: SegmentFeatures,
    grid: Grid,
    lattice: Lattice,
    tags: Ints1d,
    starts: Pointers1d,
    settings: OnlineStep,
    mixing: Floats2d,
    basis: Floats2d,
) -> float:
    """Learn from sequences, one after the other; returns the sum of `ℓ`.

    The arguments are those of `passive_aggressive`. basis `[L, D]`: what weights of lengths add to
    the score of a span.
    """
    cost, clamp = settings.costs
    decoding_cost = cost if settings.is_cost_augmented else np.zeros_like(cost)
    order, before, averaged = settings.order, settings.before, settings.averaged
    prior = settings.prior
    weights, transitions = averaged.weights, averaged.transitions
    n_edges, n = len(lattice.source), len(grid.single)
    width = weights.shape[1]
    first_column = width - n
    edges_are_free = first_column != n_edges
    place_of = np.full(len(weights), -1, dtype=np.int32)
    total_loss = 0.0
    bounds, found = np.zeros(2, np.int64), np.empty(1)
    counts = np.empty(len(transitions))
    for step, i in enumerate(order):
        begin, end = starts[i], starts[i + 1]
        length = bounds[1] = end - begin
        observed, ends = tags[begin:end], unit_starts[begin : end + 1]
        scores = np.empty((length, width))
        wrong, right = np.empty(length, np.int32), observed.copy()
        for t in range(length):
            unit_score(weights, unit_features, ends[t], ends[t + 1], scores[t])
        of_lengths = basis @ transitions[n_edges:].copy().reshape(basis.shape[1], n)
        segments = _segments_of(rows, weights, first_column, of_lengths, begin, end)
        edge_weights = transitions[:n_edges]
        chains = Chains(lattice, scores, edge_weights, decoding_cost, observed, bounds)
        best_segmentation(grid, chains, segments, wrong, found)
        if (observed < 0).any():
            chains = Chains(lattice, scores, edge_weights, clamp, observed, bounds)
            best_segmentation(grid, chains, segments, right, found)
        edges = np.empty((2, length), dtype=np.int32)
        path_edges(lattice, right, edges[0])
        path_edges(lattice, wrong, edges[1])
        spans = np.empty((2, length, 3), dtype=np.int64)
        n_right = _spans_of(grid, lattice, right, spans[0])
        n_wrong = _spans_of(grid, lattice, wrong, spans[1])
        loss = 0.0
        counts[:] = 0.0
        for t in range(length):
            loss += cost[observed[t] + 1, wrong[t]]
            for k, sign in ((0, -1.0), (1, 1.0)):
                e = edges[k, t]
                loss += sign * (scores[t, lattice.column[e]] + transitions[e])
                counts[e] -= sign
        for k, size, sign in ((0, n_right, -1.0), (1, n_wrong, 1.0)):
            for p in range(size):
                t, d, label = spans[k, p, 0], spans[k, p, 1], spans[k, p, 2]
                loss += sign * of_lengths[d - 1, label]
                for m in range(segments.ends[t], segments.ends[t + 1]):
                    if segments.length[m] == d:
                        loss += sign * segments.scores[m, label]
                for b in range(basis.shape[1]):
                    counts[n_edges + b * n + label] -= sign * basis[d - 1, b]
        if loss <= 0.0:
            continue
        total_loss += loss
        first_row, last_row = rows.ends[begin], rows.ends[end]
        most = ends[length] - ends[0] + rows.indptr[last_row] - rows.indptr[first_row]
        features, changes = np.empty(most, np.int32), np.empty((most, width))
        n_features, norm = token_differences(
            lattice, edges[0], edges[1], ends, unit_features, mixing, place_of, features, changes
        )
        n_tokens = n_features
        for k, size, sign in ((0, n_right, 1.0), (1, n_wrong, -1.0)):
            n_features, more = _span_differences(
                rows, first_row, segments, spans[k, :size], sign, first_column, place_of,
                features, changes, n_features,
            )  # fmt: skip
            norm += more
        for k in range(n_tokens, n_features):
            place_of[features[k]] = -1
        if not edges_are_free:
            counts[:n_edges] = 0.0
        norm -= hold_back(prior, features, n_features, changes)
        moves = counts / prior.transitions
        norm += (counts * moves).sum()
        if norm <= 0.0:
            continue
        tau = min(settings.largest_step, loss / norm)
        for k in range(n_features):
            for s in range(width):
                weights[features[k], s] += tau * changes[k, s]
                averaged.weights_drift[features[k], s] += before[step] * tau * changes[k, s]
        for e in range(len(moves)):
            transitions[e] += tau * moves[e]
            averaged.transitions_drift[e] += before[step] * tau * moves[e]
    return total_loss
