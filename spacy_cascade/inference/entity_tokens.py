"""Entities among what spaCy keeps of each token, `ENT_IOB`, `ENT_TYPE`, `ENT_KB_ID`, `ENT_ID`."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..types import Keys1d, Keys2d, Pointers1d

_MISSING, _INSIDE, _OUTSIDE, _BEGIN = (np.uint64(code) for code in range(4))


@kernel
def add_entities(
    of_tokens: Keys2d,
    start: Pointers1d,
    end: Pointers1d,
    label: Keys1d,
    kb_id: Keys1d,
    span_id: Keys1d,
) -> bool:
    """Write spans `[P]` to tokens `[T, 4]`, or nothing where one is in the way.

    Returns whether they are written: none touches an entity, a blocked token, or a span before it.
    Tokens of which nothing was known are outside then.
    """
    for p in range(len(start)):
        if p > 0 and start[p] < end[p - 1]:
            return False
        for t in range(start[p], end[p]):
            if of_tokens[t, 0] == _INSIDE or of_tokens[t, 0] == _BEGIN:
                return False
    for p in range(len(start)):
        for t in range(start[p], end[p]):
            of_tokens[t, 0] = _BEGIN if t == start[p] else _INSIDE
            of_tokens[t, 1] = label[p]
            of_tokens[t, 2] = kb_id[p]
            of_tokens[t, 3] = span_id[p]
    for t in range(len(of_tokens)):
        if of_tokens[t, 0] == _MISSING:
            of_tokens[t, 0] = _OUTSIDE
    return True
