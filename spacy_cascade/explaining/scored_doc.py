"""A Doc as a chain scores it, and the scores of two labellings taken apart into features."""

from __future__ import annotations

from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..features.names import named_features
from ..inference.structure import Contrast
from ..pipeline.learning import LearningPipe
from ..types import Ints1d
from .explanations import Contribution, of_features
from .feature_texts import text_reader

START = "start"
"""Name of the label that stands before the first token and nowhere else."""


class ScoredDoc:
    """The tokens of a Doc, with their features and their potentials.

    pipe: the component.
    """

    def __init__(self, pipe: LearningPipe[Any], doc: Doc) -> None:
        self._pipe = pipe
        self._text_of = text_reader(pipe, [doc])
        self.tokens, self._potentials = pipe.potentials([doc])
        self._units = pipe.token_units(self.tokens)

    def sequence(self, token: int) -> tuple[int, int]:
        """First token of the sequence that a token is in, and the one after its last."""
        starts = self.tokens.sequence_starts
        i = int(np.searchsorted(starts, token, side="right"))
        return int(starts[i - 1]), int(starts[i])

    def contrast(self, labels: Ints1d, start: int) -> Contrast | None:
        """The best labels of a sequence with the given ones from token `start` on, and without."""
        begin, end = self.sequence(start)
        of_sequence = self._potentials._replace(
            scores=self._potentials.scores[begin:end], starts=np.array([0, end - begin])
        )
        return self._pipe.structure.contrast(of_sequence, labels, start - begin)

    def contributions(self, paths: Contrast, begin: int) -> list[Contribution]:
        """What adds to the scores where the two paths differ; begin: first token of theirs."""
        structure, weights = self._pipe.structure, self._pipe.weights
        (columns, one), (other_columns, other) = (structure.parts(path) for path in paths)
        names = structure.transition_names([name or START for name in self._pipe.structure_labels])
        places = np.flatnonzero(one != other)
        named = named_features(self._pipe.space, self._units.take(begin + places), self._text_of)
        found = []
        for place, features in zip(places.tolist(), named, strict=True):
            pair = [int(columns[place]), int(other_columns[place])]
            if pair[0] != pair[1]:
                found += of_features(features, begin + place, weights.features, pair)
            edges = [int(one[place]), int(other[place])]
            weight, runner_up = weights.transitions[edges].tolist()
            texts = [" to ".join(names[edge]) for edge in edges]
            found.append(Contribution(f"transition {texts[0]}", begin + place, weight, 0.0))
            found.append(Contribution(f"transition {texts[1]}", begin + place, 0.0, runner_up))
        return found
