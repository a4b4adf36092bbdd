"""Libraries that only some files and engines need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import ConfigError


def library(module: str, extra: str, purpose: str) -> Any:
    """A module of an extra. Raises `ConfigError`, which names the extra, if it is not installed.

    purpose: what needs it, as the subject of a sentence.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{purpose} needs {module.partition('.')[0]}, which is not installed. Install it with "
            f'pip install "spacy-cascade[{extra}]".'
        ) from error


def arrow(purpose: str = "Parquet") -> Any:
    """The module `pyarrow`."""
    return library("pyarrow", "parquet", purpose)


def parquet() -> Any:
    """The module `pyarrow.parquet`."""
    return library("pyarrow.parquet", "parquet", "Parquet")
