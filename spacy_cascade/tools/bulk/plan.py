"""The plan of a run: which records make which shard, by which pipeline, with which options."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import spacy

from ..._version import __version__
from ...errors import ConfigError, CorpusError
from ...files import replace_file
from .annotator import Annotator
from .extras import arrow
from .sources.base import Range, Source, state_of
from .writers import Layout, check_names, schema_of, writer_of

FORMAT = 1
_SMALLEST_SHARD = 2_000_000
_SHARDS = 256
"""As many are made unless they would be too small or too large."""


class Shard(NamedTuple):
    """Records that one process reads, annotates and writes. source: place in the list of them."""

    number: int
    source: int
    records: Range

    @property
    def name(self) -> str:
        """Name of the file without its suffix; names sort as the records stand in the input."""
        return f"part-{self.number:06}"


@dataclass(frozen=True)
class Plan:
    """All shards of a run.

    header: what the results depend on, as JSON has it: pipeline, releases, options, files.
    schema: of Parquet output, an Arrow schema.
    """

    header: dict[str, Any]
    shards: list[Shard]
    schema: Any

    @property
    def size(self) -> int:
        """Bytes of the input, about."""
        return sum(shard.records.size for shard in self.shards)

    def save(self, path: Path) -> None:
        """Write it into the folder of the run."""
        schema = None if self.schema is None else self.schema.serialize().to_pybytes()
        data = {
            "format": FORMAT,
            **self.header,
            "schema": schema and base64.b64encode(schema).decode(),
            "columns_of_shards": ["source", *Range._fields],
            "shards": [[shard.source, *shard.records] for shard in self.shards],
        }
        replace_file(path, json.dumps(data, ensure_ascii=False).encode("utf8", "backslashreplace"))

    @classmethod
    def load(cls, path: Path) -> Plan:
        """A plan of an earlier run. Raises `CorpusError` if the file is damaged."""
        try:
            data = json.loads(path.read_text(encoding="utf8"))
            header, found, packed = _header_in(data), data["format"], data["schema"]
            shards = [
                Shard(number, range(len(header["files"]))[int(source)], Range(*map(int, records)))
                for number, (source, *records) in enumerate(data["shards"])
            ]
        except _DAMAGES as error:
            raise _damaged(path, error) from error
        if found != FORMAT:
            raise CorpusError(
                f"{path} has the format {found}, which this release does not know. Go on with the "
                "release that began, or begin anew with --force."
            )
        return cls(header, shards, packed and _unpacked(packed, path))


_DAMAGES = OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError


def _header_in(data: Any) -> dict[str, Any]:
    """What `header_of` wrote."""
    pipeline = data["pipeline"]
    return {
        "pipeline": {name: str(pipeline[name]) for name in ("path", "fingerprint")},
        "releases": dict(data["releases"]),
        "options": dict(data["options"]),
        "files": [
            [str(path), str(name), int(size), int(changed)]
            for path, name, size, changed in data["files"]
        ],
    }


def _unpacked(packed: Any, path: Path) -> Any:
    pa = arrow()
    try:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(packed)))
    except _DAMAGES as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> CorpusError:
    return CorpusError(f"{path} is no manifest of this command: {error}. Begin anew with --force.")


def header_of(
    annotator: Annotator, sources: Sequence[Source], layout: Layout, size: int | None
) -> dict[str, Any]:
    """What the results depend on. size: bytes of a shard, None for a choice by the input."""
    return {
        "pipeline": {"path": annotator.path, "fingerprint": annotator.fingerprint},
        "releases": {"spacy_cascade": __version__, "spacy": spacy.about.__version__},
        "options": {**layout.described(), "shard_size": size},
        "files": [[str(one.path), one.name, *state_of(one.path)] for one in sources],
    }


def make_plan(
    header: dict[str, Any], sources: Sequence[Source], layout: Layout, size: int | None
) -> Plan:
    """Read the input once, and divide it. The processes that will work do not matter.

    Raises `CorpusError` for a file that is damaged or has no texts.
    """
    check_names(sources, layout)
    schema = schema_of(sources, layout) if layout.format == "parquet" else None
    size = size or _shard_size(sources, layout)
    ranges = [(number, one) for number, source in enumerate(sources) for one in source.ranges(size)]
    shards = [Shard(i, number, one) for i, (number, one) in enumerate(ranges)]
    return Plan(header, shards, schema)


def _shard_size(sources: Sequence[Source], layout: Layout) -> int:
    total = sum(source.path.stat().st_size for source in sources)
    return min(writer_of(layout.format).largest_shard, max(_SMALLEST_SHARD, total // _SHARDS))


def check_same(saved: dict[str, Any], now: dict[str, Any], output: Path) -> None:
    """Raise `ConfigError` if a run that was stopped would go on with something else."""
    anew = "Begin anew with --force, or write to another folder."
    where = f"{output} has results of another run"
    if saved["pipeline"]["fingerprint"] != now["pipeline"]["fingerprint"]:
        raise ConfigError(
            f"{where}: its pipeline, {saved['pipeline']['path']}, was not what "
            f"{now['pipeline']['path']} is now. {anew}"
        )
    for part in ("releases", "options"):
        for name, value in now[part].items():
            if saved[part].get(name) != value:
                shown = f"{name} was {saved[part].get(name)!r}, and is {value!r} now"
                raise ConfigError(f"{where}: {shown}. {anew}")
    before = {path: state for path, *state in saved["files"]}
    after = {path: state for path, *state in now["files"]}
    for path in [*before, *after]:
        if path not in after or path not in before:
            what = "missing" if path not in after else "new"
            raise ConfigError(f"{where}: the input {path} is {what}. {anew}")
        if before[path] != after[path]:
            raise ConfigError(f"{where}: the input {path} has changed since. {anew}")
