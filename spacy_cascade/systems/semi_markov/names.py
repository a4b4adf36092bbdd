"""Names of the features of segments."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...features.attributes import TextOf
from ...features.names import NamedFeature, Namer, find_names, first_having, names_among
from ...features.space import FeatureSpace
from ...features.units import Units
from ...types import Pointers2d
from .space import SegmentSpace


def named_segments(
    space: FeatureSpace, units: Units, text_of: TextOf, bounds: Pointers2d
) -> list[list[NamedFeature]]:
    """Known features of segments of units; bounds: start and end, int64 `[P, 2]`."""
    assert isinstance(space, SegmentSpace), "wholes are segments"
    segments = space.features_of(units)
    namer = Namer(space, segments.as_units(bounds), text_of, segments.values(bounds))
    known = segments.known(space.index, bounds)
    numbers = np.split(known.indices, known.indptr[1:-1])
    namer.look_up(space.plan.segment_templates, segments.keys(bounds))
    return [namer.of_unit(i, of_segment.tolist()) for i, of_segment in enumerate(numbers)]


def find_all_names(
    space: FeatureSpace, units: Units, text_of: TextOf, wanted: Collection[int]
) -> dict[int, str]:
    """Names of those of the wanted features that units, or segments of them, have."""
    names = find_names(space, units, text_of, wanted)
    if isinstance(space, SegmentSpace):
        rows, is_wanted = space.segment_rows(units), np.zeros(len(space), dtype=np.bool_)
        is_wanted[list(wanted)] = True
        bounds = rows.bounds[first_having(rows.features, is_wanted)]
        names |= names_among(named_segments(space, units, text_of, bounds), is_wanted)
    return names
