"""What an adaptation began with; its penalty stays there when examples are corrected meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from thinc.api import Model

from ..features.resources import Resource
from ..inference.structure import Weights
from ..scorers.linear import Names, get_weights, hessian_of, places, taken
from ..types import Floats2d


@dataclass(frozen=True)
class Origin:
    """Weights `[K, S]` and `[E]` of a trained model, and how surely its corpus determined them.

    Like the fit, it stays behind when its component is pickled or copied. steps: the diagonal of
    the Hessian `[K, S]`, as the model keeps it; None where it is not known. names: what columns and
    transitions are known by. resources: what templates look at, by key.
    """

    weights: Weights
    steps: npt.NDArray[np.uint8] | None
    names: Names
    resources: dict[str, Resource]

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    @classmethod
    def of(cls, model: Model[Any, Any], names: Names) -> Origin:
        """What the model has now."""
        weights, resources = Weights(*get_weights(model)), model.attrs["space"].resources.made
        return cls(weights, model.attrs["hessian_diagonal"], names, resources)

    @property
    def hessian_diagonal(self) -> Floats2d | None:
        """That of the loss of the earlier corpus, `[K, S]`."""
        return hessian_of(self.steps)

    def grown(self, n_features: int, names: Names) -> Origin:
        """The same for a model that has got more features and labels, with zeros for these."""
        columns, edges = (places(*pair) for pair in zip(self.names, names, strict=True))
        missing = ((0, n_features - len(self.weights.features)), (0, 0))
        features = taken(np.pad(self.weights.features, missing), columns)
        steps = None if self.steps is None else taken(np.pad(self.steps, missing), columns)
        weights = Weights(features, taken(self.weights.transitions, edges))
        return Origin(weights, steps, names, self.resources)
