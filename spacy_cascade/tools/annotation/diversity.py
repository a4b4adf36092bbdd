"""A choice of sentences that are worth much and do not repeat each other.

Each sentence has a value, spread over the words that it comes from. What a word is worth shrinks
with each chosen sentence that has it, so the greedy choice covers many words:

    gain(s) = Σ_{w in s} value(s, w) · (1 - diversity)^(number of chosen sentences that have w)

The total is submodular: a gain only becomes smaller, so that a gain which is still the largest
after it was computed anew is the largest of all (M. Minoux, "Accelerated greedy algorithms", 1978).
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence

import numpy as np

from ...errors import ConfigError
from ...types import Floats1d, Pointers1d


def choose_diverse(
    n: int,
    values: Floats1d,
    starts: Pointers1d,
    words: Pointers1d,
    shares: Floats1d,
    copies: Sequence[Hashable],
    diversity: float,
) -> list[int]:
    """Numbers of `n` of the sentences or fewer, in the order of the choice.

    values: float64 `[N]`; sentences with a value of zero are not chosen. starts: int64 `[N + 1]`;
    words, shares: number of each word of sentence `i`, once each, from `starts[i]`, and how much of
    the value comes from it; shares sum to 1. copies: sentences with equal ones are copies, of which
    one is chosen. diversity: from 0 (only values count) to 1. Raises `ConfigError` for another one.
    """
    if not 0.0 <= diversity <= 1.0:
        raise ConfigError(f"The diversity is a number from 0 to 1, not {diversity:g}.")
    left = np.ones(int(words.max(initial=-1)) + 1)
    seen: set[Hashable] = set()
    chosen: list[int] = []
    heap = [(-value, i) for i, value in enumerate(values.tolist()) if value > 0]
    heapq.heapify(heap)
    while heap and len(chosen) < n:
        _, i = heapq.heappop(heap)
        if copies[i] in seen:
            continue
        own = slice(starts[i], starts[i + 1])
        gain = float(values[i])
        if len(words[own]):
            gain *= float(shares[own] @ left[words[own]])
        if heap and -heap[0][0] > gain:
            heapq.heappush(heap, (-gain, i))
            continue
        chosen.append(i)
        seen.add(copies[i])
        left[words[own]] *= 1.0 - diversity
    return chosen
