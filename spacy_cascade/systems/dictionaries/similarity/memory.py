"""What was found for phrases before, so that those that recur are searched for once.

A slot holds one phrase. A phrase may be in any of eight slots that stand together; if none of them
is free, it replaces one of the others. A slot is one 64-bit number, the key of the phrase without
its last 8 bits, and in their place what was found. The place of the eight slots gives these bits
back, so keys are compared in full. A slot is written at once, so threads can share a memory without
a lock.
"""

from __future__ import annotations

import numpy as np

from ....jit import helper, inlined
from ....numeric.hashing import mix
from ....types import Keys1d

_SLOTS = 1 << 20
_WAYS = 8
"""Slots for one phrase, as many as a cache line of the processor has."""
_VICTIM = np.uint64(61)
"""The slot that is given up is the one with the number that the key begins with."""
_SALT = np.uint64(0x9FB21C651E98DF25)
_FOUND = np.uint64(0xFF)
MISSING = -1


def make_memory() -> Keys1d:
    """An empty memory of 8 MiB, uint64 `[2^20]`."""
    return np.zeros(_SLOTS, dtype=np.uint64)


def no_memory() -> Keys1d:
    """A memory that forgets everything."""
    return np.zeros(0, dtype=np.uint64)


@inlined
def first_key(doc):  # type: ignore[no-untyped-def]
    """Key of a span of no words, whose Doc must not see its own terms.

    The words are mixed into it from the last to the first (`hashing.mix`), so that spans with the
    same end, one word longer each, have their keys one after the other.
    """
    return mix(_SALT, np.uint64(doc))


@inlined
def _first_slot(memory, key):  # type: ignore[no-untyped-def]
    """The first of the slots for a key."""
    return np.int64(key & np.uint64(len(memory) // _WAYS - 1)) * _WAYS


@helper
def recall(memory, key):  # type: ignore[no-untyped-def]
    """What was found for a key, or `MISSING`."""
    if len(memory) == 0:
        return MISSING
    first = _first_slot(memory, key)
    for place in range(first, first + _WAYS):
        slot = memory[place]
        # What was found is stored from 1, so that no key fits an empty slot.
        found = np.int64(slot & _FOUND) - 1
        if (slot ^ key) & ~_FOUND == 0 and found != MISSING:
            return found
    return MISSING


@helper
def remember(memory, key, found):  # type: ignore[no-untyped-def]
    """Keep a number from 0 to 254 for a key that was `MISSING`."""
    if len(memory) == 0:
        return
    first = _first_slot(memory, key)
    place = first + np.int64(key >> _VICTIM)
    for free in range(first, first + _WAYS):
        if memory[free] == 0:
            place = free
            break
    memory[place] = (key & ~_FOUND) | np.uint64(found + 1)
