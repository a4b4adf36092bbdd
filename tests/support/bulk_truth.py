"""Entities as `annotate` has to write them, read from Docs by spaCy's own attributes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

Row = dict[str, Any]


def rows_of(doc: Doc) -> list[Row]:
    return [
        {
            "start": entity.start_char,
            "end": entity.end_char,
            "label": entity.label_,
            "kb_id": entity.kb_id_ or None,
            "confidence": entity._.confidence,
        }
        for entity in doc.ents
    ]


def texts_of(n: int, texts: Iterable[str]) -> list[str]:
    """Many texts, each with the entities of one of a few."""
    kinds = list(texts)
    return [kinds[i % len(kinds)] for i in range(n)]


def json_rows(output: Path) -> list[Row]:
    """All records of a folder of JSONL shards, in their order."""
    files = sorted(output.glob("part-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def failures_in(output: Path) -> list[tuple[str, int, int]]:
    """File, first and last record of all failures."""
    lines = [
        json.loads(line)
        for file in sorted((output / "_failed").glob("*.jsonl"))
        for line in file.read_text().splitlines()
    ]
    return [(line["file"], line["first"], line["last"]) for line in lines]


def is_right(rows: Iterable[Row], truth: Mapping[str, list[Row]]) -> bool:
    """Whether the entities of all rows are those of their texts."""
    return all(row["entities"] == truth[row["text"]] for row in rows)


def contents(output: Path) -> dict[str, bytes]:
    """Bytes of all shards and failures."""
    files = [*output.glob("part-*"), *output.glob("_failed/*")]
    return {file.relative_to(output).as_posix(): file.read_bytes() for file in files}
