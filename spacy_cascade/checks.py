"""Checks of settings that several blocks of a config have."""

from __future__ import annotations

from .errors import ConfigError

_LARGEST = 1e100
"""Of settings; their squares, and one over them, are still numbers."""
_SHOWN = 100
"""Characters of what is no number."""


def check_numbers(block: str, **settings: float) -> None:
    """Raise `ConfigError` for settings of a block that are no numbers, or beyond all floats.

    spaCy makes a block that stands in place of a number, and takes what is made for one.
    """
    for name, value in settings.items():
        is_number = isinstance(value, float) or (isinstance(value, int) and abs(value) <= _LARGEST)
        if not is_number:
            raise ConfigError(
                f"{name} must be a number, not {repr(value)[:_SHOWN]}. Change it in the [{block}] "
                "block."
            )


def check_positive(block: str, **settings: float) -> None:
    """Raise `ConfigError` for settings of a block that are no finite numbers above 0."""
    check_numbers(block, **settings)
    for name, value in settings.items():
        if not 1 / _LARGEST <= value <= _LARGEST:
            raise ConfigError(
                f"{name} must be a finite number above 0 (from {1 / _LARGEST:g} to "
                f"{_LARGEST:g}), not {value}. Change it in the [{block}] block."
            )


_MOST = 2**32 - 1
"""Of counts and seeds, as elsewhere in spaCy and NumPy."""


def check_counts(block: str, **settings: int) -> None:
    """Raise `ConfigError` for settings of a block that are below 0 or too large for kernels."""
    check_numbers(block, **settings)
    for name, value in settings.items():
        if not 0 <= value <= _MOST:
            raise ConfigError(
                f"{name} must be a number from 0 to {_MOST:,}, not {value}. Change it in the "
                f"[{block}] block."
            )
