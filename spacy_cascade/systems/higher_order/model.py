"""The model of a chain of a higher order."""

from __future__ import annotations

from thinc.api import Model

from ...features.templates import Templates
from ...features.units import Units
from ...scorers.linear import make_linear_model
from ...types import Floats2d
from .structure import HigherOrderFamily


def make_higher_order_chain(
    templates: Templates, min_count: int = 5, order: int = 2, tags_seen: int = 1
) -> Model[Units, Floats2d]:
    """A linear chain in which a tag depends on several tags before it.

    templates: what features look at. min_count: features in fewer tokens are dropped. order: how
    many tags before. tags_seen: features are combined with runs of so many tags, the last one being
    that of the token; up to `order + 1`.
    """
    family = HigherOrderFamily(order=order, tags_seen=tags_seen)
    return make_linear_model("cascade_higher_order_chain", templates, min_count, family)
