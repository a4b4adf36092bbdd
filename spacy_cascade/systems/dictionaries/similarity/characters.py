"""Texts as small numbers of characters, one byte each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....types import Ints1d, Keys1d, Pointers1d

_MOST, _RARE = 254, 255
_FOREIGN = 0

Bytes1d = npt.NDArray[np.uint8]


class Encoded(NamedTuple):
    """Texts one after the other: characters uint8, starts int64 `[n + 1]`."""

    characters: Bytes1d
    starts: Pointers1d

    def take(self, numbers: Ints1d) -> Encoded:
        """The texts with these numbers, one after the other."""
        lengths = np.diff(self.starts)[numbers]
        starts = np.append(0, np.cumsum(lengths))
        places = np.arange(starts[-1]) + np.repeat(self.starts[numbers] - starts[:-1], lengths)
        return Encoded(self.characters[places], starts)


class Alphabet(NamedTuple):
    """The characters of a dictionary.

    points: uint32, code points in ascending order. numbers: uint8 beside them. The 254 most
    frequent ones have numbers of their own, all others share one; characters that the dictionary
    does not have are 0.
    """

    points: npt.NDArray[np.uint32]
    numbers: Bytes1d

    @classmethod
    def of(cls, texts: Iterable[str]) -> Alphabet:
        points, counts = np.unique(_points(texts), return_counts=True)
        numbers = np.full(len(points), _RARE, dtype=np.uint8)
        most = np.lexsort((points, -counts))[:_MOST]
        numbers[most] = np.arange(1, len(most) + 1)
        return cls(points, numbers)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """The texts as numbers of characters."""
        points = _points(texts)
        places = np.searchsorted(self.points, points)
        places[places == len(self.points)] = 0
        numbers = np.zeros(len(points), dtype=np.uint8)
        if len(self.points):
            is_known = self.points[places] == points
            numbers = np.where(is_known, self.numbers[places], np.uint8(_FOREIGN))
        return Encoded(numbers, np.cumsum([0, *map(len, texts)], dtype=np.int64))


def _points(texts: Iterable[str]) -> npt.NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")


def bits_of(values: Bytes1d | Ints1d, starts: Pointers1d) -> Keys1d:
    """For each row of values a number with a bit for each of them, uint64 `[n]`: its sign."""
    bits = np.uint64(1) << (values & 63).astype(np.uint64)
    signs = np.zeros(len(starts) - 1, dtype=np.uint64)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        signs[filled] = np.bitwise_or.reduceat(bits, starts[filled])
    return signs


def packed(encoded: Encoded, offset: int, n: int) -> Keys1d:
    """The characters from `offset` to `offset + n` of each text in one number, n <= 8.

    The numbers stand in the order of the texts; beyond its end a text has zeros.
    """
    heads = np.zeros(len(encoded.starts) - 1, dtype=np.uint64)
    padded = np.append(encoded.characters, np.uint8(0))
    for k in range(n):
        place = encoded.starts[:-1] + offset + k
        within = place < encoded.starts[1:]
        character = np.where(within, padded[np.minimum(place, len(padded) - 1)], 0)
        heads = (heads << np.uint64(8)) | character.astype(np.uint64)
    return heads
