"""What stands under `words` of a template set: a file, or tables that come with the package."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from spacy.util import registry

from ...errors import ModelFileError, TemplateError
from ...features.resources import Tokenize
from ...features.template_sets import tables_of
from ...numeric.arrays import Array, Arrays, Shapes
from .files import read_table
from .table import WordTable

FOLDER = Path(__file__).with_name("english")
ENGLISH = ("glove", "pieces")


@dataclass(frozen=True)
class Included:
    """A table that comes with the package, by its name."""

    name: str

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.words"


def make_english() -> dict[str, Included]:
    """What is known of English words; registered as `spacy_cascade.English.v1`.

    Two tables: clusters of GloVe's words, and clusters of vectors that every word has by its
    pieces. They are read once in a process. A saved pipeline has their checksums only, for the
    package has the tables.
    """
    return {name: Included(name) for name in ENGLISH}


class IncludedTable(WordTable):
    """A table of the package. A model has its checksum only."""

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize = str.split) -> IncludedTable:
        return _included(settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return _included, (self.settings,)

    def __deepcopy__(self, memo: object) -> IncludedTable:
        return self

    # Model files

    def arrays(self) -> Arrays:
        return {"checksum": _checksum(self.settings)}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        return {"checksum": ((hashlib.sha256().digest_size,), "u1")}

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        """Any bytes may be a checksum."""

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> IncludedTable:
        """Raises `ModelFileError` where the package has another table than training had."""
        if arrays["checksum"].tobytes() != _checksum(settings).tobytes():
            raise ModelFileError(
                f"The model was trained with another table of words '{settings.name}' than the one "
                "that is installed. Install the version of spacy-cascade that the meta of the "
                "pipeline names, or train it again."
            )
        return _included(settings)


@cache
def _included(source: Included) -> IncludedTable:
    return IncludedTable(source, read_table(source.name, str(source.path)).arrays())


@cache
def _checksum(source: Included) -> Array:
    return np.frombuffer(hashlib.sha256(source.path.read_bytes()).digest(), dtype=np.uint8)


class TableOfFile(WordTable):
    """A table of the file that its settings name. A model has all of it."""

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize = str.split) -> TableOfFile:
        return cls(settings, read_table(name, settings).arrays())


def table_of(source: Any) -> tuple[type[IncludedTable] | type[TableOfFile], Any]:
    """The kind of a table and its settings. Raises `TemplateError` for what names no table."""
    if isinstance(source, Included):
        return IncludedTable, source
    if isinstance(source, str | Path):
        return TableOfFile, str(source)
    raise TemplateError(
        "what stands under 'words' is the path of a file, or spacy_cascade.English.v1, not "
        f"{source!r}."
    )


def read_tables(words: Mapping[str, Any]) -> dict[str, WordTable]:
    """The tables of what stands under `words` of a config, not resolved yet, by their names."""
    resolved = registry.resolve({"words": dict(words)})["words"]
    found: dict[str, WordTable] = {}
    for name, source in tables_of(resolved).items():
        kind, settings = table_of(source)
        found[name] = kind.read(name, settings)
    return found
