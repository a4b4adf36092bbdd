"""What a worker does: it keeps a shard, and computes its loss and gradient when asked."""

from __future__ import annotations

import numpy as np

from ...inference.structure import Part, Potentials
from ...numeric.csr import add_to_columns
from ...numeric.design import BinaryCSR
from ...parallel import Workers
from ...types import Floats1d, Floats2d, Floats3d, Pointers1d, RealsXd
from .messages import Answer, Question, Wanted
from .parts import Memory, Node
from .shards import Shard

_ONE = Workers(1)


class ShardServer:
    """The loss of a shard as a function of the weights; arrays of answers are used again."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self._of_sequences = shard.loss.on(shard.structure)
        self._sums_of: dict[str, Floats3d] = {}
        self._memory = Memory()

    def answer(self, question: Question) -> Answer:
        """The answer; it is valid until the next question."""
        shard, potentials = self.shard, self._potentials(question)
        losses, transitions = self._losses(potentials)
        own = slice(shard.pieces[0], shard.pieces[-1])
        scored = list(potentials.scored)
        if question.wanted is Wanted.VARIANCES:
            scored = [shard.loss.variances(scores) for scores in scored]
        scores, of_segments = scored[0], scored[1] if scored[1:] else np.zeros((0, 0))
        rows = None if shard.segments is None else shard.segments.features
        return Answer(
            losses[own],
            transitions,
            self._sums("by_lexeme", shard.unit_lexemes, shard.lexeme_parts, scores),
            self._sums("features", shard.unit_features, shard.feature_parts, scores),
            self._sums("segments", rows, shard.segment_parts, of_segments),
        )

    def _potentials(self, question: Question) -> Potentials:
        shard, places, rows = self.shard, self.shard.places, self.shard.segments
        scores = np.zeros((len(shard.observed), question.features.shape[1]))
        shard.unit_lexemes.add_product(question.by_lexeme[places.lexemes], scores, _ONE)
        shard.unit_features.add_product(question.features[places.features], scores, _ONE)
        scored, encoded = [scores], [] if rows is None else [rows]
        for each in encoded:
            columns = shard.structure.columns.blocks[-1]
            weights: RealsXd = question.features[places.segments][:, columns].copy()
            scored.append(each.scores(weights, _ONE))
        transitions = np.array(question.transitions)
        return shard.structure.compose(scored, encoded, transitions, shard.starts)

    def _losses(self, potentials: Potentials) -> tuple[Floats1d, Floats2d]:
        """Loss of each sequence, and the gradient of transitions of each piece that counts here.

        The scores are OVERWRITTEN by their gradient, at the borders, too.
        """
        shard, n = self.shard, len(self.shard.starts) - 1
        losses = np.empty(n)

        def evaluate(first: int, last: int) -> Floats1d:
            return self._of_sequences(Part(potentials, shard.observed, first, last, losses))

        pieces = shard.pieces.tolist()
        if pieces[0] > 0:
            evaluate(0, pieces[0])
        transitions = np.empty((len(pieces) - 1, len(potentials.transitions)))
        for i, first in enumerate(pieces[:-1]):
            transitions[i] = evaluate(first, pieces[i + 1])
        if pieces[-1] < n:
            evaluate(pieces[-1], n)
        return losses, transitions

    def _sums(
        self, name: str, matrix: BinaryCSR | None, bounds: Pointers1d, values: Floats2d
    ) -> Floats3d:
        """`matrixᵀ values` of each node of the shard's parts, `[N, n, W]`."""
        nodes = self.shard.places.nodes
        if matrix is None:
            return np.zeros((len(nodes), 0, 0))
        indptr, indices, first = matrix.indptr, matrix.indices, nodes[0][0]

        def add(node: Node, out: Floats2d) -> None:
            begin, end = bounds[node[0] - first : node[0] - first + 2].tolist()
            add_to_columns(indptr, indices, values, out, begin, end)

        shape = len(nodes), matrix.n_columns, values.shape[1]
        if name not in self._sums_of:
            self._sums_of[name] = np.empty(shape)
        for node, out in zip(nodes, self._sums_of[name], strict=True):
            self._memory.add_up(node, add, out, _ONE)
        return self._sums_of[name]
