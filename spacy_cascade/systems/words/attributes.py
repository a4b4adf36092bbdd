"""Attributes of the word that tables of words give: `cluster(NAME)` and `vector(NAME)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import TemplateError
from ...features.attributes import Attribute, Options, WordAttribute, Words, chosen, numbers
from ...features.resources import ResourceSpec
from ...types import Keys1d
from .clusters import WordClusters, file_from
from .codes import VectorClusters, VectorCodes, clusters_from


def _name_and_bits(argument: str | None) -> tuple[str, Iterable[int | None]]:
    """The name and the grains of an argument such as `news, 4..6`; None for the finest grain."""
    name, comma, bits = (part.strip() for part in (argument or "").partition(","))
    if comma and min(numbers(bits)) < 1:
        raise TemplateError("a grain has 1 bit or more.")
    return name, numbers(bits) if comma else [None]


class Cluster(WordAttribute):
    """`cluster(NAME)`, or `cluster(NAME, n)`: the path to a word's cluster, or its first n bits."""

    def __init__(self, name: str, cluster_name: str, settings: Any, bits: int | None) -> None:
        argument = cluster_name if bits is None else f"{cluster_name}, {bits}"
        super().__init__(
            f"{name}({argument})", ResourceSpec(WordClusters, name, cluster_name, settings)
        )
        self._bits = bits

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        cluster_name, lengths = _name_and_bits(argument)
        return [
            cls(name, each, file_from(options.clusters[each]), length)
            for each in chosen(cluster_name, "cluster", options.clusters)
            for length in lengths
        ]

    def values(self, words: Words, resource: Any) -> Keys1d:
        found: Keys1d = resource.path_values(self._bits)[words.codes]
        return found

    def describe(self, text: str, code: int, resource: Any) -> str | None:
        (number,) = resource.word_codes([text]).tolist()
        if number == 0:
            return None
        path = resource.path(number - 1)[: self._bits]
        return f"{path} ({', '.join(resource.most_frequent(path))})"


class VectorCode(WordAttribute):
    """`vector(NAME)`, or `vector(NAME, n)`: the cluster of a word's vector, or its group of n bits.

    A value is the number of the group, from 1, so that it can be described without the vector.
    """

    def __init__(self, name: str, vectors: str, settings: VectorClusters, bits: int | None) -> None:
        argument = vectors if bits is None else f"{vectors}, {bits}"
        super().__init__(f"{name}({argument})", ResourceSpec(VectorCodes, name, vectors, settings))
        self._bits = settings.bits if bits is None else bits
        if self._bits > settings.bits:
            raise TemplateError(
                f"the vectors '{vectors}' have grains of 1 to {settings.bits} bits, not {bits}. "
                "Mend the template, or raise the bits under 'vectors'."
            )

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        vectors, grains = _name_and_bits(argument)
        return [
            cls(name, each, clusters_from(options.vectors[each]), bits)
            for each in chosen(vectors, "vector", options.vectors)
            for bits in grains
        ]

    def values(self, words: Words, resource: Any) -> Keys1d:
        found: Keys1d = resource.group_values(self._bits)[words.codes]
        return found

    def describe(self, text: str, code: int, resource: Any) -> str | None:
        if code == 0:
            return None
        return f"{code} ({', '.join(resource.frequent_words(code - 1, self._bits))})"
