"""All targets: readers of input that strangers may have made.

A target takes bytes and returns, or raises an error of the package. Anything else is a defect.
"""

from __future__ import annotations

from functools import cache

from tests.fuzzing.of_configs import CONFIGS
from tests.fuzzing.of_endpoints import ENDPOINTS
from tests.fuzzing.of_formats import format_targets
from tests.fuzzing.of_loaders import LOADERS
from tests.fuzzing.target import Fuzzed


@cache
def targets() -> dict[str, Fuzzed]:
    """By their names; formats come from the registry."""
    return {**LOADERS, **ENDPOINTS, **CONFIGS, **format_targets()}
