"""Arrays that kernels of any structure write their answers to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..types import Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d
from .schemes import Spans
from .structure import Potentials

WriteBest: TypeAlias = Callable[[Ints2d, Floats2d, Ints1d], None]
"""Writes paths `[k, T]`, their scores `[N, k]`, and how many each sequence has `[N]`."""


def gather_k_best(potentials: Potentials, k: int, write: WriteBest) -> tuple[Ints2d, Floats2d]:
    """What `Structure.k_best` returns."""
    n_sequences = len(potentials.starts) - 1
    paths = np.zeros((k, len(potentials.scores)), dtype=np.int32)
    by_sequence = np.empty((n_sequences, k))
    n_paths = np.empty(n_sequences, dtype=np.int32)
    write(paths, by_sequence, n_paths)
    scores = by_sequence.T.copy()
    scores[np.arange(k)[:, None] >= n_paths] = -np.inf
    return paths, scores


def gather_posteriors(
    starts: Pointers1d, spans: Spans, write: Callable[[Ints1d, Floats1d], None]
) -> Floats1d:
    """Probabilities of spans `[P]`; write: takes the number of each span's sequence `[P]`."""
    probabilities = np.empty(len(spans.start))
    sequences = np.searchsorted(starts, spans.start, side="right") - 1
    write(sequences.astype(np.int32), probabilities)
    return probabilities


def gather_likely(n_units: int, write: Callable[[Spans, Floats1d], int]) -> tuple[Spans, Floats1d]:
    """Spans and their probabilities; write: as far as there is room, and returns their number."""
    n_found, room = n_units, 0
    while n_found > room:  # a second time where there are more than one a token
        room = n_found
        start, end = np.empty((2, room), dtype=np.int64)
        spans = Spans(start, end, np.empty(room, dtype=np.int32))
        probabilities = np.empty(room)
        n_found = write(spans, probabilities)
    written = slice(n_found)
    return Spans(start[written], end[written], spans.label[written]), probabilities[written]
