"""Entry points by group: catalogue looks at all of them whenever it is asked for a name.

That takes a seventh of the time of tests, which make hundreds of pipelines.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata

import catalogue


class EntryPoints:
    """What catalogue asks; those of a group are listed once."""

    @staticmethod
    @cache
    def select(group: str) -> list[metadata.EntryPoint]:
        return list(metadata.entry_points(group=group))


def list_once() -> None:
    catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints
