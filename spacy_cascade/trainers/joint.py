"""Joint training of two chains (ICRF): what the config of each of them says."""

from dataclasses import dataclass

import numpy as np

from ..errors import ConfigError
from ..losses.isomeric import IsomericProblem
from ..losses.problem import ChainProblem
from ..parallel import Workers
from .lbfgs import LBFGS


@dataclass(frozen=True)
class TrainedJointly:
    """No training of its own; registered as `spacy_cascade.TrainedJointly.v1`.

    For the first of two components that a `JointLBFGS` of the second one trains together.
    """

    @property
    def iterations(self) -> int:
        """None of its own."""
        return 0

    def workers(self) -> Workers:
        """One thread, which has nothing to do."""
        return Workers(1)

    def check(self, objective: object) -> None:
        """Raise `ConfigError` for an objective that joint training cannot minimise."""
        check_likelihood(objective)


@dataclass(frozen=True)
class JointLBFGS(LBFGS):
    """L-BFGS on two chains at once; registered as `spacy_cascade.JointLBFGS.v1`.

    first: name of the component that comes before, and whose spans the templates of this one
    read. C: strength of the constraint between them, 0 for two separate trainings. Others: see
    `LBFGS`.

    Raises `ConfigError` for a setting out of range.
    """

    first: str = "cascade_segmenter"
    C: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.C) and self.C >= 0):
            raise ConfigError(
                f"Joint training needs a finite C of 0 or more, not {self.C}. Mend the [trainer] "
                "block."
            )

    def check(self, objective: object) -> None:
        """Raise `ConfigError` for an objective that joint training cannot minimise."""
        super().check(objective)
        check_likelihood(objective)

    def join(self, first: ChainProblem, second: ChainProblem) -> IsomericProblem:
        """The problem of both."""
        return IsomericProblem(first, second, self.C)


def check_likelihood(objective: object) -> None:
    """Raise `ConfigError` for an objective with a margin."""
    costs = getattr(objective, "costs", None)
    if costs is None or np.any(costs(2)) or not hasattr(objective, "sigma"):
        raise ConfigError(
            f"Joint training is by likelihood and cannot use {objective}. Put @misc = "
            '"spacy_cascade.Likelihood.v1" into the [objective] block of both components.'
        )
