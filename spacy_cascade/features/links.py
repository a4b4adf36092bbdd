"""Links: tokens that stand for other tokens of their Doc, as an abbreviation for its long form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..types import Ints1d, Pointers1d


class Links(NamedTuple):
    """Links of the tokens of a batch.

    number: int32 `[T]`, of the link that a token is in, or -1. start, end: int64 `[A]`, the tokens
    that each link leads to.
    """

    number: Ints1d
    start: Pointers1d
    end: Pointers1d


class LinkedPositions(NamedTuple):
    """The same for the positions of a batch: number int32 `[P]`; first, last int32 `[A]`."""

    number: Ints1d
    first: Ints1d
    last: Ints1d


NO_LINKS = LinkedPositions(*(np.zeros(0, dtype=np.int32),) * 3)
