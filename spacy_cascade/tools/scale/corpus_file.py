"""A corpus that stands in a file, encoded: its loss is computed shard by shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...inference.structure import Structure
from ...losses.base import CorpusLoss, LabelledSequences, Loss
from ...numeric.encoded import Encoded
from ...parallel import Workers
from ...types import Ints1d, Pointers1d
from .packing import Shelf


class CorpusFile:
    """Shards of a corpus in a temporary file (`workers.packing.Shelf`), over the same features.

    structure: of all of them. n_units: their number in all shards.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure, self.n_units = structure, 0
        self._shards = Shelf()

    def __len__(self) -> int:
        """Number of shards."""
        return len(self._shards)

    def append(self, data: LabelledSequences) -> None:
        """Write a shard. Raises `SavingError` where the disk is full."""
        self._shards.append((data.encoded, data.observed, data.starts))
        self.n_units += len(data.observed)

    def __iter__(self) -> Iterator[LabelledSequences]:
        """The shards in order, each read when it is asked for."""
        # A generator would keep the last shard while it reads the next one.
        return map(self._read, self._shards)

    def _read(self, shard: tuple[tuple[Encoded, ...], Ints1d, Pointers1d]) -> LabelledSequences:
        encoded, observed, starts = shard
        return LabelledSequences(encoded, self.structure, observed, starts)

    def release_memory(self) -> None:
        """Nothing: a shard takes all of its memory along."""


@dataclass(frozen=True)
class ShardLosses(Iterable[CorpusLoss]):
    """The losses of the shards of a corpus, each made when it is asked for.

    n_parts: of the design matrix of each (`numeric.design`).
    """

    corpus: CorpusFile
    loss: Loss
    workers: Workers
    n_parts: int

    def __iter__(self) -> Iterator[CorpusLoss]:
        return map(self._of, self.corpus)

    def _of(self, data: LabelledSequences) -> CorpusLoss:
        data.divide(self.n_parts)
        return CorpusLoss(data, self.loss, self.workers)
