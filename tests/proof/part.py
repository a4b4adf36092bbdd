"""What a part of the proof is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Came = dict[str, Any]
"""What came of an item, as JSON has it."""
FAILED = "failed"
"""The key of what tests say that fail. They may be mended, so the item is tried again."""


class Row(NamedTuple):
    """A row of the page: what was tried, what came of it, and whether that is not as promised."""

    tried: str
    found: str
    is_gap: bool = False


@dataclass(frozen=True)
class Tried:
    """What to try with, and where.

    folder: of this part alone, kept until the proof is run on other code; an item may leave there
    what it needs to go on. is_short: as in the gate, in minutes. code: a digest of what is proved.
    """

    folder: Path
    is_short: bool
    code: str = ""


class Part(ABC):
    """A part of the proof, which is a list of items that are tried one after the other.

    A proof that is stopped goes on with the item that it was stopped in.
    """

    title: str
    """The heading on the page."""
    says: str
    """What is tried, and what should come of it: a paragraph of the page."""
    installs = False
    """Whether it installs the package, so that the lowest releases of what it requires matter."""

    @abstractmethod
    def items(self, tried: Tried) -> Sequence[str]:
        """What is tried, by names that are the same in every process."""

    @abstractmethod
    def attempt(self, item: str, tried: Tried) -> Came:
        """Try an item.

        What is not as promised is kept in the result, and shown by a row; an error that is raised
        ends the part.
        """

    @abstractmethod
    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        """The rows of the page; came: of each item."""

    def summary(self, came: Mapping[str, Came]) -> str:
        """What came of all items, in a line of the page."""
        rows = self.rows(came)
        gaps = sum(row.is_gap for row in rows)
        return f"{len(rows) - gaps} of {len(rows)} as promised"

    def listed(self, came: Mapping[str, Came]) -> list[str]:
        """What is too long for the page: the file of results keeps it."""
        return []
