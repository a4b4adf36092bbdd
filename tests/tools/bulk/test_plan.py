"""How large the parts of a run are."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spacy_cascade.tools.bulk.plan import make_plan
from spacy_cascade.tools.bulk.sources.base import Range
from spacy_cascade.tools.bulk.writers import Layout


@pytest.mark.parametrize(
    ("format", "given", "size", "expected"),
    [
        ("jsonl", None, 10, 2_000_000),
        ("jsonl", None, 2_560_000_000, 10_000_000),
        ("jsonl", None, 100_000_000_000, 32_000_000),
        ("spacy", None, 2_000_000_000, 7_812_500),
        ("spacy", None, 2_560_000_000, 8_000_000),
        ("spacy", 9, 2_560_000_000, 9),
    ],
)
def test_256_shards_unless_they_are_too_small_or_too_large(
    tmp_path: Path, format: str, given: int | None, size: int, expected: int
) -> None:
    """A shard of Docs is in memory until it is complete."""
    wanted: list[int] = []

    def ranges(size: int) -> list[Range]:
        wanted.append(size)
        return [Range(0, 1, 0, size), Range(1, 1, 0, size)]

    sources: list[Any] = []
    for i in range(2):
        path = tmp_path / str(i)
        with path.open("wb") as file:
            file.truncate(size // 2)
        sources.append(SimpleNamespace(path=path, columns=dict, ranges=ranges))
    plan = make_plan({}, sources, Layout(format), given)
    assert wanted == [expected, expected]
    assert [(shard.number, shard.source, shard.name) for shard in plan.shards] == [
        (0, 0, "part-000000"), (1, 0, "part-000001"), (2, 1, "part-000002"), (3, 1, "part-000003"),
    ]  # fmt: skip
    assert plan.size == 4 * expected
