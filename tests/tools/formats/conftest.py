"""Commands that make a pipeline for each run make it quickly."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _quick(quick_english: None) -> None: ...
