"""Losses of linear chains whose columns are label pairs, in scaled probabilities.

With `s(t, e)` as in `inference.chain` and `h(t)` the largest of `s(t, ·)`,

    x(t, e) = exp(s(t, e) - h(t))
    a(t, y) = Σ_{e → y} a(t-1, source(e)) x(t, e) / z(t)     z(t): so that Σ_y a(t, y) = 1
    P(e at t) = P(target(e) at t) a(t-1, source(e)) x(t, e) / (a(t, target(e)) z(t))

and the log-partition is `Σ_t log z(t) + h(t)` (`inference.scaled_chain`). A sequence whose numbers
would underflow is computed in log space (docs/method.md, sections 1.4 and 2.1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..jit import helper, kernel, maker
from ..types import Floats1d
from .chain import count_observed, edge_between, log_space_loss
from .lattice import Chains, LossTerms, longest_of
from .scaled_chain import scaled_forward, scaled_room


@maker
def _add_marginals(chains, i, room, weight, transition_counts):  # type: ignore[no-untyped-def]
    """Add `weight · P(e at t)` to the scores of sequence `i`, and to `transition_counts` `[E]`."""
    lattice, scores, _, _, _, starts = chains
    x, a, z = room
    begin, end = starts[i], starts[i + 1]
    n_labels = a.shape[1]
    # P(y at t), and that at t-1.
    now, before = a[end - begin].copy(), np.empty(n_labels)
    for t in range(end - 1, begin - 1, -1):
        row = t - begin
        before[:] = 0.0
        for y in range(n_labels):
            if now[y] == 0.0:
                continue
            share = now[y] / (a[row + 1, y] * z[row])
            for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                marginal = share * a[row, lattice.source[e]] * x[row, e]
                before[lattice.source[e]] += marginal
                scores[t, lattice.column[e]] += weight * marginal
                transition_counts[e] += weight * marginal
        now, before = before, now


@helper
def observed_edges(chains, i, edges):  # type: ignore[no-untyped-def]
    """Write the edges of a fully observed path to `edges` `[T]`; its score."""
    lattice, scores, transitions, _, tags, starts = chains
    previous, score = lattice.start, 0.0
    for t in range(starts[i], starts[i + 1]):
        e = edge_between(lattice, previous, tags[t])
        edges[t - starts[i]] = e
        if e >= 0:
            score += scores[t, lattice.column[e]] + transitions[e]
        previous = tags[t]
    return score


@kernel
def _scaled_losses(chains: Chains, terms: LossTerms, transition_counts: Floats1d) -> int:
    """As `chain_losses`, up to a sequence that has to be computed in log space; its number."""
    lattice, scores, _, cost, tags, starts = chains
    clamp, (expected, observed), first, last, losses = terms
    longest = longest_of(starts[first : last + 1])
    room, clamped = scaled_room(lattice, longest), scaled_room(lattice, longest)
    edges = np.empty(len(room[0]), dtype=np.int32)
    for i in range(first, last):
        begin, end = starts[i], starts[i + 1]
        n_observed = count_observed(tags, begin, end)
        is_known, agreeing = n_observed == end - begin, 0.0
        loss = 0.0
        if n_observed > 0:
            loss = scaled_forward(chains, cost, i, room)
            if not is_known:
                agreeing = scaled_forward(chains, clamp, i, clamped)
            if loss == -np.inf or agreeing == -np.inf:
                return i
            if is_known:
                agreeing = observed_edges(chains, i, edges)
        losses[i] = loss - agreeing
        for t in range(begin, end):
            for s in range(scores.shape[1]):
                scores[t, s] = 0.0
        if n_observed == 0:
            continue
        _add_marginals(chains, i, room, expected[i], transition_counts)
        if not is_known:
            _add_marginals(chains, i, clamped, -observed[i], transition_counts)
            continue
        for t in range(begin, end):
            e = edges[t - begin]
            if e >= 0:
                scores[t, lattice.column[e]] -= observed[i]
                transition_counts[e] -= observed[i]
    return last


Losses: TypeAlias = Callable[[Chains, LossTerms, Floats1d], Any]
"""As `chain_losses`; or up to a sequence that it cannot compute, whose number it returns."""


def computed_by(
    fast: Losses, safe: Losses, chains: Chains, terms: LossTerms, transition_counts: Floats1d
) -> None:
    """Losses of sequences one after the other; safe: for those that the fast one stops at."""
    i = terms.first
    while i < terms.last:
        i = fast(chains, terms._replace(first=i), transition_counts)
        if i < terms.last:
            safe(chains, terms._replace(first=i, last=i + 1), transition_counts)
            i += 1


def chain_losses(chains: Chains, terms: LossTerms, transition_counts: Floats1d) -> None:
    """Losses and score gradients of sequences.

    The gradient is that of the first term times the first of the shares, less that of the second
    times the second.

    chains: the scores are OVERWRITTEN by the gradient with respect to them; where a tag is
    negative, the second sum runs over all labels, or over those that continue no span
    (docs/method.md, section 3.4). transition_counts `[E]`: the gradient is added.
    """
    computed_by(_scaled_losses, log_space_loss, chains, terms, transition_counts)
