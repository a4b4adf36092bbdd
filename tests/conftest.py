"""What all tests share: one random generator a test, and Hypothesis without surprises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "package",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("package")


@pytest.fixture
def generator() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(1)
