"""The greedy choice against one that computes every gain anew."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.errors import ConfigError
from spacy_cascade.tools.annotation.diversity import choose_diverse


def plain_choice(
    n: int, values: list[float], words: list[dict[int, float]], copies: list[int], diversity: float
) -> list[int]:
    """The same, sentence by sentence."""
    chosen: list[int] = []
    while len(chosen) < n:
        gains = {}
        for i, own in enumerate(words):
            if values[i] <= 0 or any(copies[i] == copies[j] for j in chosen):
                continue
            left = {w: (1 - diversity) ** sum(w in words[j] for j in chosen) for w in own}
            gains[i] = values[i] * (sum(own[w] * left[w] for w in own) if own else 1.0)
        if not gains:
            break
        chosen.append(max(gains, key=lambda i: gains[i]))
    return chosen


@pytest.mark.parametrize("diversity", [0.0, 0.3, 1.0])
def test_the_choice_is_the_greedy_one(diversity: float) -> None:
    rng = np.random.default_rng(0)
    values = [0.0, *rng.uniform(0.5, 2.0, 24).tolist()]
    words = []
    for _ in values:
        own = rng.choice(12, size=rng.integers(0, 4), replace=False).tolist()
        shares = rng.dirichlet(np.ones(len(own))).tolist() if own else []
        words.append(dict(zip(own, shares, strict=True)))
    copies = [i // 2 for i in range(len(values))]
    starts = np.cumsum([0, *map(len, words)])
    flat = np.array([word for own in words for word in own], dtype=np.int64)
    shares = np.array([share for own in words for share in own.values()])
    found = choose_diverse(10, np.array(values), starts, flat, shares, copies, diversity)
    assert found == plain_choice(10, values, words, copies, diversity)
    assert len(found) == 10


def test_a_diversity_out_of_range_is_refused() -> None:
    none = np.zeros(0, dtype=np.int64)
    with pytest.raises(ConfigError, match="from 0 to 1, not 2"):
        choose_diverse(1, np.zeros(0), np.zeros(1, np.int64), none, np.zeros(0), [], 2.0)
