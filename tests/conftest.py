"""What all tests share: one random generator a test, and Hypothesis without surprises."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from spacy.language import Language

from helpers import trained_cascade

settings.register_profile(
    "package",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("package")

_PART = 20
"""Without --full tests of robustness make a twentieth of their cases."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="make all cases of the tests in tests/robustness"
    )
    parser.addoption(
        "--figures", type=Path, help="append what tests in tests/robustness measure to this file"
    )


@pytest.fixture(scope="session")
def trained() -> Language:
    """A cascade trained on `helpers.SENTENCES`; only for prediction."""
    return trained_cascade()


@pytest.fixture
def generator() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(1)


@pytest.fixture(scope="session")
def cases(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """How many cases to make of so many: all with `--full`, else a twentieth."""
    is_full = pytestconfig.getoption("--full")
    return lambda n: n if is_full else max(1, n // _PART)


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Keep a measured figure: what was tried, and what came of it, a line of JSON each."""
    file: Path | None = request.config.getoption("--figures")

    def keep(what: str, came: str) -> None:
        print(f"{what}: {came}")
        if file is not None:
            with file.open("a", encoding="utf8") as lines:
                lines.write(
                    json.dumps({"test": request.node.path.name, "what": what, "came": came}) + "\n"
                )

    return keep
