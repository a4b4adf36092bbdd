"""Online training: passive-aggressive updates, averaged."""

from dataclasses import dataclass

import numpy as np

from ..errors import ConfigError
from ..inference.lattice import label_pair_mixing
from ..inference.passive_aggressive import (
    Averaged,
    cut_sequences,
    passive_aggressive,
)
from ..losses.margin import Costs
from ..losses.problem import ChainCorpus, observation_costs
from ..parallel import Workers
from ..types import Floats1d, Floats2d
from .base import State, array_like


@dataclass(frozen=True)
class PassiveAggressive:
    """Settings of PA-I; registered as `spacy_cascade.PassiveAggressive.v1`.

    C: the largest step. cost_augmented: look for the path that violates the margin most,
    instead of the best one. average: sync_weights the mean of all weights so far, instead of the
    last ones. average_power: the weights after the `i`-th update count `i ** average_power` in
    the mean, so that the first ones, which are bad, count less. passes: over each batch.
    cut_after: learn from pieces of sequences, cut between units outside of spans when they are
    at least so long; 0 for whole sequences. seed: of the order of sequences within a batch.

    Raises `ConfigError` for a setting out of range.
    """

    C: float = 0.01
    cost_augmented: bool = True
    average: bool = True
    average_power: int = 0
    passes: int = 1
    cut_after: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        lowest = min(self.average_power, self.passes - 1, self.cut_after, self.seed)
        if not (np.isfinite(self.C) and self.C > 0) or lowest < 0:
            raise ConfigError(
                "The passive-aggressive trainer needs a finite C > 0, passes >= 1, average_power, "
                f"cut_after and seed >= 0, not {self}. Mend the [trainer] block."
            )

    @property
    def iterations(self) -> int:
        """How many passes one `update` makes."""
        return self.passes

    def workers(self) -> Workers:
        """One thread: each update needs the weights of the one before."""
        return Workers(1)

    def check(self, objective: object) -> None:
        """Raise `ConfigError` for an objective that it cannot minimise."""
        if hasattr(objective, "sigma"):
            raise ConfigError(
                f"The passive-aggressive trainer has no prior and cannot use {objective}. Put "
                '@misc = "spacy_cascade.Hinge.v1" into the [objective] block.'
            )

    def begin(self, weights: Floats2d, transitions: Floats1d) -> "OnlineLearner":
        """Go on from these weights."""
        return OnlineLearner(self, weights, transitions)


class OnlineLearner:
    """Weights under training, with the sum that their average is made of."""

    def __init__(
        self, settings: PassiveAggressive, weights: Floats2d, transitions: Floats1d
    ) -> None:
        self.settings = settings
        self._averaged = Averaged(
            weights.astype(np.float64), np.zeros(weights.shape),
            transitions.astype(np.float64), np.zeros(transitions.shape),
        )  # fmt: skip
        self._generator = np.random.default_rng(settings.seed)
        self._n_sequences = 0
        self._n_counted = 0.0

    def learn(self, corpus: ChainCorpus, objective: Costs) -> float:
        """Pass over the sequences of a batch; the mean of their losses."""
        lattice = corpus.lattice
        cost, clamp = observation_costs(objective.costs(lattice.n_labels), lattice.continued)
        decoding_cost = cost if self.settings.cost_augmented else np.zeros_like(cost)
        mixing = label_pair_mixing(corpus.lattice)
        features = corpus.design.active_features()
        starts = corpus.starts
        if self.settings.cut_after > 0:
            least = self.settings.cut_after
            starts = cut_sequences(corpus.tags, starts, corpus.lattice.start, least)
        n_sequences = len(starts) - 1
        loss = 0.0
        for _ in range(self.settings.passes):
            loss += passive_aggressive(
                features.starts, features.columns, corpus.lattice, cost, decoding_cost, clamp,
                mixing @ mixing, corpus.tags, starts, self._generator.permutation(n_sequences),
                self.settings.C, self._before(n_sequences), self._averaged,
            )  # fmt: skip
        return loss / self.settings.passes

    def _before(self, n_sequences: int) -> Floats1d:
        """How much the weights before each of so many sequences count together."""
        numbers = np.arange(self._n_sequences, self._n_sequences + n_sequences)
        # Of huge powers nothing finite comes, which is found out where weights are published.
        with np.errstate(over="ignore"):
            counts = (numbers + 1.0) ** self.settings.average_power
            sums = self._n_counted + np.append(0.0, np.cumsum(counts))
        self._n_sequences += n_sequences
        self._n_counted = float(sums[-1])
        return sums[:-1]

    def weights(self) -> tuple[Floats2d, Floats1d]:
        """Weights `[K, S]` and transitions `[E]` to annotate with."""
        now = self._averaged
        if not self.settings.average or self._n_sequences == 0:
            return now.weights, now.transitions
        n = self._n_counted
        with np.errstate(over="ignore", invalid="ignore"):
            return now.weights - now.weights_drift / n, now.transitions - now.transitions_drift / n

    def state(self) -> State:
        """All that it goes on from (`trainers.base.Resumable`)."""
        return {
            **self._averaged._asdict(),
            "generator": self._generator.bit_generator.state,
            "n_sequences": self._n_sequences,
            "n_counted": self._n_counted,
        }

    def restore(self, state: State) -> None:
        """Go on from a state of the same features and settings."""
        now = self._averaged._asdict()
        averaged = Averaged(**{name: array_like(now[name], state[name]) for name in now})
        self._generator.bit_generator.state = state["generator"]
        self._n_sequences, self._n_counted = int(state["n_sequences"]), float(state["n_counted"])
        self._averaged = averaged
