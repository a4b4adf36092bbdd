"""The set of spans without overlap that has the greatest expected F1.

F1 of a set `S` is `2·(right spans in S) / (|S| + gold spans)`. Over a corpus its expectation is
close to the ratio of the expectations, where `p_i` is the posterior of span `i`, and `N` the
expected number of gold spans:

    F(S) = 2 Σ_{i in S} p_i / (|S| + N)

The best set has the largest sum of gains `p_i - F*/2`, with `F* = max F(S)` (Lipton, Elkan and
Narayanaswamy 2014, Optimal Thresholding of Classifiers to Maximize F1 Measure). `F*` is the fixed
point of Dinkelbach's iteration (1967, On Nonlinear Fractional Programming). (docs/method.md,
section 6.7)
"""

from __future__ import annotations

from typing import NamedTuple

from ...types import Bools1d, Floats1d, Pointers1d
from .placing import choose_disjoint

_SMALLEST_STEP = 1e-12


class Choice(NamedTuple):
    """The set with the greatest expected F1.

    chosen: bool `[P]`. f1: its expected F1. The set has the largest sum of gains over `threshold`.
    """

    chosen: Bools1d
    f1: float

    @property
    def threshold(self) -> float:
        """The least probability that is kept."""
        return self.f1 / 2


def most_expected_f1(
    start: Pointers1d, end: Pointers1d, posteriors: Floats1d, n_expected: float
) -> Choice:
    """Choose among spans `[P]` of a corpus, as if its Docs were one.

    n_expected: expected number of gold spans, above 0; at least that of the spans given, for a
    span that is not among them may be gold as well.
    """
    f1 = 0.0
    while True:
        # Each set is better than the one before, so that none comes twice.
        chosen = choose_disjoint(start, end, posteriors - f1 / 2)
        found = 2 * float(posteriors[chosen].sum()) / (int(chosen.sum()) + n_expected)
        if found <= f1 + _SMALLEST_STEP:
            return Choice(chosen, max(f1, found))
        f1 = found
