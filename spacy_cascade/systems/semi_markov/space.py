"""A feature space that looks at segments, too, and the names of their features."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from ...features.attributes import TextOf
from ...features.names import NamedFeature, Namer, find_names, first_having, names_among
from ...features.resources import ResourceSpec
from ...features.space import FeatureSpace
from ...features.templates import Templates
from ...features.units import Units
from ...numeric.design import SegmentRows
from ...numeric.encoded import Encoded
from ...numeric.key_counts import KeyCounts
from ...types import Keys1d, Pointers2d
from .features import SPAN_LENGTHS, SegmentFeatures, SegmentSettings, SpanLengths


class SegmentSpace(FeatureSpace):
    """As `FeatureSpace`; segments: how those of units are looked at."""

    scores_in_parts = False

    def __init__(self, templates: Templates, segments: SegmentSettings) -> None:
        self.segments, self.segment_templates = segments, segments.expanded
        super().__init__(templates, self.segment_templates)
        self._level = self.plan.for_kernels(self.segment_templates, "segment: ")

    def with_templates(self, templates: Templates) -> SegmentSpace:
        return SegmentSpace(templates, self.segments)

    def _specs(self) -> list[ResourceSpec | None]:
        return [*super()._specs(), SPAN_LENGTHS]

    def identity(self) -> dict[str, object]:
        templates = self.segments.templates
        return {
            **super().identity(),
            "segments": [str(template) for template in templates.expanded()],
            "segment_patterns": dict(templates.patterns),
            "longest": self.segments.longest,
        }

    @property
    def longest(self) -> int:
        return self.segments.longest or self.lengths.longest()

    @property
    def lengths(self) -> SpanLengths:
        """How long the spans of the corpus were."""
        lengths: SpanLengths = self.resources.of(SPAN_LENGTHS)
        return lengths

    def too_long(self) -> str | None:
        n_longer = self.lengths.n_longer(self.longest)
        if not n_longer:
            return None
        unit = "token" if self.longest == 1 else "tokens"
        return (
            f"looks at segments of up to {self.longest} {unit}. {n_longer:,} of "
            f"{self.lengths.n_longer(0):,} gold spans "
            f"{'is' if n_longer == 1 else 'are'} longer and left out of training."
        )

    def features_of(self, units: Units) -> SegmentFeatures:
        """What is looked at of segments of tokens, which are the units."""
        assert units.source is not None, "segments are runs of tokens"
        return SegmentFeatures(self.plan, self._level, units, units.source)

    def segment_rows(self, units: Units) -> SegmentRows:
        """The segments with known features."""
        return self.features_of(units).rows(self.index, self.longest)

    def encode_others(self, units: Units) -> tuple[Encoded, ...]:
        return (*super().encode_others(units), self.segment_rows(units))

    def learn_in_blocks(self, blocks: Iterable[Units], minimum: int) -> None:
        self._know(self._frequent(blocks, minimum, self.segments.min_count))

    def _frequent(
        self, blocks: Iterable[Units], minimum: int, of_segments: int | None = None
    ) -> Keys1d:
        """Those of words and of units, and then those of gold segments."""
        counts = KeyCounts()

        def counted() -> Iterable[Units]:
            for units in blocks:
                counts.add(self.features_of(units).gold_keys())
                yield units

        keys = super()._frequent(counted(), minimum)
        return np.append(keys, counts.frequent(minimum if of_segments is None else of_segments))


def named_segments(
    space: FeatureSpace, units: Units, text_of: TextOf, bounds: Pointers2d
) -> list[list[NamedFeature]]:
    """Known features of segments of units; bounds: start and end, int64 `[P, 2]`."""
    assert isinstance(space, SegmentSpace), "wholes are segments"
    segments = space.features_of(units)
    namer = Namer(space, segments.as_units(bounds), text_of, segments.values(bounds))
    known = segments.known(space.index, bounds)
    numbers = np.split(known.indices, known.indptr[1:-1])
    namer.look_up(space.segment_templates, segments.keys(bounds))
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
