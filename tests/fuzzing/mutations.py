"""Inputs made from others: cut, joined, with changed bytes, inserted pieces and other values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tests.fuzzing.limits import LARGEST

_MOST_CHANGES = 4
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, 0.5, 1e308, float("nan"), float("-inf"),
    "", "x", "\ud800", "\0", [], {}, [[]], {"": 0}, ["x"] * 3,
)  # fmt: skip
"""What may stand in place of a value of JSON."""


def mutated(random: Random, inputs: Sequence[bytes], pieces: Sequence[bytes]) -> bytes:
    """One of the inputs with one to four changes; of half of those that are JSON, of values.

    JSON may have a line before it.
    """
    chosen = random.choice(inputs)
    if random.random() < 0.5:
        for head, text in ((b"", chosen), _after_first_line(chosen)):
            if text[:1] in (b"{", b"["):
                try:
                    return (head + _with_other_values(random, json.loads(text)))[:LARGEST]
                except (ValueError, RecursionError):
                    pass  # It is no JSON, or not of Unicode.
    return _with_other_bytes(random, chosen, inputs, pieces)


def _after_first_line(data: bytes) -> tuple[bytes, bytes]:
    end = data.find(b"\n") + 1
    return data[:end], data[end:]


def _with_other_values(random: Random, value: Any) -> bytes:
    """JSON in which one to four values are others, missing, or there twice."""
    for _ in range(random.randint(1, _MOST_CHANGES)):
        places = list(_places(value))
        if not places:
            break
        table, key = random.choice(places)
        match random.randrange(4):
            case 0:
                del table[key]
            case 1:
                other, there = random.choice(places)
                table[key] = json.loads(json.dumps(other[there]))
            case 2 if isinstance(table, list):
                table.insert(key, table[key])
            case _:
                table[key] = random.choice(_VALUES)
    return json.dumps(value).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each table or list within a value, with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _with_other_bytes(
    random: Random, chosen: bytes, inputs: Sequence[bytes], pieces: Sequence[bytes]
) -> bytes:
    data = bytearray(chosen)
    for _ in range(random.randint(1, _MOST_CHANGES)):
        begin, end = sorted(random.randint(0, len(data)) for _ in range(2))
        end = min(end, begin + random.choice((1, 2, 8, 64, LARGEST)))
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
    return bytes(data[:LARGEST])
