"""What an engine of workers is, and which there are: entry points of this package and others.

A new engine is a class in a file of its own, and a line in the group `spacy_cascade_engines`.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Protocol

from ...errors import ConfigError
from .messages import Answer, Question
from .shards import Shard

GROUP = "spacy_cascade_engines"
"""Group of entry points, one for each engine."""


class Team(Protocol):
    """Workers, one for each shard. Who loses a team loses its workers: it ends them by itself."""

    def ask(self, question: Question) -> list[Answer]:
        """The answers of all workers, in the order of the shards; valid until the next question.

        A worker that dies is made again from its shard, and asked again. Raises the error of a
        worker as an error of this package; then, and with Ctrl-C, all workers are ended. The next
        question starts them again.
        """


class Engine(Protocol):
    """Where workers run; made without arguments."""

    def start(self, shards: Iterable[Shard]) -> Team:
        """A worker for each shard. Raises `ConfigError` where the engine is not installed."""


def engine_named(name: str) -> Engine:
    """Raises `ConfigError` for a name that no engine has."""
    known = {point.name: point for point in entry_points(group=GROUP)}
    if name not in known:
        names = " or ".join(f'"{one}"' for one in sorted(known))
        raise ConfigError(
            f"There is no engine {name!r} for workers. Set engine = {names} in the [trainer] block."
        )
    engine: Engine = known[name].load()()
    return engine
