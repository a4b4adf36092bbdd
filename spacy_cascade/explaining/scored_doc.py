"""A Doc as a chain scores it, and the scores of two paths taken apart into features."""

from __future__ import annotations

from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..features.names import named_features
from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.contrast import Contrast, contrast, edges_of
from ..models.linear import get_weights
from ..pipeline.chain import ChainPipe
from ..types import Floats2d, Ints1d
from .explanations import Contribution, of_features
from .feature_texts import text_reader
from .label_names import label_names


class ScoredDoc:
    """The tokens of a Doc, with their features and their scores `[T, S]`.

    pipe: the component.
    """

    def __init__(self, pipe: ChainPipe[Any], doc: Doc) -> None:
        self._pipe = pipe
        self._labels = label_names(pipe)
        self._text_of = text_reader(pipe, [doc])
        self.tokens: Tokens
        self._scores: Floats2d
        self.tokens, self._scores = pipe.score_tokens([doc])
        self._units: Units = pipe.token_units(self.tokens)

    def sequence(self, token: int) -> tuple[int, int]:
        """First token of the sequence that a token is in, and the one after its last."""
        starts = self.tokens.sequence_starts
        i = int(np.searchsorted(starts, token, side="right"))
        return int(starts[i - 1]), int(starts[i])

    def contrast(self, labels: Ints1d, start: int) -> Contrast | None:
        """The best labels of a sequence with the given ones from token `start` on, and without."""
        begin, end = self.sequence(start)
        transitions = get_weights(self._pipe.model)[1]
        scores = self._scores[begin:end]
        return contrast(self._pipe.lattice, scores, transitions, labels, start - begin)

    def contributions(self, paths: Contrast, begin: int) -> list[Contribution]:
        """What adds to the scores where the two paths differ; begin: first token of theirs."""
        lattice = self._pipe.lattice
        weights, transitions = get_weights(self._pipe.model)
        one, other = (edges_of(lattice, path) for path in paths)
        places = np.flatnonzero(one != other)
        named = named_features(self._pipe.space, self._units.take(begin + places), self._text_of)
        found = []
        for place, features in zip(places.tolist(), named, strict=True):
            edges = [int(one[place]), int(other[place])]
            columns = lattice.column[edges].tolist()
            if columns[0] != columns[1]:
                found += of_features(features, begin + place, weights, columns)
            weight, runner_up = transitions[edges].tolist()
            found.append(Contribution(self._edge_name(edges[0]), begin + place, weight, 0.0))
            found.append(Contribution(self._edge_name(edges[1]), begin + place, 0.0, runner_up))
        return found

    def _edge_name(self, edge: int) -> str:
        lattice = self._pipe.lattice
        source, target = int(lattice.source[edge]), int(lattice.target[edge])
        return f"transition {self._labels[source]} to {self._labels[target]}"
