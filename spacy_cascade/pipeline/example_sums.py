"""Which example one is, and what a component reads of it, as numbers that are quick to compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH, POS, SENT_START, TAG
from spacy.tokens import Doc
from spacy.training import Example

from ..features.space import FeatureSpace
from .spans.groups import table_of_group

ENTITIES = (ENT_IOB, ENT_TYPE)
"""Attributes of tokens that say which entities there are."""
checksum: Callable[..., int] = crc32
"""Of any buffer; arrays are such."""


def words_of(reference: Doc) -> int:
    """A hash of the words; it tells examples apart, whatever their annotation.

    It differs from process to process.
    """
    return hash(reference.to_array(ORTH).tobytes())


@dataclass(frozen=True)
class Reads:
    """What a component reads of an example besides its words.

    gold, seen: attributes of the tokens of the reference, and of the predicted Doc. gold_keys,
    seen_keys: keys of their span groups; None for all groups.
    """

    gold: tuple[int, ...]
    seen: tuple[int, ...]
    gold_keys: tuple[str, ...] | None = ()
    seen_keys: tuple[str, ...] | None = ()

    @classmethod
    def of(cls, space: FeatureSpace, gold: tuple[int, ...], gold_keys: tuple[str, ...]) -> Reads:
        """What a component with a space reads; gold, gold_keys: where its gold annotation is."""
        tags = (TAG, POS) if {"tags", "parts_of_speech"} & set(space.reads) else ()
        if space.span_keys:  # `as_seen` takes them from wherever they are
            return cls((*gold, *tags, *ENTITIES), (SENT_START, *tags), None, None)
        return cls((*gold, *tags), (SENT_START, *tags), gold_keys)

    def with_proposals(self, key: str | None) -> Reads:
        """Also the spans of the predicted Doc under a key, None for its entities."""
        if key is None:
            return replace(self, seen=(*self.seen, *ENTITIES))
        return self if self.seen_keys is None else replace(self, seen_keys=(*self.seen_keys, key))

    def gold_sum(self, reference: Doc) -> int:
        """A checksum of what is read of a reference, the same in every process."""
        return _sum_of(reference, self.gold, self.gold_keys, 0)

    def sums(self, examples: Sequence[Example]) -> list[int]:
        """A checksum of all that is read of each example.

        Of each example in every update, so it takes two arrays and no more where it can.
        """
        if self.gold and self.seen and self.gold_keys == self.seen_keys == ():
            gold, seen = _attributes(self.gold), _attributes(self.seen)
            return [
                checksum(each.predicted.to_array(seen), checksum(each.reference.to_array(gold)))
                for each in examples
            ]
        return [
            _sum_of(each.predicted, self.seen, self.seen_keys, self.gold_sum(each.reference))
            for each in examples
        ]


def joint_sums(components: Sequence[Reads]) -> Callable[[Sequence[Example]], list[int]]:
    """`Reads.sums` of components that are trained together."""
    if len(components) == 1:
        return components[0].sums

    def sums(examples: Sequence[Example]) -> list[int]:
        return list(map(hash, zip(*(each.sums(examples) for each in components), strict=True)))

    return sums


def _sum_of(doc: Doc, attributes: tuple[int, ...], keys: Iterable[str] | None, begin: int) -> int:
    values: Any = doc.to_array(_attributes(attributes)) if attributes else b""
    found = checksum(values, begin)
    for key in sorted(doc.spans) if keys is None else keys:
        group = doc.spans.get(key)
        found = checksum(key.encode(), found)
        if group is not None:
            table = table_of_group(group)
            columns: Any = np.concatenate([table.start, table.end, table.label.view(np.int64)])
            found = checksum(columns, found)
    return found


def _attributes(attributes: tuple[int, ...]) -> Any:
    """As spaCy takes them."""
    return list(attributes)
