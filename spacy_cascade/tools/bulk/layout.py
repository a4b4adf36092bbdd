"""What the shards of a run look like, whatever their format."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .sources.base import Names


@dataclass(frozen=True)
class Layout:
    """Format and columns of the output.

    format: a key of `writers.formats.FORMATS`. names: columns of texts, ids and results.
    keeps_text: whether the texts are written again. spans_key: the results are the spans of that
    group instead of `doc.ents`.
    """

    format: str = "jsonl"
    names: Names = field(default_factory=Names)
    keeps_text: bool = True
    spans_key: str | None = None

    def described(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)
