"""Names that keep working until release 1.0."""

from __future__ import annotations

import warnings


def warn_renamed(old: str, new: str, where: str = "") -> None:
    """Warn that something has a new name; where: what to change, such as a template."""
    place = f" in {where}" if where else ""
    warnings.warn(
        f"{old}{place} is called {new} since release 0.3. The old name will go with release 1.0.",
        FutureWarning,
        stacklevel=3,
    )
