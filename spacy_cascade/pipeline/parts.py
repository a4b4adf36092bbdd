"""Potentials of a batch, some sequences after the others.

Arrays with the scores of all tokens of a batch do not stay in the processor's cache, and for a long
Doc the system has to give the memory first, page by page. Each sequence is decoded by itself, so
some thousand tokens at a time give the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..features.space import FeatureSpace
from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.structure import Potentials, Structure, Weights
from ..scorers.linear import scores_of_wholes
from ..types import Pointers1d

PART = 1 << 15
"""About so many tokens of a batch have scores at a time, or fewer with many labels:"""
_SCORES = 1 << 23
"""so that these are 64 megabytes."""


class Scoring(Protocol):
    """A component with scores of tokens."""

    model: Model[Units, Any]

    @property
    def space(self) -> FeatureSpace:
        """What the scores look at."""

    @property
    def structure(self) -> Structure:
        """Of the labels."""

    @property
    def weights(self) -> Weights:
        """Of the features."""

    def begin_batch(self) -> None:
        """Called before a batch is read."""

    def read(self, docs: Sequence[Doc]) -> Tokens:
        """The tokens of a batch."""

    def token_units(self, tokens: Tokens) -> Units:
        """Every token as a unit."""


def linear_potentials(pipe: Scoring, docs: Sequence[Doc]) -> tuple[Tokens, Potentials]:
    """The tokens of a batch, and what weights give. Raises `NotTrainedError` without such."""
    pipe.begin_batch()
    tokens, weights = pipe.read(docs), pipe.weights
    if not len(tokens.words):
        scores = np.zeros((0, weights.features.shape[1]))
        return tokens, Potentials(scores, weights.transitions, tokens.sequence_starts)
    return tokens, _potentials(pipe, pipe.token_units(tokens), tokens.sequence_starts)


def potentials_in_parts(
    pipe: Scoring, docs: Sequence[Doc]
) -> tuple[Tokens, Iterator[tuple[int, Potentials]]]:
    """The tokens of a batch, and of its parts the first token and the normalised potentials.

    A batch without tokens has no parts. One that can only be read as a whole is one part. Raises
    `NotTrainedError` without weights.
    """
    pipe.begin_batch()
    tokens, _ = pipe.read(docs), pipe.weights
    if not len(tokens.words):
        return tokens, iter([])
    return tokens, _parts(pipe, pipe.token_units(tokens), tokens.sequence_starts)


def _parts(pipe: Scoring, units: Units, starts: Pointers1d) -> Iterator[tuple[int, Potentials]]:
    if not pipe.space.scores_in_parts:
        yield 0, pipe.structure.normalised(_potentials(pipe, units, starts))
        return
    size = min(PART, max(1, _SCORES // pipe.structure.n_columns))
    for first, last in pairwise(cuts(starts, size)):
        begin, end = int(starts[first]), int(starts[last])
        own = starts[first : last + 1] - begin
        yield (
            begin,
            pipe.structure.normalised(_potentials(pipe, units.take(slice(begin, end)), own)),
        )


def cuts(starts: Pointers1d, size: int) -> list[int]:
    """Numbers of sequences that begin a part of about `size` units, and the number of sequences.

    starts: int64 `[N + 1]`, with one unit or more.
    """
    found = np.searchsorted(starts, np.arange(0, starts[-1], size))
    numbers: list[int] = np.unique(np.append(found, len(starts) - 1)).tolist()
    return numbers


def _potentials(pipe: Scoring, units: Units, starts: Pointers1d) -> Potentials:
    structure, wholes = pipe.structure, pipe.space.encode_wholes(units)
    of_wholes = scores_of_wholes(pipe.model, wholes, structure.columns.blocks[1:])
    scored = [pipe.model.predict(units), *of_wholes]
    return structure.compose(scored, wholes, pipe.weights.transitions, starts)
