"""Inputs made from others: cut, joined, with changed bytes and inserted pieces."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

_LARGEST = 1 << 16
_MOST_CHANGES = 4


def mutated(random: Random, inputs: Sequence[bytes], pieces: Sequence[bytes]) -> bytes:
    """One of the inputs with one to four changes."""
    data = bytearray(random.choice(inputs))
    for _ in range(random.randint(1, _MOST_CHANGES)):
        begin, end = sorted(random.randint(0, len(data)) for _ in range(2))
        end = min(end, begin + random.choice((1, 2, 8, 64, _LARGEST)))
        match random.randrange(7):
            case 0:
                data[begin:begin] = random.choice(pieces)
            case 1:
                data[begin:end] = random.choice(pieces)
            case 2:
                del data[begin:end]
            case 3:
                data[begin:begin] = data[begin:end] * random.randint(1, 3)
            case 4:
                other = random.choice(inputs)
                place = random.randint(0, len(other))
                data[begin:end] = other[place : place + random.randint(0, 64)]
            case 5 if data:
                data[min(begin, len(data) - 1)] = random.randrange(256)
            case _ if data:
                data[min(begin, len(data) - 1)] ^= 1 << random.randrange(8)
    return bytes(data[:_LARGEST])
