"""Examples that `update` was given: those that a fit learns from, and those that are collected.

An example is known by the words of its reference, since loops make new objects in every pass. What
is annotated may change: a user corrects a reference, an earlier component finds other spans. So
what a component reads of an example is kept as a number, which is quick to compare. The objects
here stay behind when a component is pickled or copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Any
from zlib import crc32

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH, POS, SENT_START, TAG
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger

from ..features.space import FeatureSpace
from .corpus import CorpusBlocks, GetExamples
from .spans.groups import table_of_group

_SHARE_AGAIN = 10
"""A new pass has begun when a tenth of all collected examples have come again in a row."""
_GROWTH = 2
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
            gold: Any = list(self.gold)  # as spaCy takes attributes
            seen: Any = list(self.seen)
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
    listed: Any = list(attributes)
    values: Any = doc.to_array(listed) if attributes else b""
    found = checksum(values, begin)
    for key in sorted(doc.spans) if keys is None else keys:
        group = doc.spans.get(key)
        found = checksum(key.encode(), found)
        if group is not None:
            table = table_of_group(group)
            columns: Any = np.concatenate([table.start, table.end, table.label.view(np.int64)])
            found = checksum(columns, found)
    return found


class Change(Enum):
    """What examples are to a corpus that was encoded before."""

    NONE = "the same"
    ANNOTATION = "the same words, other annotation"
    EXAMPLES = "other examples"


class _LeftBehind:
    """What a copy of a component begins without."""

    def __reduce__(self) -> tuple[type[Any], tuple[()]]:
        return type(self), ()


def _no_sums(examples: Sequence[Example]) -> Sequence[int]:
    return [0] * len(examples)


class Corpus(_LeftBehind):
    """The whole corpus that a fit learns from: what was read of its examples.

    sums: gives a number for what is read of each example (`Reads.sums`). partners: components
    that the fit trains, too. references: those of the examples.
    """

    def __init__(
        self,
        examples: Sequence[Example] = (),
        sums: Callable[[Sequence[Example]], Sequence[int]] = _no_sums,
        partners: Sequence[Any] = (),
    ) -> None:
        self._sums_read, self.partners = sums, partners
        # They are known by their addresses, so they must not be freed.
        self.references = [example.reference for example in examples]
        self._sums = self._sums_of(examples)

    def __len__(self) -> int:
        return len(self.references)

    def change(self, examples: Sequence[Example]) -> Change:
        """What there is to encode anew for these examples, whatever their order."""
        sums = self._sums_of(examples)
        if sums.keys() == self._sums.keys():
            return Change.NONE if sums == self._sums else Change.ANNOTATION
        now = _by_words([example.reference for example in examples], sums)
        before = _by_words(self.references, self._sums)
        if [words for words, _ in now] != [words for words, _ in before]:
            return Change.EXAMPLES
        if now != before:
            return Change.ANNOTATION
        self.references, self._sums = [example.reference for example in examples], sums
        return Change.NONE

    def _sums_of(self, examples: Sequence[Example]) -> dict[int, int]:
        references = (id(example.reference) for example in examples)
        return dict(zip(references, self._sums_read(examples), strict=True)) if examples else {}


def _by_words(references: Iterable[Doc], sums: Mapping[int, int]) -> list[tuple[int, int]]:
    return sorted((words_of(reference), sums[id(reference)]) for reference in references)


class Seen(_LeftBehind):
    """What an online trainer has learnt from: words and gold annotation of examples, as numbers."""

    def __init__(self) -> None:
        self._sums: set[tuple[int, int]] = set()

    def __len__(self) -> int:
        return len(self._sums)

    def new(self, examples: Iterable[Example], gold_sum: Callable[[Doc], int]) -> list[Example]:
        """Those that had other words or another annotation before; they are known from now on."""
        found = []
        for example in examples:
            key = words_of(example.reference), gold_sum(example.reference)
            if key not in self._sums:
                self._sums.add(key)
                found.append(example)
        return found


class Parts(_LeftBehind):
    """Parts of a corpus, collected until they are what a trainer learns from at once.

    repeated: how often words occur in the corpus, of those that occur more than once.
    """

    def __init__(self, repeated: Mapping[int, int] = MappingProxyType({})) -> None:
        self._repeated = repeated
        self._known: dict[tuple[int, int], Example] = {}
        self._has_told = False
        self._begin_pass()

    def _begin_pass(self) -> None:
        self._pending: dict[tuple[int, int], Example] = {}
        self._references: set[int] = set()
        self._times: Counter[int] = Counter()

    def collect(self, examples: Sequence[Example], n_whole: int | None, name: str) -> list[Example]:
        """What to learn from now; nothing while parts are missing.

        n_whole: number of examples of the whole corpus, None where that is not known: then each
        part is a whole. The corpus is complete with so many examples. If one comes again before, a
        new pass has begun: the corpus is all examples that have come so far. name: of the
        component, to say once in the log that it collects.
        """
        if n_whole is None or len(examples) >= n_whole:
            self._known = {}
            self._begin_pass()
            return list(examples)
        if not self._has_told:
            self._has_told = True
            logger.info(
                "'%s' was given %d of %d examples. It collects parts and learns from all of them, "
                "once in every pass. [training] max_steps, patience and eval_frequency count "
                'parts; with @batchers = "spacy_cascade.WholeCorpus.v1" they count passes.',
                name, len(examples), n_whole,
            )  # fmt: skip
        words = [words_of(example.reference) for example in examples]
        complete: list[Example] = []
        if self._is_new_pass(examples, words):
            complete = list(self._known.values())
            self._begin_pass()
        for example, word in zip(examples, words, strict=True):
            key = word, self._times[word]
            self._times[word] += 1
            self._references.add(id(example.reference))
            self._pending[key] = self._known[key] = example
        if not complete and len(self._pending) >= n_whole:
            complete, self._known = list(self._pending.values()), {}
            self._begin_pass()
        return complete

    def _is_new_pass(self, examples: Sequence[Example], words: Sequence[int]) -> bool:
        """Whether an example comes again: the same object, or its words too often."""
        if any(id(example.reference) in self._references for example in examples):
            return True
        times = self._times + Counter(words)
        return any(self._times[w] and times[w] > self._repeated.get(w, 1) for w in set(words))


class Awaited(_LeftBehind):
    """Examples of `update` for a component whose `initialize` was given none.

    labels: those that `initialize` was given. n_made: of how many examples the model was made.
    """

    def __init__(self, labels: Sequence[str] | None = None) -> None:
        self.labels, self.n_made = labels, 0
        self._examples: dict[int, Example] = {}
        self._n_again = 0

    @property
    def examples(self) -> list[Example]:
        """All that have come, each as it came last."""
        return list(self._examples.values())

    def add(self, examples: Iterable[Example]) -> None:
        """Collect examples of an update."""
        for example in examples:
            words = words_of(example.reference)
            self._n_again = self._n_again + 1 if words in self._examples else 0
            self._examples[words] = example

    @property
    def is_complete(self) -> bool:
        """Whether there are new examples, and the next pass has begun."""
        n = len(self._examples)
        return n > self.n_made and self._n_again * _SHARE_AGAIN >= n

    @property
    def is_needed(self) -> bool:
        """Whether a model that is used now would know less than half of the examples."""
        return len(self._examples) > 0 and len(self._examples) >= _GROWTH * self.n_made


class CorpusReader(_LeftBehind):
    """The reader that `initialize` was given, if any.

    read: gives all examples of the corpus anew; None where there is no reader. kept: what
    `initialize` has read of them, a block for each shard, until training has encoded it.
    """

    def __init__(self, read: GetExamples | None = None) -> None:
        self.read = read
        self.kept: CorpusBlocks[Any] | None = None
