"""Cutting a corpus into shards whose sums are those of the whole, to the last bit.

A gradient is the sum over the parts of the design matrix, in the order of their tree
(`tools.scale.parts`). A shard therefore has whole parts. Parts of lexemes, of units and of segments
begin at different units, and losses are computed for whole sequences: a shard has all sequences
that its parts touch, so a few sequences at its borders are computed by two workers. Each piece of
the corpus counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...inference.structure import Structure
from ...losses.base import CorpusLoss, LabelledSequences, Loss
from ...numeric.design import BinaryCSR, Design, SegmentRows
from ...types import Ints1d, Pointers1d
from .parts import Node, nodes_of, part_bounds


@dataclass(frozen=True)
class Places:
    """Which rows of the whole a shard has: rows of lexemes, features of units, and of segments.

    nodes: of the tree of parts; those of its parts, in order.
    """

    nodes: list[Node]
    lexemes: Ints1d
    features: Ints1d
    segments: Ints1d


@dataclass(frozen=True)
class Shard:
    """Whole parts of a corpus, with the sequences that they touch.

    observed, starts: as in `LabelledSequences`, of these sequences. unit_lexemes, unit_features,
    segments: of the design matrix, with columns that count as `places` does. pieces: bounds of the
    pieces that count here, in sequences. lexeme_parts, feature_parts, segment_parts: bounds of the
    parts, in rows of each matrix.
    """

    loss: Loss
    structure: Structure
    observed: Ints1d
    starts: Pointers1d
    unit_lexemes: BinaryCSR
    unit_features: BinaryCSR
    segments: SegmentRows | None
    places: Places
    pieces: Pointers1d
    lexeme_parts: Pointers1d
    feature_parts: Pointers1d
    segment_parts: Pointers1d


def cut(loss: CorpusLoss, n_shards: int) -> Iterator[Shard]:
    """Up to so many shards, in order; no more than there are parts with something in them.

    Small corpora have empty parts (`numeric.design`).
    """
    n_parts = loss.data.design.n_parts
    n_shards = min(n_shards, n_parts)
    bounds = [n_parts * i // n_shards for i in range(n_shards + 1)]
    parts = _Parts.of(loss.data.design, segments_of(loss.data))
    pieces = np.append([first for first, _ in loss.pieces], len(loss.data.starts) - 1)
    unit_of_piece = loss.data.starts[pieces]
    first_pieces = np.searchsorted(unit_of_piece, parts.lexemes[bounds[1:-1]])
    piece_bounds = [0, *first_pieces.tolist(), len(loss.pieces)]
    n_filled = 0
    for (first, last), (begin, end) in zip(pairwise(bounds), pairwise(piece_bounds), strict=True):
        nodes = nodes_of((first, last), (0, n_parts))
        shard = _shard(loss, nodes, parts.take(first, last), pieces[begin : end + 1])
        is_last = last == n_parts
        if len(shard.starts) > 1 or (is_last and not n_filled):
            n_filled += 1
            yield shard


def segments_of(data: LabelledSequences) -> SegmentRows | None:
    """Those that are scored besides units, None where there are none."""
    rows = data.encoded[-1]
    return rows if isinstance(rows, SegmentRows) else None


@dataclass(frozen=True)
class _Parts:
    """Bounds of parts in rows of `unit_lexemes`, `unit_features` and `segments`, `[P + 1]` each."""

    lexemes: Pointers1d
    features: Pointers1d
    segments: Pointers1d

    @classmethod
    def of(cls, design: Design, rows: SegmentRows | None) -> _Parts:
        n = design.n_parts
        nothing = np.zeros(n + 1, dtype=np.int64)
        return cls(
            part_bounds(design.unit_lexemes.indptr, n),
            part_bounds(design.unit_features.indptr, n),
            nothing if rows is None else part_bounds(rows.features.indptr, n),
        )

    def take(self, first: int, last: int) -> _Parts:
        part = slice(first, last + 1)
        return _Parts(self.lexemes[part], self.features[part], self.segments[part])

    def units(self, rows: SegmentRows | None) -> Iterator[tuple[int, int]]:
        """The ranges of units that the parts are about."""
        yield int(self.lexemes[0]), int(self.lexemes[-1])
        yield int(self.features[0]), int(self.features[-1])
        if rows is not None and self.segments[0] < self.segments[-1]:
            ends = self.segments[[0, -1]] - [0, 1]
            first, last = np.searchsorted(rows.ends, ends, side="right") - 1
            yield int(first), int(last) + 1


def _shard(loss: CorpusLoss, nodes: list[Node], parts: _Parts, pieces: Pointers1d) -> Shard:
    """pieces: bounds of those that count, in sequences of the corpus."""
    data, design, of_data = loss.data, loss.data.design, segments_of(loss.data)
    first, last = _touched(data.starts, [*parts.units(of_data)], pieces)
    begin, end = int(data.starts[first]), int(data.starts[last])
    of_lexemes, lexemes = _compact(_rows(design.unit_lexemes, begin, end))
    of_units, features = _compact(_rows(design.unit_features, begin, end))
    segments, of_segments, first_row = _segments(of_data, begin, end)
    return Shard(
        loss.loss.of_part(slice(first, last), slice(begin, end)),
        data.structure,
        np.array(data.observed[begin:end]),
        data.starts[first : last + 1] - begin,
        of_lexemes,
        of_units,
        segments,
        Places(nodes, lexemes, features, of_segments),
        # Parts and pieces may be empty, and then stand anywhere.
        np.clip(pieces - first, 0, last - first),
        np.clip(parts.lexemes - begin, 0, end - begin),
        np.clip(parts.features - begin, 0, end - begin),
        np.clip(parts.segments - first_row, 0, 0 if segments is None else len(segments.length)),
    )


def _touched(
    starts: Pointers1d, units: list[tuple[int, int]], pieces: Pointers1d
) -> tuple[int, int]:
    """The sequences that have any of the units, or belong to the pieces."""
    ranges = [(int(pieces[0]), int(pieces[-1]))]
    for begin, end in units:
        first = int(np.searchsorted(starts, begin, side="right")) - 1
        ranges.append((first, int(np.searchsorted(starts, end))))
    filled = [(first, last) for first, last in ranges if first < last]
    if not filled:
        return 0, 0
    return min(first for first, _ in filled), max(last for _, last in filled)


def _rows(matrix: BinaryCSR, begin: int, end: int) -> BinaryCSR:
    first, last = matrix.indptr[begin], matrix.indptr[end]
    indptr = matrix.indptr[begin : end + 1] - first
    return BinaryCSR(indptr, matrix.indices[first:last], matrix.n_columns)


def _compact(matrix: BinaryCSR) -> tuple[BinaryCSR, Ints1d]:
    """The matrix of those columns that have something, and which these are."""
    is_used = np.zeros(matrix.n_columns, dtype=bool)
    is_used[matrix.indices] = True
    columns = np.flatnonzero(is_used).astype(np.int32)
    place = (np.cumsum(is_used) - 1).astype(np.int32)
    return BinaryCSR(matrix.indptr, place[matrix.indices], len(columns)), columns


def _segments(
    rows: SegmentRows | None, begin: int, end: int
) -> tuple[SegmentRows | None, Ints1d, int]:
    """Those that end at these units, their features, and the number of the first row."""
    if rows is None:
        return None, np.zeros(0, dtype=np.int32), 0
    first, last = int(rows.ends[begin]), int(rows.ends[end])
    features, columns = _compact(_rows(rows.features, first, last))
    ends, length = rows.ends[begin : end + 1] - first, np.array(rows.length[first:last])
    return SegmentRows(ends, length, features, rows.longest), columns, first
