"""Settings at the ends of what they may be, and beyond."""

from __future__ import annotations

import math
import re

import pytest

from spacy_cascade.checks import check_counts, check_positive
from spacy_cascade.errors import ConfigError


def test_what_is_in_range_is_accepted() -> None:
    check_positive("penalty", sigma=1e-100, kappa=1e100, miss=1)
    check_counts("trainer", seed=0, parts=2**32 - 1)
    check_counts("trainer")


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, -math.inf, 1.1e100, 0.9e-100])
def test_numbers_out_of_range_are_named(value: float) -> None:
    """Also behind others that are in range."""
    message = (
        f"sigma must be a finite number above 0 (from 1e-100 to 1e+100), not {value}. "
        "Change it in the [penalty] block."
    )
    with pytest.raises(ConfigError, match=re.escape(message)):
        check_positive("penalty", kappa=1.0, sigma=value)


@pytest.mark.parametrize("value", [-1, 2**32, math.nan])
def test_counts_out_of_range_are_named(value: int) -> None:
    with pytest.raises(ConfigError, match=rf"seed .* 0 to 4,294,967,295, not {value}.*\[trainer\]"):
        check_counts("trainer", parts=1, seed=value)
