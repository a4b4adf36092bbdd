"""Samples are large enough, and say how sure they are."""

from __future__ import annotations

import ast
from math import sqrt

import numpy as np
import pytest

from tests.mutation.groups import GROUPS
from tests.mutation.operators import mutants
from tests.mutation.run import choose, in_order
from tests.mutation.samples import Stratum, estimate, needed


@pytest.mark.parametrize("mutants", [1, 45, 300, 5000, 40_000])
@pytest.mark.parametrize(("share", "half_width"), [(0.97, 0.01), (0.9, 0.03), (0.5, 0.2)])
def test_no_smaller_sample_would_do(mutants: int, share: float, half_width: float) -> None:
    """By the variance of a draw without putting back."""

    def reached(n: int) -> float:
        left = (mutants - n) / max(1, mutants - 1)
        return 1.959964 * sqrt(share * (1 - share) / n * left)

    assert needed(mutants, share, half_width) == next(
        n for n in range(1, mutants + 1) if reached(n) <= half_width
    )


def test_nineteen_of_twenty_intervals_have_the_share(generator: np.random.Generator) -> None:
    """Of strata of unequal sizes and shares, of which samples of unequal parts are drawn."""
    strata = [(4000, 0.95, 600), (600, 0.9, 150), (70, 0.8, 50)]
    killed = [round(share * n) for n, share, _ in strata]
    truth = sum(killed) / sum(n for n, _, _ in strata)
    n_draws, n_within = 2000, 0
    for _ in range(n_draws):
        sample = [
            Stratum(n, tried, int(generator.hypergeometric(k, n - k, tried)))
            for (n, _, tried), k in zip(strata, killed, strict=True)
        ]
        share, half_width = estimate(sample)
        n_within += abs(share - truth) <= half_width
    assert 0.93 < n_within / n_draws < 0.97


def test_what_was_tried_whole_is_sure() -> None:
    assert estimate([Stratum(20, 20, 18)]) == (0.9, 0.0)


def test_no_survivor_is_not_sure() -> None:
    """As one survivor of fifty: 1.96 times the root of 0.98 · 0.02 / 49 of a large folder."""
    share, half_width = estimate([Stratum(10**9, 50, 50)])
    assert share == 1.0
    assert half_width == pytest.approx(1.959964 * sqrt(0.98 * 0.02 / 49))


def test_a_sample_goes_on_with_other_mutants() -> None:
    files = GROUPS["systems/tagging"].modules
    whole = [mutant.name for mutant in choose(files, 1)]
    parts = [[mutant.name for mutant in choose(files, 1, first, 40)] for first in (0, 40, 80)]
    assert [name for part in parts for name in part] == whole
    assert [mutant.name for mutant in choose(files, 2)] != whole


def test_the_order_stays_where_mutants_come_and_go() -> None:
    files = GROUPS["systems/tagging"].modules
    names = [mutant.name for mutant in in_order(files, 1)]
    some = [mutant.name for mutant in in_order(files[:1], 1)]
    assert some == [name for name in names if name in set(some)]


def test_an_undone_mutant_is_the_module() -> None:
    mutant = next(iter(mutants("a.py", "def f(a):\n    return a + 1\n")))
    assert "a + 1" in ast.unparse(mutant.undone().tree())
    assert mutant.name in mutant.undone().name != mutant.name
