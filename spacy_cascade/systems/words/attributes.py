"""Attributes of the word that tables of words give: `cluster(NAME)` and `vector(NAME)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ...errors import TemplateError
from ...features.attributes import Attribute, Options, WordAttribute, Words, chosen, numbers
from ...features.resources import ResourceSpec
from ...types import Keys1d
from .clusters import WordClusters
from .codes import VectorCodes
from .table import WordTable


class InTable(WordAttribute):
    """`NAME(TABLE)`, or `NAME(TABLE, n)`: the group of a word in a table, at a grain of n bits."""

    kind: ClassVar[type[WordTable]]
    noun: ClassVar[str]
    """What a table is called; its plural is the option that names the tables."""

    def __init__(self, name: str, table: str, settings: Any, bits: int | None) -> None:
        argument = table if bits is None else f"{table}, {bits}"
        super().__init__(f"{name}({argument})", ResourceSpec(self.kind, name, table, settings))
        self._bits = bits

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        table, comma, bits = (part.strip() for part in (argument or "").partition(","))
        grains: Iterable[int | None] = numbers(bits) if comma else [None]
        if comma and min(numbers(bits)) < 1:
            raise TemplateError("a grain has 1 bit or more.")
        tables, found = getattr(options, f"{cls.noun}s"), []
        for each in chosen(table, cls.noun, tables):
            settings = cls.kind.settings_from(tables[each])
            for grain in grains:
                cls.kind.check_grain(settings, each, grain)
                found.append(cls(name, each, settings, grain))
        return found

    def values(self, words: Words, resource: Any) -> Keys1d:
        found: Keys1d = resource.group_values(self._bits)[words.codes]
        return found

    def describe(self, text: str, code: int, resource: Any) -> str | None:
        described: str | None = resource.describe(code, self._bits)
        return described


class Cluster(InTable):
    """`cluster(NAME)`, or `cluster(NAME, n)`: the path to a word's cluster, or its first n bits."""

    kind, noun = WordClusters, "cluster"


class VectorCode(InTable):
    """`vector(NAME)`, or `vector(NAME, n)`: the cluster of a word's vector, or its group of n bits.

    A value is the number of the group, from 1.
    """

    kind, noun = VectorCodes, "vector"
