"""From the paths, folders and patterns of a command line to sources."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ....errors import CorpusError
from ....text_sources import find_sources
from .base import Names, Source
from .docs import DocSource
from .lines import JsonSource, TextSource
from .parquet import ParquetSource

_KINDS: tuple[type[Source], ...] = (TextSource, JsonSource, ParquetSource, DocSource)
SUFFIXES = tuple(suffix for kind in _KINDS for suffix in kind.suffixes)


def open_sources(inputs: Iterable[str], output: Path, names: Names) -> list[Source]:
    """Sources for all files that inputs name, in a fixed order.

    inputs: files, folders, and patterns such as `texts/**/*.jsonl`. Files in the folder of the
    output are left out. Raises `CorpusError` if an input has no file of texts.
    """
    paths = [path for text in inputs for path in _expanded(text)]
    files = [path.resolve() for path in find_sources(paths, [output], SUFFIXES)]
    return [source_of(path, name, names) for path, name in zip(files, _names(files), strict=True)]


def source_of(path: Path, name: str, names: Names) -> Source:
    """The reader for a file, by its name."""
    kinds = (kind for kind in _KINDS if path.name.lower().endswith(kind.suffixes))
    return next(kinds)(path, name, names)


def _expanded(text: str) -> list[Path]:
    if Path(text).exists() or not glob.has_magic(text):
        return [Path(text)]
    found = sorted(Path(path) for path in glob.glob(text, recursive=True))
    if not found:
        raise CorpusError(f"No file has a path like {text}. Check the pattern.")
    return found


def _names(files: Sequence[Path]) -> list[str]:
    """Paths from the folder that all files are in; whole paths if they are on several drives."""
    if len({file.drive for file in files}) > 1:
        return [file.as_posix() for file in files]
    common = Path(os.path.commonpath([file.parent for file in files]))
    return [file.relative_to(common).as_posix() for file in files]
