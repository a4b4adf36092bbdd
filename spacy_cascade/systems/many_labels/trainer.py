"""Batch training of few of the weights: of features with the labels that they were seen with.

With hundreds of labels nearly all weights belong to a feature and a label that no training unit
has together. They would only say, each a little, that what was not seen is unlikely. Without them
training takes a fraction of the time and of the memory; this is also the default of CRFsuite
(Okazaki 2007, `feature.possible_states`). Weights that are not zero to begin with stay in training.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from ...errors import ConfigError
from ...inference.linear_chain import FreeChoice, LinearChain
from ...inference.structure import Structure, Weights
from ...losses.base import LabelledSequences
from ...losses.margin import MarginLoss
from ...numeric.design import Design, only_design
from ...parallel import Workers
from ...penalties.base import CentredPenalty
from ...trainers.base import Task
from ...trainers.objective import Objective, Parametrisation
from ...types import Floats1d, Floats2d, Ints1d
from .losses import SparseCorpusLoss
from .places import Places, nonzero_places, seen_places


@runtime_checkable
class SeparablePenalty(Protocol):
    """A penalty that is a sum over single weights."""

    def at_places(self, rows: Ints1d, columns: Ints1d) -> CentredPenalty:
        """The penalty of these weights alone, as those of `P` features with one column."""


def can_be_sparse(task: Task, is_demanded: bool | None) -> bool:
    """Whether training can be sparse. Raises `ConfigError` where it cannot and is to be."""
    obstacle = _obstacle(task)
    if is_demanded and obstacle:
        raise ConfigError(
            f"Training cannot be sparse: {obstacle}. Write sparse = false into the [trainer] block."
        )
    return not obstacle


def sparse_objective(
    task: Task, workers: Workers, is_demanded: bool | None
) -> SparseObjective | None:
    """The objective with few weights, None where there can be none; raises as `can_be_sparse`.

    What L-BFGS finds under the name `objective`.
    """
    return SparseObjective(task, workers) if can_be_sparse(task, is_demanded) else None


def _obstacle(task: Task) -> str:
    """Why training cannot be sparse, empty if it can."""
    structure, encoded = task.data.structure, task.data.encoded
    if len(encoded) > 1 or not isinstance(encoded[0], Design):
        return "the model scores more than features of tokens"
    if _columns_of_labels(structure) is None:
        return f"features of a {type(structure).__name__} see more than one label of one token"
    if not isinstance(task.loss, MarginLoss):
        return f"the loss {type(task.loss).__name__} looks at more than the labels"
    if not isinstance(task.penalty, SeparablePenalty):
        return f"the penalty {type(task.penalty).__name__} has no 'at_places'"
    return ""


def _columns_of_labels(structure: Structure) -> Ints1d | None:
    """The score column of each label `[Y]`, -1 without; None where columns see more than that."""
    # Structures that inherit from these have other columns.
    if type(structure) not in (LinearChain, FreeChoice):
        return None
    assert isinstance(structure, LinearChain)
    lattice = structure.lattice
    if lattice.n_columns > lattice.n_labels:
        return None
    columns = np.full(lattice.n_labels, -1, dtype=np.int32)
    columns[lattice.target] = lattice.column
    return columns


class SparseObjective:
    """As `Objective`, with parameters `[P + E]` for the weights that training has."""

    def __init__(self, task: Task, workers: Workers) -> None:
        assert isinstance(task.penalty, SeparablePenalty)
        data = task.data
        self._places: Places = trained_places(data, task.start)
        penalty = task.penalty.at_places(self._places.rows, self._places.columns)
        loss = SparseCorpusLoss(data, task.loss, self._places, workers)
        single = _SingleColumn(data.structure)
        parametrisation = Parametrisation(loss, len(data.observed), single, penalty, workers)
        self._of_places: Objective = Objective(loss, parametrisation)
        self.value_and_gradient = self._of_places.value_and_gradient

    def parameters(self, weights: Weights) -> Floats1d:
        """The parameters that give these weights."""
        taken = self._places.taken_from(weights.features)[:, None]
        return self._of_places.parameters(weights._replace(features=taken))

    def weights(self, parameters: Floats1d) -> Weights:
        """All weights, in single precision."""
        features, transitions = self._of_places.weights(parameters)
        return Weights(self._places.spread(features[:, 0]), transitions)

    def hessian_diagonal(self, parameters: Floats1d) -> Floats2d:
        """As `Objective.hessian_diagonal`, in single precision; zero where there is no weight."""
        diagonal = self._of_places.hessian_diagonal(parameters)
        spread: Floats2d = self._places.spread(diagonal[:, 0])
        return spread


def trained_places(data: LabelledSequences, start: Weights) -> Places:
    """The weights that training has: of what is seen together, and those that are not zero."""
    structure, columns = data.structure, _columns_of_labels(data.structure)
    assert columns is not None
    of_units = np.where(data.observed < 0, np.int32(-1), columns[data.observed])
    active = only_design(data.encoded, "Sparse training").active_features()
    known = nonzero_places(start.features) if start.features.any() else None
    return seen_places(active, of_units, structure.n_columns, known)


class _SingleColumn(Structure):
    """Weights at places as a structure: its features have one column; transitions as they are."""

    def __init__(self, structure: Structure) -> None:
        self.n_labels = structure.n_labels
        self.columns = replace(structure.columns, seen=structure.columns.seen[:1], shared=None)
