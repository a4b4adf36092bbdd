"""The best label sequence of a chain that has given labels somewhere, and the best that has not.

A path has a span where it has all labels of the span, the label before them does not go on with
them, and the label after them does not continue them. So a path without the span breaks at least
one of these conditions: for each condition the best path that breaks it is found, and the best of
these is the best path without the span (docs/method.md, section 2.5).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..types import Floats1d, Floats2d, Ints1d
from .lattice import Chains, Lattice
from .viterbi import best_labellings

_OPEN = -1


def contrast(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    labels: Ints1d,
    start: int,
    best_of: Callable[[Chains], tuple[Ints1d, Floats1d]] = best_labellings,
) -> tuple[Ints1d, Ints1d] | None:
    """The best paths of one sequence with and without a span.

    scores `[T, S]`, transitions `[E]`: as in `Chains`. labels: int32 `[P]`, those of the
    span, which begins at position `start`. best_of: gives the best path of each
    sequence, and its score. None where every path has the span, or none has.
    """
    n_labels, length = lattice.n_labels, len(scores)
    having, cost = having_span(lattice, labels, start, length)
    continued, open_before = 2 * n_labels, 2 * n_labels + 2
    end = start + len(labels)
    # A label beside the span that belongs to it cannot be kept off and missing at once.
    is_preceded, is_followed = start > 0, end < length
    n = 1 + len(labels) + is_followed + is_preceded
    tags = np.full((n, length), _OPEN, dtype=np.int32)
    tags[0], lacking = having, tags[1:]
    lacking[np.arange(len(labels)), np.arange(start, end)] = labels
    if is_followed:
        lacking[len(labels), end] = continued
    if is_preceded:
        lacking[-1, start - 1] = open_before
    starts = np.arange(n + 1, dtype=np.int64) * length
    scores_of_all = np.tile(scores, (n, 1))
    line, best_scores = best_of(
        Chains(lattice, scores_of_all, transitions, cost, tags.reshape(-1), starts)
    )
    paths = line.reshape(n, length)
    best = 1 + int(best_scores[1:].argmax())
    return (paths[0], paths[best]) if np.isfinite(best_scores[[0, best]]).all() else None


def having_span(
    lattice: Lattice, labels: Ints1d, start: int, length: int
) -> tuple[Ints1d, Floats2d]:
    """What keeps one sequence of so many positions to a span, as tags `[T]` and costs of them.

    labels: int32 `[P]`, those of the span, which begins at position `start`.
    """
    n_labels, end = lattice.n_labels, start + len(labels)
    ended, shut_before = 2 * n_labels + 1, 2 * n_labels + 3
    tags = np.full(length, _OPEN, dtype=np.int32)
    tags[start:end] = labels + n_labels
    tags[end : end + 1] = ended
    if start > 0:
        tags[start - 1] = shut_before
    return tags, _costs(lattice, int(labels[0]), int(labels[-1]))


def _costs(lattice: Lattice, first: int, last: int) -> Floats2d:
    """What the constraints add to each label, float64 `[2 Y + 5, Y]`: nothing, or `-inf`.

    The rows: no constraint; for each label, not this one; only this one; then only labels that
    continue a span whose last label is `last`, and only others; only labels of a span that `first`
    continues, and only others.
    """
    same = np.eye(lattice.n_labels, dtype=np.bool_)
    continues, is_open = np.zeros((2, lattice.n_labels), dtype=np.bool_)
    continues[lattice.target[lattice.continues & (lattice.source == last)]] = True
    is_open[lattice.source[lattice.continues & (lattice.target == first)]] = True
    anything = np.ones_like(continues)
    allowed = np.vstack([anything, ~same, same, continues, ~continues, is_open, ~is_open])
    return np.where(allowed, 0.0, -np.inf)
