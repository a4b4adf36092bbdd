"""The maximum entropy Markov model."""

from thinc.api import Model

from ...features.templates import Templates
from ...features.units import Units
from ...scorers.linear import make_linear_model
from ...types import Floats2d
from .structure import LocalFamily


def make_local_chain(templates: Templates, min_count: int = 5) -> Model[Units, Floats2d]:
    """A maximum entropy Markov model: a linear chain whose transitions are normalised locally.

    templates: what features look at; all are combined with the pair (previous label, label).
    min_count: features in fewer tokens are dropped.
    """
    return make_linear_model("cascade_local_chain", templates, min_count, LocalFamily())
