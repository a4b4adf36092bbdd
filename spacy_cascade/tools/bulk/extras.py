"""Libraries that only some files and engines need."""

from __future__ import annotations

from typing import Any

from ...extras import library


def arrow(purpose: str = "Parquet") -> Any:
    """The module `pyarrow`."""
    return library("pyarrow", "parquet", purpose)


def parquet() -> Any:
    """The module `pyarrow.parquet`."""
    return library("pyarrow.parquet", "parquet", "Parquet")
