"""Formats by their names: entry points of this package and of others."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from ....errors import ConfigError, CorpusError
from ..docs import files_in
from .base import AnyFormat
from .columns import Columns
from .json_lines import PlainTexts
from .source import Source
from .unread import refuse_unread

AUTO = "auto"
GROUP = "spacy_cascade_formats"
"""Group of entry points, one for each format."""


@cache
def formats() -> dict[str, AnyFormat]:
    """All formats by their names, in the order of the names."""
    found = {point.name: point.load()() for point in entry_points(group=GROUP)}
    return dict(sorted(found.items()))


def format_named(name: str) -> AnyFormat:
    """Raises `ConfigError` for a name that no format has."""
    if name not in formats():
        known = ", ".join(formats())
        raise ConfigError(f"There is no format {name!r}. Choose one of: {known}.")
    return formats()[name]


def recognised(source: Source) -> AnyFormat:
    """The format of a file or folder, by its content; column files and plain texts are left.

    Raises `CorpusError` for JSON, XML and folders that no format recognises, for what two do, and
    for what is known to be a format that cannot be read.
    """
    found = [one for one in formats().values() if one.recognises(source)]
    if len(found) == 1:
        return found[0]
    names = " or ".join(one.name for one in found)
    if found:
        raise CorpusError(f"{source.path} may be {names}. Say which by --format.")
    refuse_unread(source)
    if isinstance(source.first.get("text"), str) and not any(map(_is_list, source.first.values())):
        return PlainTexts()
    if source.is_json or source.start.lstrip().startswith("<?xml"):
        if source.is_json:
            # What is damaged there says more than that it was not recognised.
            next(source.rows(), None)
        known = ", ".join(formats())
        raise CorpusError(
            f"{source.path}:1: none of the known formats has such content. Choose one by --format "
            f"to see what is missing: {known}."
        )
    return Columns()


def _is_list(value: object) -> bool:
    return isinstance(value, list | dict)


def find_sources(
    path: Path, name: str = AUTO, encoding: str | None = None
) -> tuple[AnyFormat, list[Source]]:
    """What to read at a path, and its format: by its name, or `AUTO` for the content.

    encoding: of the files; None for the one that a byte order mark tells, or UTF-8.

    The files of a folder have a suffix of a format, unless the folder as a whole is of one. Raises
    `CorpusError` where there is nothing to read, and where files of a folder have several formats.
    """
    given = None if name == AUTO else format_named(name)
    whole = Source(path, encoding)
    if not path.exists():
        raise CorpusError(f"{path} does not exist. Give a file, or a folder of them.")
    if not whole.is_folder or (given and given.is_folder):
        return given or recognised(whole), [whole]
    folders = [one for one in formats().values() if one.is_folder and one.recognises(whole)]
    if folders and given is None:
        return folders[0], [whole]
    readers = formats().values() if given is None else [given]
    suffixes = sorted({suffix for reader in readers for suffix in reader.suffixes})
    sources = [Source(file, encoding) for file in files_in(path, suffixes)]
    kinds = {given.name if given else recognised(source).name: source for source in sources}
    if len(kinds) > 1:
        listed = ", ".join(f"{source.path} ({kind})" for kind, source in kinds.items())
        raise CorpusError(f"The folder has files of different formats: {listed}. Give one format.")
    return format_named(next(iter(kinds))), sources
