"""The attribute `cluster(NAME)`: the clusters of the word in a table of words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import TemplateError
from ...features.attributes import Attribute, Options, WordAttribute, Words, chosen, numbers
from ...features.resources import ResourceSpec
from ...types import Keys1d
from .sources import table_of
from .table import MOST_SIZES, values_of


class Cluster(WordAttribute):
    """`cluster(NAME)`: the word's cluster at each size of a table; `cluster(NAME, 2)`: at one.

    Sizes are numbered from 1, the coarsest. A table with fewer sizes has no values at the others.
    """

    def __init__(self, name: str, table: str, source: Any, size: int) -> None:
        kind, settings = table_of(source)
        super().__init__(f"{name}({table}, {size})", ResourceSpec(kind, "words", table, settings))
        self._size = size - 1

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        table, comma, given = (part.strip() for part in (argument or "").partition(","))
        sizes = numbers(given) if comma else range(1, MOST_SIZES + 1)
        if min(sizes) < 1 or max(sizes) > MOST_SIZES:
            raise TemplateError(f"sizes of clusters are numbered from 1 to {MOST_SIZES}.")
        tables = chosen(table, "table of words", options.words, "words")
        return [cls(name, each, options.words[each], size) for each in tables for size in sizes]

    def values(self, words: Words, resource: Any) -> Keys1d:
        assert words.codes is not None
        return values_of(words.codes, self._size)

    def describe(self, text: str, code: int, resource: Any) -> str | None:
        described: str | None = resource.describe(code, self._size)
        return described
