"""Segments of units: all that are short enough, and the features of those that have any.

A segment is a run of units of one sequence, at most `L`. Most have no known feature and take no
memory: only the others become rows. A filter of bits, small enough for the processor's cache, says
so for most of them, before the table of keys is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ConfigError, TemplateError
from ...features.keys import unit_level_features, unit_level_keys
from ...features.plan import Plan, UnitLevelTemplates, by_size
from ...features.resources import FlaggedTokens, InvalidArray, Resource, ResourceSpec
from ...features.span_context import NONE_FOUND, SpanContext
from ...features.templates import MULTIPLE, Template, Templates
from ...features.tokens import Tokens
from ...features.units import TokenSource, Units
from ...numeric.arrays import Array, Arrays, Shapes
from ...numeric.csr import BinaryCSR
from ...numeric.design import SegmentRows
from ...numeric.index import KeyIndex
from ...types import Ints1d, Ints2d, Keys1d, Keys2d, Pointers1d, Pointers2d
from .lookup import Found, Looks, behind_first, segment_features

SHARE = 0.998
"""Of the spans that the longest segment is chosen to hold."""
LONGEST = 64
"""No longer segment is chosen by itself."""


def gold_bounds(flags: Ints2d) -> Pointers2d:
    """Start and end of the gold spans, int64 `[P, 2]`; flags: `resources.span_flags`."""
    return np.stack([np.flatnonzero(flags[:, 2]), np.flatnonzero(flags[:, 3]) + 1], axis=1)


class SpanLengths(Resource):
    """Numbers of gold spans by their length; counts int64 `[n]`, of lengths 1 to n."""

    def __init__(self, counts: Ints1d) -> None:
        self.counts = counts

    @classmethod
    def empty(cls) -> SpanLengths:
        return cls(np.zeros(0, dtype=np.int32))

    def longest(self) -> int:
        """The least length that no more than `1 - SHARE` of the spans exceed, 1 to `LONGEST`."""
        shares = np.cumsum(self.counts) / max(1, self.counts.sum())
        return int(np.clip(np.searchsorted(shares, SHARE) + 1, 1, LONGEST))

    def n_longer(self, longest: int) -> int:
        """Spans of more tokens."""
        return int(self.counts[longest:].sum())

    def learn(self, tokens: Tokens, flags: Ints2d) -> SpanLengths:
        return SpanLengths(_lengths(flags).astype(np.int32))

    def learn_in_blocks(self, blocks: FlaggedTokens) -> SpanLengths:
        total = np.zeros(0, dtype=np.int64)
        for _, flags in blocks():
            total, more = sorted((total, _lengths(flags)), key=len, reverse=True)
            total[: len(more)] += more
        return SpanLengths(total.astype(np.int32))

    def arrays(self) -> Arrays:
        return {"counts": self.counts}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        return {"counts": ((arrays["counts"].size if "counts" in arrays else 0,), "i4")}

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        if (arrays["counts"] < 0).any():
            raise InvalidArray("counts", "has negative counts")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> SpanLengths:
        return cls(arrays["counts"].astype(np.int32))


def _lengths(flags: Ints2d) -> Pointers1d:
    """Numbers of gold spans of 1, 2 … tokens."""
    bounds = gold_bounds(flags)
    return np.bincount(bounds[:, 1] - bounds[:, 0], minlength=1)[1:]


SPAN_LENGTHS = ResourceSpec(SpanLengths, "span_lengths")


_NOTHING: Found = (
    np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32)
)  # fmt: skip
_BLOCK = 1 << 20
"""So many segments are looked at together. What is read of all tokens is read once a block."""


@dataclass(frozen=True)
class SegmentSettings:
    """How a model looks at segments.

    templates: what their features look at. longest: `L`; None for what the corpus needs
    (`SpanLengths`). min_count: features of fewer gold spans are dropped.
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
        for template in self.expanded:
            if any(part.anchor in MULTIPLE for part in template.parts):
                raise TemplateError(
                    f"'{template.text}' is a sum over tokens, and so no template of segments. Put "
                    "it among the templates of tokens, or use '@first', '@last' or '@all'."
                )

    @property
    def expanded(self) -> list[Template]:
        """The templates one by one, conjunctions after their parts."""
        return by_size(self.templates.expanded())


def reaches(starts: Pointers1d, longest: int) -> Pointers1d:
    """Units of the longest segment that ends at each, int64 `[U]`; starts `[N + 1]`."""
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
    reach: Pointers1d = np.minimum(place + 1, longest)
    return reach


def blocks(reach: Pointers1d) -> Iterator[tuple[int, int]]:
    """Ranges of units that divide them, to bound the memory."""
    total = np.cumsum(reach)
    begin = 0
    while begin < len(reach):
        before = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + _BLOCK, side="right")))
        yield begin, end
        begin = end


def segments_between(reach: Pointers1d, begin: int, end: int) -> tuple[Pointers1d, Pointers1d]:
    """Start and end of the segments that end in a range of units, int64 `[P]`.

    By end, and of one end the shortest first.
    """
    of_block = reach[begin:end]
    last = np.repeat(np.arange(begin, end), of_block)
    before = np.repeat(np.cumsum(of_block) - of_block, of_block)
    return last - (np.arange(len(last)) - before), last + 1


class SegmentFeatures:
    """Features of segments of units, as a plan looks at them; level: their templates."""

    def __init__(
        self, plan: Plan, level: UnitLevelTemplates, units: Units, source: TokenSource
    ) -> None:
        self._plan, self._level, self._units, self._source = plan, level, units, source

    def as_units(self, bounds: Pointers2d) -> Units:
        """Segments as units of their own."""
        return Units(self._units.positions, *self._positions(bounds))

    def keys(self, bounds: Pointers2d) -> Keys2d:
        """Keys of the templates, uint64 `[P, templates]`; bounds: start and end `[P, 2]`."""
        first, last = self._positions(bounds)
        values, of_segments = self._units.positions.values, self.values(bounds)
        return unit_level_keys(self._level, values, of_segments, first, last)

    def gold_keys(self) -> Keys2d:
        """Keys of the templates of all gold spans."""
        assert self._source.own_flags is not None, "features are learnt from annotated tokens"
        return self.keys(gold_bounds(self._source.own_flags))

    def values(self, bounds: Pointers2d) -> Keys2d:
        """Values of the segments themselves, uint64 `[P, D]` (`Plan.of_spans`, `lengths`)."""
        lengths = (bounds[:, 1] - bounds[:, 0]).astype(np.uint64)
        columns: list[Keys1d] = [each.values(lengths) for each in self._plan.lengths]
        columns = [*self._context(*np.ascontiguousarray(bounds.T)), *columns]
        return np.ascontiguousarray(_table(columns, len(bounds)).T)

    def known(self, index: KeyIndex, bounds: Pointers2d) -> BinaryCSR:
        """Known features of segments."""
        first, last = self._positions(bounds)
        values, of_segments = self._units.positions.values, self.values(bounds)
        indptr, indices = index.apply(
            unit_level_features, self._level, values, of_segments, first, last
        )
        return BinaryCSR(indptr, indices, len(index))

    def rows(self, index: KeyIndex, longest: int) -> SegmentRows:
        """The segments that have known features, by end, and of one end the shortest first."""
        reach = reaches(self._source.tokens.sequence_starts, longest)
        lengths = np.arange(1, longest + 1, dtype=np.uint64)
        of_lengths = _table([each.values(lengths) for each in self._plan.lengths], longest)
        units, level, parts = self._units, self._level, []
        for begin, end in blocks(reach):
            start, stop = segments_between(reach, begin, end)
            looks = Looks(
                level, units.positions.values, units.first, units.last,
                _table(self._context(start, stop), len(start)), of_lengths, behind_first(level),
                reach,
            )  # fmt: skip
            parts.append(index.apply(segment_features, index.filter(), looks, begin, end))
        counts, of_segments, indptr, indices = _joined(parts)
        features = BinaryCSR(indptr, indices, len(index))
        ends = np.append(0, np.cumsum(counts))
        return SegmentRows(ends, of_segments, features, longest)

    def _context(self, start: Pointers1d, end: Pointers1d) -> list[Keys1d]:
        """Values of `Plan.of_spans` of segments, uint64 `[P]` each."""
        source = self._source
        around = SpanContext(
            source.tokens, start, end, NONE_FOUND, source.text_of, source.own_flags
        )
        return [attribute(around) for attribute in self._plan.context]

    def _positions(self, bounds: Pointers2d) -> tuple[Ints1d, Ints1d]:
        units = self._units
        return units.first[bounds[:, 0]], units.last[bounds[:, 1] - 1]


def _table(rows: Sequence[Keys1d], n: int) -> Keys2d:
    """The rows, uint64 `[D, n]`, also where there is none."""
    return np.stack(rows) if rows else np.zeros((0, n), dtype=np.uint64)


def _joined(parts: Sequence[Found]) -> Found:
    """Counts, lengths and sparse rows of several blocks, one after the other."""
    counts, lengths, indptr, indices = zip(_NOTHING, *parts, strict=True)
    sizes = np.cumsum([0, *(len(each) for each in indices)])
    moved = [each[1:] + size for each, size in zip(indptr, sizes, strict=False)]
    return (
        np.concatenate(counts),
        np.concatenate(lengths),
        np.concatenate([np.zeros(1, np.int64), *moved]),
        np.concatenate(indices),
    )
