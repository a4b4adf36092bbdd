"""The formats of output by their names."""

from __future__ import annotations

from ....errors import ConfigError
from .base import Writer
from .docs import DocWriter
from .json_lines import GzipJsonWriter, JsonWriter
from .parquet import ParquetWriter

FORMATS: dict[str, type[Writer]] = {
    "jsonl": JsonWriter,
    "jsonl.gz": GzipJsonWriter,
    "spacy": DocWriter,
    "parquet": ParquetWriter,
}


def writer_of(name: str) -> type[Writer]:
    """Raises `ConfigError` for a format that there is not."""
    if name not in FORMATS:
        raise ConfigError(f"There is no format '{name}'. The formats are {', '.join(FORMATS)}.")
    return FORMATS[name]
