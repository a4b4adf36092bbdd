"""What rooms offer to the core, by entry points; without a room, nothing of it is offered."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

GROUP = "spacy_cascade_kernels"
"""Group of entry points, by what they make faster: `chain`, `unit_scores`, `objective`, …"""


@cache
def offered(name: str) -> Any | None:
    """What the entry point of this name gives; None where no room has one."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    return points[name].load() if name in points else None
