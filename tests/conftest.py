"""What all tests share: one random generator a test, and Hypothesis without surprises."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from spacy.language import Language

import entry_points
import special_cases
from helpers import trained_cascade

pytest_plugins = ["crowded_tables", "figures", "sampling"]

settings.register_profile(
    "package",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("package")

entry_points.list_once()
special_cases.leave_out()

if not hasattr(os, "fork"):
    collect_ignore = [
        "mutation", "robustness", "tools/checkpoints/test_checkpoints.py",
        "tools/scale/test_sharding.py", "tools/scale/test_streams.py",
    ]  # fmt: skip
    """What copies processes, and kills the copies, cannot be tried on Windows."""

_PART = 20
"""Without --full tests of robustness make a twentieth of their cases."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="make all cases of the tests in tests/robustness"
    )


def pytest_collection_finish() -> None:
    """Modules live as long as the process: no collection of garbage looks at them again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def trained() -> Language:
    """A cascade trained on `helpers.SENTENCES`; only for prediction."""
    return trained_cascade()


@pytest.fixture
def whole_tokenizers() -> Iterator[None]:
    with special_cases.kept():
        yield


@pytest.fixture
def generator() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(1)


@pytest.fixture(scope="session")
def cases(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """How many cases to make of so many: all with `--full`, else a twentieth."""
    is_full = pytestconfig.getoption("--full")
    return lambda n: n if is_full else max(1, n // _PART)
