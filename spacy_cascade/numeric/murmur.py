"""MurmurHash64A (Appleby 2008) of parts of a text, as spaCy hashes strings.

spaCy hashes one `str` at a time. Of the affixes of many words, each would be a `str` first; here
they are hashed where they stand. In arrays, for a kernel would have to be compiled.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..types import Keys1d, Pointers1d

BLOCK = 8
"""Bytes that are taken together."""
_FACTOR = np.uint64(0xC6A4A7935BD1E995)
_SEED = np.uint64(1)
_SHIFT = np.uint64(47)
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(BLOCK + 1)], dtype=np.uint64)
"""Of the first bytes of a block, by their number."""


def hash_parts(content: npt.NDArray[np.uint8], start: Pointers1d, stop: Pointers1d) -> Keys1d:
    """`murmur(content[start[i]:stop[i]])` with spaCy's seed, uint64 `[n]`.

    A block of 8 bytes `k` changes the state `h` to `m·(h ^ m·(mk ^ (mk >> 47)))`, the last, shorter
    one to `m·(h ^ k)`. In the end `h` becomes `h ^ (h >> 47)`, times `m`, and the same again.
    content: with 8 bytes or more after the last part.
    """
    blocks = np.ndarray(len(content) - BLOCK + 1, "<u8", content, strides=(1,))  # at each byte
    length = stop - start
    state = _SEED ^ (length.astype(np.uint64) * _FACTOR)
    parts, begin, left = np.arange(len(start)), start, length
    while len(parts := parts[left > 0]):
        begin, left = begin[left > 0], left[left > 0]
        block = blocks[begin] & _MASKS[np.minimum(left, BLOCK)]
        product = block * _FACTOR
        mixed = np.where(left >= BLOCK, (product ^ (product >> _SHIFT)) * _FACTOR, block)
        state[parts] = (state[parts] ^ mixed) * _FACTOR
        begin, left = begin + BLOCK, left - BLOCK
    state = (state ^ (state >> _SHIFT)) * _FACTOR
    hashes: Keys1d = state ^ (state >> _SHIFT)
    return hashes
