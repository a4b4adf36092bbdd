"""Libraries that only some functions need, and that are installed by an extra of this package."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import ConfigError


def library(module: str, extra: str, purpose: str, otherwise: str = "") -> Any:
    """A module of an extra. Raises `ConfigError`, which names the extra, if it is not installed.

    purpose: what needs it, as the subject of a sentence. otherwise: what else can be done, with
    which that sentence ends.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{purpose} needs {module.partition('.')[0]}, which is not installed. Install it with "
            f'pip install "spacy-cascade[{extra}]"{otherwise}.'
        ) from error
