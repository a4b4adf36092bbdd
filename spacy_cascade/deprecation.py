"""Old names that still work, with a warning, until release 1.0."""

from __future__ import annotations

import warnings


def warn_renamed(old: str, new: str, where: str = "") -> None:
    """Warn (`FutureWarning`) that something has a new name; where: what uses the old one."""
    place = f"{where}: " if where else ""
    warnings.warn(
        f"{place}'{old}' is called '{new}' since release 0.3; the old name goes with release 1.0.",
        FutureWarning,
        stacklevel=3,
    )
