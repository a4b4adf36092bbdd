"""Libraries that only some formats need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ....errors import ConfigError


def library(module: str, name: str) -> Any:
    """A module of the extra `formats`. Raises `ConfigError` where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"The format {name} needs {module.partition('.')[0]}, which is not installed. Install "
            'it with pip install "spacy-cascade[formats]".'
        ) from error
