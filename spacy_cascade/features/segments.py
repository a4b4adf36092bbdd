"""Segments of units: all that are short enough, and the features of those that have any.

A segment is a run of units of one sequence, at most `L`. Most have no known feature and take no
memory: only the others become rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import ConfigError
from ..numeric.design import BinaryCSR, SegmentRows
from ..numeric.index import KeyIndex
from ..types import Ints1d, Keys1d, Keys2d, Pointers1d, Pointers2d
from .keys import unit_level_features, unit_level_keys
from .plan import Plan
from .span_context import FoundSpans, SpanContext
from .span_lengths import gold_bounds
from .templates import Templates
from .units import SegmentSource, Units

_BLOCK = 1 << 16
"""So many segments are looked at together."""
_NONE = np.zeros(0, dtype=np.int64)
_NONE_FOUND = FoundSpans(_NONE, _NONE, np.zeros(0, dtype=np.uint64))


@dataclass(frozen=True)
class SegmentSettings:
    """How a model looks at segments.

    templates: what their features look at. longest: `L`; None for what the corpus needs
    (`span_lengths`). min_count: features of fewer gold spans are dropped.
    """

    templates: Templates
    longest: int | None
    min_count: int

    def __post_init__(self) -> None:
        if self.longest is not None and self.longest < 1:
            raise ConfigError(
                f"The longest segment has to have 1 token or more, not {self.longest}. Change "
                "'longest' in the [model] block, or write null to take it from the corpus."
            )
        if self.min_count < 1:
            raise ConfigError(
                f"segment_min_count must be 1 or more, not {self.min_count}. Mend [model]."
            )


def segment_blocks(starts: Pointers1d, longest: int) -> Iterator[Pointers2d]:
    """Start and end of all segments, int64 `[P, 2]`, by end, and of one end the shortest first.

    starts: int64 `[N + 1]`, of sequences. In blocks, to bound the memory.
    """
    n_units = int(starts[-1])
    place = np.arange(n_units) - np.repeat(starts[:-1], np.diff(starts))
    reach = np.minimum(place + 1, longest)
    step = max(1, _BLOCK // longest)
    for begin in range(0, n_units, step):
        of_block = reach[begin : begin + step]
        last = np.repeat(np.arange(begin, begin + len(of_block)), of_block)
        before = np.repeat(np.cumsum(of_block) - of_block, of_block)
        yield np.stack([last - (np.arange(len(last)) - before), last + 1], axis=1)


class SegmentFeatures:
    """Features of segments of units, as a plan looks at them."""

    def __init__(self, plan: Plan, units: Units, source: SegmentSource) -> None:
        self._plan, self._units, self._source = plan, units, source

    def keys(self, bounds: Pointers2d) -> Keys2d:
        """Keys of the templates, uint64 `[P, templates]`; bounds: start and end `[P, 2]`."""
        first, last = self._positions(bounds)
        values, of_segments = self._units.positions.values, self.values(bounds)
        return unit_level_keys(self._plan.segment_level, values, of_segments, first, last)

    def gold_keys(self) -> Keys2d:
        """Keys of the templates of all gold spans."""
        assert self._source.own_flags is not None, "features are learnt from annotated tokens"
        return self.keys(gold_bounds(self._source.own_flags))

    def values(self, bounds: Pointers2d) -> Keys2d:
        """Values of the segments themselves, uint64 `[P, D]` (`Plan.of_spans`, `lengths`)."""
        lengths = (bounds[:, 1] - bounds[:, 0]).astype(np.uint64)
        columns: list[Keys1d] = [each.values(lengths) for each in self._plan.lengths]
        context = np.zeros((len(bounds), 0), dtype=np.uint64)
        if self._plan.context:
            start, end = np.ascontiguousarray(bounds.T)
            around = SpanContext(self._source.tokens, start, end, _NONE_FOUND)
            context = around.values(self._plan.context)
        return np.column_stack([context, *columns])

    def known(self, index: KeyIndex, bounds: Pointers2d) -> BinaryCSR:
        """Known features of segments."""
        first, last = self._positions(bounds)
        values, of_segments = self._units.positions.values, self.values(bounds)
        indptr, indices = index.apply(
            unit_level_features, self._plan.segment_level, values, of_segments, first, last
        )
        return BinaryCSR(indptr, indices, len(index))

    def rows(self, index: KeyIndex, longest: int) -> SegmentRows:
        """The segments that have known features, in the order of `segment_blocks`."""
        starts = self._source.tokens.sequence_starts
        features = BinaryCSR(np.zeros(1, np.int64), np.zeros(0, np.int32), len(index))
        kept = [np.zeros((0, 2), dtype=np.int64)]
        parts = [features]
        for bounds in segment_blocks(starts, longest):
            found = self.known(index, bounds)
            active = np.flatnonzero(np.diff(found.indptr))
            kept.append(bounds[active])
            # Rows without features take no place among the indices.
            indptr = np.append(0, found.indptr[1:][active])
            parts.append(BinaryCSR(indptr, found.indices, len(index)))
        bounds = np.concatenate(kept)
        of_ends = np.bincount(bounds[:, 1] - 1, minlength=int(starts[-1]))
        return SegmentRows(
            ends=np.append(0, np.cumsum(of_ends)).astype(np.int64),
            length=(bounds[:, 1] - bounds[:, 0]).astype(np.int32),
            features=_joined(parts),
            longest=longest,
        )

    def _positions(self, bounds: Pointers2d) -> tuple[Ints1d, Ints1d]:
        units = self._units
        return units.first[bounds[:, 0]], units.last[bounds[:, 1] - 1]


def _joined(parts: list[BinaryCSR]) -> BinaryCSR:
    """Rows of several matrices, one after the other."""
    sizes = np.cumsum([0, *(part.indptr[-1] for part in parts)])
    indptr = [part.indptr[1:] + size for part, size in zip(parts, sizes, strict=False)]
    indices = np.concatenate([part.indices for part in parts])
    return BinaryCSR(np.concatenate([[0], *indptr]).astype(np.int64), indices, parts[0].n_columns)
