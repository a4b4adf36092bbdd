"""What was found for phrases before, so that those that recur are searched for once.

One slot holds one phrase: a later one with the same slot replaces it. A slot is one 64-bit number,
the key of the phrase without its last 8 bits, and in their place what was found. The place of the
slot gives these bits back, so keys are compared in full. A slot is written at once, so threads can
share a memory without a lock.
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ...types import Ints1d, Keys1d

_SLOTS = 1 << 19
_FOUND = np.uint64(0xFF)
MISSING = -1


def make_memory() -> Keys1d:
    """An empty memory of 4 MiB, uint64 `[2^19]`."""
    return np.zeros(_SLOTS, dtype=np.uint64)


@kernel
def recall(memory: Keys1d, keys: Keys1d) -> Ints1d:
    """What was found for each key, or `MISSING`."""
    found = np.empty(len(keys), dtype=np.int32)
    last = np.uint64(len(memory) - 1)
    for i in range(len(keys)):
        slot = memory[np.int64(keys[i] & last)]
        # What was found is stored from 1, so that no key fits an empty slot.
        is_there = slot & _FOUND and (slot ^ keys[i]) & ~_FOUND == 0
        found[i] = np.int32(slot & _FOUND) - 1 if is_there else MISSING
    return found


@kernel
def remember(memory: Keys1d, keys: Keys1d, found: Ints1d) -> None:
    """Keep numbers from 0 to 254 for the keys."""
    last = np.uint64(len(memory) - 1)
    for i in range(len(keys)):
        memory[np.int64(keys[i] & last)] = (keys[i] & ~_FOUND) | np.uint64(found[i] + 1)
