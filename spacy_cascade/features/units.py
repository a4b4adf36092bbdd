"""Units: what gets a label, a token or a span."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..types import Ints1d, Keys2d, Pointers1d
from .padded import PaddedTokens


@dataclass(frozen=True)
class Units:
    """What is to be scored.

    positions: those of a batch. first, last: int32 `[U]`, first and last position of each
    unit. context: uint64 `[U, C]`, what templates read of a span's surroundings, in the order
    of `Plan.context`, 0 for "no value"; nothing where there are no such templates.
    """

    positions: PaddedTokens
    first: Ints1d
    last: Ints1d
    context: Keys2d = field(default_factory=lambda: np.zeros((0, 0), dtype=np.uint64))

    def part(self, begin: int, end: int) -> Units:
        """Those units from `begin` to before `end`, as views."""
        context = self.context[begin:end] if len(self.context) else self.context
        return Units(self.positions, self.first[begin:end], self.last[begin:end], context)

    def take(self, numbers: Pointers1d) -> Units:
        """Some of the units, in the given order."""
        context = self.context[numbers] if len(self.context) else self.context
        return Units(self.positions, self.first[numbers], self.last[numbers], context)
