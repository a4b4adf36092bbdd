"""The regularised loss of a corpus as a function of one flat parameter vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..inference.chain import chain_losses, log_partitions
from ..inference.dense_losses import dense_log_partitions, dense_losses
from ..inference.lattice import Lattice, label_pair_mixing
from ..numeric.csr import scale_and_mix
from ..numeric.design import Design
from ..parallel import Workers, split
from ..penalties.gaussian import Prior, zero_prior
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d, Pointers2d
from .margin import Costs

_TYPICAL_VARIANCE = 0.05
"""Of an edge's probability; only the speed of training depends on it."""


class Problem(Protocol):
    """A function to minimise."""

    def value_and_gradient(self, parameters: Floats1d) -> tuple[float, Floats1d]:
        """The value and a new array with the gradient."""


class Objective(Costs, Protocol):
    """A cost for wrong labels and the width of the prior (`objectives.costs`)."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the Gaussian prior."""


@dataclass(frozen=True)
class ChainCorpus:
    """Sequences with what is known of their labels.

    design: features of `T` units. lattice: the chain. tags: int32 `[T]`, negative where
    not observed (`inference.chain`). starts: int64 `[N + 1]`, the sequences.
    """

    design: Design
    lattice: Lattice
    tags: Ints1d
    starts: Pointers1d


def observation_costs(
    costs: Floats2d, continued: Bools1d | None = None
) -> tuple[Floats2d, Floats2d]:
    """Costs `[Y, Y]` as the kernels want them, and the clamp to what is observed.

    Both `[Y + 2, Y]`, the first row for positions without an observation, the last for those
    where a span is known to have ended. continued: labels that go on with a span, bool `[Y]`.
    """
    n_labels = len(costs)
    margin = np.zeros((n_labels + 2, n_labels))
    margin[1:-1] = costs
    clamp = np.zeros((n_labels + 2, n_labels))
    clamp[1:-1] = np.where(np.eye(n_labels) > 0, 0.0, -np.inf)
    if continued is not None:
        clamp[-1, continued] = -np.inf
    return margin, clamp


def _nonzero_blocks(mixing: Floats2d) -> Pointers2d:
    """For each row the first column that is not zero, and the one after the last."""
    is_set = mixing != 0
    return np.stack([is_set.argmax(axis=1), len(mixing) - is_set[:, ::-1].argmax(axis=1)], axis=1)


class ChainProblem:
    """Loss of sequences under a linear chain (or of free choices, chains of length one).

    design: features of `T` units. lattice: the chain. tags: int32 `[T]`, negative where
    not observed (`inference.chain`). starts: int64 `[N + 1]`, the sequences.

    prior: on the weights; None for that of the objective, centred on zero.

    Parameters are `[K·S + E]`: `u` `[K, S]`, then one for each edge where features see
    labels only. Weights are `w = w₀ + (d ⊙ u) M`: `w₀` is the mean of the prior, `M` the label-pair
    mixing of `inference.lattice`, and `d[k] = (v·n_k + p_k)^(-1/2)` divides out the curvature that
    `n_k` occurrences of feature `k` and its precision `p_k` give, so that L-BFGS needs about a
    quarter of the iterations. The optimum is that of the unscaled problem.
    """

    def __init__(
        self,
        design: Design,
        lattice: Lattice,
        objective: Objective,
        tags: Ints1d,
        starts: Pointers1d,
        workers: Workers,
        prior: Prior | None = None,
    ) -> None:
        self.design = design
        self.lattice = lattice
        self.tags = tags
        self.starts = starts
        self.workers = workers
        self._mixing = label_pair_mixing(lattice)
        self._blocks = _nonzero_blocks(self._mixing)
        self._margin, self._clamp = observation_costs(
            objective.costs(lattice.n_labels), lattice.continued
        )
        self._sigma = objective.sigma
        counts = design.counts(workers)
        shape = (len(counts), lattice.n_columns)
        self.prior = prior or zero_prior(objective.sigma, shape, lattice.n_edges)
        precision = self.prior.precision.mean(axis=1)
        self._scale = (_TYPICAL_VARIANCE * counts + precision) ** -0.5
        curvature = _TYPICAL_VARIANCE * len(tags) + self.prior.transition_precision
        self._transition_scale = curvature**-0.5
        self._rows = split(np.arange(len(self._scale) + 1, dtype=np.int64) * lattice.n_columns)

    @property
    def shape(self) -> tuple[int, int]:
        """`(K, S)`."""
        return len(self._scale), self.lattice.n_columns

    @property
    def n_parameters(self) -> int:
        """`K·S + E`, or `K·S` where features see label pairs."""
        n_transitions = 0 if self.lattice.label_pairs else self.lattice.n_edges
        return self.shape[0] * self.shape[1] + n_transitions

    def weights(self, parameters: Floats1d) -> tuple[Floats2d, Floats1d]:
        """Weights `[K, S]` of the score columns, and of the transitions `[E]`."""
        scores, transitions = self._parts(parameters)
        weights = self._mixed(scores)

        def piece(begin: int, end: int) -> None:
            weights[begin:end] += self.prior.mean[begin:end]

        self.workers.map(piece, self._rows)
        return weights, self.prior.transitions + transitions * self._transition_scale

    def parameters(self, weights: Floats2d, transitions: Floats1d) -> Floats1d:
        """The parameters that give these weights."""
        moved = weights.astype(np.float64) - self.prior.mean
        unmixed = np.linalg.solve(self._mixing, moved.T).T
        scores = (unmixed / self._scale[:, None]).reshape(-1)
        if self.lattice.label_pairs:
            return np.ascontiguousarray(scores)
        moved_transitions = transitions - self.prior.transitions
        return np.concatenate([scores, moved_transitions / self._transition_scale])

    def value_and_gradient(self, parameters: Floats1d) -> tuple[float, Floats1d]:
        """Loss with prior, and its gradient, for parameters `[K·S + E]`."""
        scores, transitions = self.scores(parameters)
        losses, transition_gradient = self.losses(scores, transitions)
        value, gradient = self.with_prior(parameters, scores, transition_gradient)
        return float(losses.sum()) + value, gradient

    def scores(self, parameters: Floats1d) -> tuple[Floats2d, Floats1d]:
        """Scores of the units `[T, S]`, and transitions `[E]`."""
        weights, transitions = self.weights(parameters)
        return self.design.scores(weights, self.workers), transitions

    def with_prior(
        self, parameters: Floats1d, scores: Floats2d, transition_gradient: Floats1d
    ) -> tuple[float, Floats1d]:
        """Value of the prior, and the gradient with respect to the parameters.

        scores, transition_gradient: gradient of the loss with respect to `scores`' results.
        """
        moved = self._parts(parameters)[1] * self._transition_scale
        force = self.prior.transition_precision * moved
        gradient = np.empty_like(parameters)
        score_part, transition_part = self._parts(gradient)
        self.design.gradient(scores, self.workers, out=score_part)
        self._mixed(score_part, score_part)
        transition_part[:] = self._transition_scale * (transition_gradient + force)
        penalty = self._add_prior(self._parts(parameters)[0], score_part)
        penalty += 0.5 * float((force * moved).sum())
        return penalty, gradient

    def _parts(self, vector: Floats1d) -> tuple[Floats2d, Floats1d]:
        """Views of the score part `[K, S]` and the transition part `[E]`.

        Where features see label pairs there is no transition part: zeros stand for it.
        """
        n_scores = self.shape[0] * self.shape[1]
        transitions = vector[n_scores:]
        if self.lattice.label_pairs:
            transitions = np.zeros(self.lattice.n_edges)
        return vector[:n_scores].reshape(self.shape), transitions

    def _mixed(self, values: Floats2d, out: Floats2d | None = None) -> Floats2d:
        mixed = np.empty(self.shape) if out is None else out

        def piece(begin: int, end: int) -> None:
            scale_and_mix(values, self._scale, self._mixing, self._blocks, mixed, begin, end)

        self.workers.map(piece, self._rows)
        return mixed

    def losses(
        self,
        scores: Floats2d,
        transitions: Floats1d,
        expected: Floats1d | None = None,
        observed: Floats1d | None = None,
    ) -> tuple[Floats1d, Floats1d]:
        """Loss of each sequence and the transitions' gradient; scores become their gradient.

        expected, observed: `[N]`, weights of what the model expects and of what is observed in
        the gradient of each sequence; ones if not given.
        """
        losses = np.empty(len(self.starts) - 1)
        expected = np.ones_like(losses) if expected is None else expected
        observed = np.ones_like(losses) if observed is None else observed
        pieces = split(self.starts, self.lattice.n_edges)
        counts = {first: np.zeros(self.lattice.n_edges) for first, _ in pieces}
        losses_of = chain_losses if self.lattice.label_pairs else dense_losses

        def piece(first: int, last: int) -> None:
            losses_of(
                self.lattice, scores, transitions, self._margin, self._clamp, self.tags,
                self.starts, expected, observed, first, last, losses, counts[first],
            )  # fmt: skip

        self.workers.map(piece, pieces)
        return losses, np.sum(list(counts.values()), axis=0)

    def curvature(self, parameters: Floats1d) -> Floats2d:
        """Precision that this corpus, and earlier ones by way of the prior, give, `[K, S]`.

        The diagonal of the loss' second derivatives with respect to `z` of `objectives.prior`, but
        for what the labels of one sequence have to do with each other; that of `σ` is not in it.
        """
        scores, transitions = self.scores(parameters)
        self.losses(scores, transitions)
        # The gradient is p, or p - 1 for what was observed: both give the variance p (1 - p).
        shares = np.abs(scores)
        own = self.design.gradient(shares * (1.0 - shares), self.workers) @ self._mixing**2
        self.design.release_memory()
        return own + (self.prior.precision - self._sigma**-2)

    def log_partitions(self, scores: Floats2d, transitions: Floats1d) -> Floats1d:
        """Log-partition of each sequence, with the margin; scores stay as they are."""
        values = np.empty(len(self.starts) - 1)
        partitions_of = log_partitions if self.lattice.label_pairs else dense_log_partitions

        def piece(first: int, last: int) -> None:
            partitions_of(
                self.lattice, scores, transitions, self._margin, self.tags,
                self.starts[first : last + 1], values[first:last],
            )  # fmt: skip

        self.workers.map(piece, split(self.starts, self.lattice.n_edges))
        return values

    def _add_prior(self, parameters: Floats2d, gradient: Floats2d) -> float:
        """Add the prior's gradient in place and return its value."""
        penalties = np.zeros(len(self._scale))

        def piece(begin: int, end: int) -> None:
            scale = self._scale[begin:end, None]
            moved = scale * parameters[begin:end]
            force = self.prior.precision[begin:end] * moved
            penalties[begin:end] = (force * moved).sum(axis=1)
            force *= scale
            gradient[begin:end] += force

        self.workers.map(piece, self._rows)
        return 0.5 * float(penalties.sum())
