"""The loss of a corpus whose shards belong to workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ...errors import ConfigError
from ...inference.structure import Weights
from ...losses.base import CorpusLoss
from ...numeric.csr import add_to_columns
from ...numeric.design import BinaryCSR, Design
from ...types import Floats1d, Floats2d, Floats3d, Ints1d
from .engines import Team, engine_named
from .messages import Answer, Question, Wanted
from .parts import Memory, Node
from .shards import Places, Shard, cut, segments_of

_PARTS = 8
"""Of a gradient, unless something else is asked for."""


def shared_parts(workers: int, parts: int) -> int:
    """Parts of a gradient; parts: as the config says, 0 for 1 without workers and 8 with them.

    Raises `ConfigError` for more workers than there are parts.
    """
    parts = parts or (_PARTS if workers > 1 else 1)
    if parts < 1 or not 0 <= workers <= max(1, parts):
        raise ConfigError(
            f"The trainer cannot share parts = {parts} among workers = {workers}: each worker "
            "needs a part. Set parts in the [trainer] block to a multiple of the workers; it "
            "changes the last bits of the weights."
        )
    return parts


class RemoteLoss:
    """As `CorpusLoss`, and to the same bits, for any number of workers.

    The driver has the features of lexemes and the weights. It adds what the workers send in the
    order in which the local loss adds its parts (`tools.scale.parts`). threads: of the driver.
    """

    def __init__(self, loss: CorpusLoss, n_workers: int, engine: str) -> None:
        self.threads, design = loss.workers, loss.data.design
        self._structure, self._counts = loss.data.structure, loss.counts()
        self._lexemes = Design(
            design.lexeme_features,
            _nothing(design.unit_lexemes.n_columns),
            _nothing(design.unit_features.n_columns),
            n_parts=design.n_parts,
        )
        self._places: list[Places] = []
        self._memory = Memory()
        self._has_segments = segments_of(loss.data) is not None

        def shards() -> Iterator[Shard]:
            for shard in cut(loss, n_workers):
                self._places.append(shard.places)
                yield shard

        self._team: Team = engine_named(engine).start(shards())

    def counts(self) -> Floats1d:
        return self._counts

    def value_and_gradient(self, weights: Weights, out: Floats2d) -> tuple[float, Floats1d]:
        answers = self._ask(Wanted.GRADIENT, weights)
        self._gather(answers, out)
        losses = np.concatenate([answer.losses for answer in answers])
        transitions = np.concatenate([answer.transitions for answer in answers])
        return float(losses.sum()), transitions.sum(axis=0)

    def hessian_diagonal(self, weights: Weights) -> Floats2d:
        own = np.empty(weights.features.shape)
        self._gather(self._ask(Wanted.VARIANCES, weights), own)
        mixed: Floats2d = own @ self._structure.columns.mixing**2
        return mixed

    def _ask(self, wanted: Wanted, weights: Weights) -> list[Answer]:
        rows, features = self._lexemes.lexeme_features, weights.features
        by_lexeme = np.zeros((rows.n_rows, features.shape[1]))
        rows.add_product(features, by_lexeme, self.threads)
        return self._team.ask(Question(wanted, by_lexeme, features, weights.transitions))

    def _gather(self, answers: Sequence[Answer], out: Floats2d) -> None:
        """Write the gradient of features `[K, S]` to `out`."""
        of_shards = list(zip(self._places, answers, strict=True))
        self._lexemes.gather(
            self._writing((places, places.lexemes, a.by_lexeme) for places, a in of_shards),
            self._writing((places, places.features, a.features) for places, a in of_shards),
            self.threads,
            out,
        )
        if self._has_segments:
            columns = self._structure.columns.blocks[-1]
            gradient = np.empty((len(out), answers[0].segments.shape[2]))
            self._writing((places, places.segments, a.segments) for places, a in of_shards)(
                gradient
            )
            out[:, columns] += gradient

    def _writing(
        self, of_shards: Iterable[tuple[Places, Ints1d, Floats3d]]
    ) -> Callable[[Floats2d], None]:
        """What writes the sum over all shards, of rows that each is about."""
        given = {
            node: (rows, sums)
            for places, rows, own in of_shards
            for node, sums in zip(places.nodes, own, strict=True)
        }

        def add(node: Node, out: Floats2d) -> None:
            if node in given:
                rows, sums = given[node]
                each = np.arange(len(rows) + 1, dtype=np.int64)
                add_to_columns(each, rows, sums, out, 0, len(rows))

        tree = 0, self._lexemes.n_parts
        return lambda out: self._memory.add_up(tree, add, out, self.threads, given)


def _nothing(n_columns: int) -> BinaryCSR:
    return BinaryCSR(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), n_columns)
