"""How surely data determine weights, where the data are seen in batches.

The second derivatives are those of the softmax margin, which is a smooth upper bound of the hinge.
Each batch adds its own at the weights that it has just been learnt with; so batches that are seen
`p` times count `1/p` each time (docs/method.md, section 4.4).
"""

import numpy as np

from ..inference.structure import Structure, Weights
from ..losses.base import CorpusLoss, LabelledSequences
from ..losses.margin import Hinge
from ..parallel import Workers
from ..types import Floats2d
from .base import State, array_like
from .states import number_in


class OnlineCurvature:
    """The diagonal of the Hessian `[K, S]`, as far as data have been seen.

    known: what earlier data have added to it.
    """

    def __init__(
        self, loss: Hinge, structure: Structure, shape: tuple[int, int], known: Floats2d | None
    ) -> None:
        self._loss, self._structure, self._known = loss.smooth(), structure, known
        self._sum, self._passes = np.zeros(shape), 0.0

    def add(self, data: LabelledSequences, weights: Weights) -> None:
        """Look at a batch."""
        loss = CorpusLoss(data, self._loss, Workers(1))
        self._sum += loss.curvature(weights)
        self._passes += data.share

    def diagonal(self) -> Floats2d | None:
        """That of a pass over the corpus, and of earlier data; None where there were no data."""
        if self._passes == 0.0:
            return self._known
        own: Floats2d = (self._sum / self._passes) @ self._structure.columns.mixing**2
        return own if self._known is None else own + self._known

    def state(self) -> State:
        """What has been added up so far."""
        return {"curvature": self._sum, "passes": self._passes}

    def restore(self, state: State) -> None:
        """Go on from a state. Raises `ValueError` for one of other weights."""
        total = array_like(self._sum, state["curvature"])
        self._passes, self._sum = number_in(state["passes"], 0), total
