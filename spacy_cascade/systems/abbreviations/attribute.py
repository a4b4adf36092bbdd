"""Abbreviations that a Doc explains: `heat shock protein (HSP)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...types import Keys1d, Pointers2d

MOST_TOKENS = 5
"""Longest short form in tokens: `TGF - beta 1`."""


class Abbreviations(NamedTuple):
    """The abbreviations that are explained in a batch, in the order of their brackets.

    short, long: int64 `[A, 2]`, start and end (exclusive) of both forms among the tokens of the
    batch. other_number: uint64 `[A]`, hash of the short form's last word with a final `s`, or
    without it where it has one.
    """

    short: Pointers2d
    long: Pointers2d
    other_number: Keys1d


NO_ABBREVIATIONS = Abbreviations(
    np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.uint64)
)


def join_abbreviations(found: Sequence[Abbreviations], first: Sequence[int]) -> Abbreviations:
    """Those of several batches as one; first: number of the first token of each batch."""
    return Abbreviations(
        np.concatenate([of_batch.short + n for of_batch, n in zip(found, first, strict=True)]),
        np.concatenate([of_batch.long + n for of_batch, n in zip(found, first, strict=True)]),
        np.concatenate([of_batch.other_number for of_batch in found]),
    )
