"""The model of a semi-Markov chain."""

from thinc.api import Model

from ...features.templates import Templates
from ...features.units import Units
from ...scorers.linear import make_linear_model
from ...types import Floats2d
from .features import SegmentSettings
from .space import SegmentSpace
from .structure import SemiMarkovFamily


def make_semi_markov(
    templates: Templates,
    segments: Templates,
    min_count: int = 5,
    segment_min_count: int = 2,
    label_pairs: bool = True,
    longest: int | None = None,
) -> Model[Units, Floats2d]:
    """A semi-Markov chain: the linear chain, and scores of spans as wholes.

    templates: what features of tokens look at. segments: what features of spans look at. min_count:
    features in fewer tokens are dropped. segment_min_count: features of fewer gold spans are
    dropped. label_pairs: as for the linear chain. longest: most tokens of a span; null for the
    least number that holds 99.8 % of those of the corpus, 64 at most.
    """
    settings = SegmentSettings(segments, longest, segment_min_count)
    family = SemiMarkovFamily(label_pairs)
    space = SegmentSpace(templates, settings)
    return make_linear_model("cascade_semi_markov", templates, min_count, family, space)
