"""Resources: what attributes read besides the Docs, such as lexicons; counts of words are one.

A resource is made when a component is initialized, may learn from the gold annotation, and is
saved inside the model file. A loaded model therefore needs no file that a resource came from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..errors import ModelFileError, NotTrainedError
from ..numeric.arrays import Array, Arrays, Shapes
from ..numeric.index import KeyIndex
from ..types import Bools1d, Ints2d, Keys1d, Pointers1d, Pointers2d, Reals2d
from .tokens import Tokens, join_tokens

Tokenize: TypeAlias = Callable[[str], Iterable[str]]
"""Gives the tokens of a text without spaces."""
FlaggedTokens: TypeAlias = Callable[[], Iterator[tuple[Tokens, Ints2d]]]
"""Goes through a corpus in blocks of whole Docs, each time anew: tokens and their gold flags."""


class InvalidArray(ValueError):
    """An array of a saved resource is not valid.

    part: its name within the resource. problem: goes on after "The array NAME of the saved model".
    """

    def __init__(self, part: str, problem: str) -> None:
        super().__init__(part, problem)
        self.part, self.problem = part, problem


class Resource(ABC):
    """Base class of resources. Instances are not changed; methods return new ones.

    gives_codes: whether `codes` tells tokens of a word apart. gives_word_codes: whether
    `word_codes` says something of words.
    """

    gives_codes: ClassVar[bool] = False
    gives_word_codes: ClassVar[bool] = False

    @classmethod
    def empty(cls) -> Resource | None:
        """The resource before training; None where it has to be read."""
        return None

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize) -> Resource:
        """Read what the config calls `name`, by its `settings`; else raise `TemplateError`."""
        raise NotImplementedError  # one that is `empty` before training is never read

    def learn(self, tokens: Tokens, flags: Ints2d) -> Resource:
        """The resource after training tokens with gold flags (`resources.span_flags`)."""
        return self

    def learn_in_blocks(self, blocks: FlaggedTokens) -> Resource:
        """As `learn`, from a corpus that may not fit into memory; by default tokens are joined."""
        read = [] if type(self).learn is Resource.learn else list(blocks())
        if not read:
            return self
        tokens, flags = zip(*read, strict=True)
        return self.learn(join_tokens(tokens), np.concatenate(flags))

    def add(self, tokens: Tokens, flags: Ints2d) -> Resource:
        """The resource after the tokens of an adaptation."""
        return self

    def codes(self, tokens: Tokens, own_flags: Ints2d | None) -> Keys1d:
        """What the resource says of each token, uint64 `[T]`: few distinct numbers for a word.

        own_flags: gold flags of the tokens in training, else None.
        """
        raise NotImplementedError  # only resources with `gives_codes` are asked

    def word_codes(self, texts: Sequence[str]) -> Keys1d:
        """What the resource says of each word, uint64 `[n]`; asked once for each distinct word."""
        raise NotImplementedError  # only resources with `gives_word_codes` are asked

    def word_vectors(self, texts: Sequence[str]) -> Reals2d | None:
        """Vectors of words, float32 `[n, d]`, zeros where it knows none; None where it has none."""
        return None

    def source(self) -> dict[str, str]:
        """For the meta of pipelines: `name`, `url`, `author` and `license`, or nothing."""
        return {}

    def are_seen(self, lower: Keys1d) -> Bools1d | None:
        """Which words, as hashes in lower case, training had; None where it does not know."""
        return None

    @abstractmethod
    def arrays(self) -> Arrays:
        """What is saved, each array under a short name of its own."""

    @classmethod
    @abstractmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        """Shape and kind of each array that must be there, given those that are."""

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        """Raise `InvalidArray` for values that make no sense; the shapes are right."""
        del arrays

    @classmethod
    @abstractmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> Resource:
        """The resource of checked arrays."""


@dataclass(frozen=True)
class ResourceSpec:
    """A resource that an attribute needs.

    prefix: first part of the names of its arrays. name: what the config calls it, "" for a
    resource without settings. settings: what the config says about it.
    """

    kind: type[Resource]
    prefix: str
    name: str = ""
    settings: Any = None

    @property
    def key(self) -> str:
        """The resource as templates have it, such as `lexicon(genes)`."""
        return f"{self.prefix}({self.name})" if self.name else self.prefix

    def array_name(self, part: str) -> str:
        """The name of an array in the model file, such as `lexicon_keys:genes`."""
        return f"{self.prefix}_{part}:{self.name}" if self.name else f"{self.prefix}_{part}"

    def of(self, arrays: Mapping[str, Array]) -> Arrays:
        """The arrays of this resource in a model file, under their short names."""
        begin, end = self.array_name("\0").split("\0")
        return {
            full.removeprefix(begin).removesuffix(end): array
            for full, array in arrays.items()
            if full.startswith(begin) and full.endswith(end)
        }


class Resources:
    """The resources of a feature space; made: those that there are, by their keys."""

    def __init__(self, specs: Iterable[ResourceSpec | None]) -> None:
        self.specs = {spec.key: spec for spec in specs if spec is not None}
        self.coded = [key for key, spec in self.specs.items() if spec.kind.gives_codes]
        self.worded = [key for key, spec in self.specs.items() if spec.kind.gives_word_codes]
        self.made: dict[str, Resource] = {}
        self.forget()
        self.to_read = [key for key in self.specs if key not in self.made]

    def forget(self) -> None:
        """Have them as before training."""
        empty = {key: spec.kind.empty() for key, spec in self.specs.items()}
        self.made = {key: made for key, made in empty.items() if made is not None}

    def of(self, spec: ResourceSpec | None) -> Any:
        """The resource that an attribute reads, None where it reads none."""
        if spec is not None and spec.key not in self.made:
            raise NotTrainedError(
                f"'{spec.key}' has not been read yet. Train the component before you use it."
            )
        return None if spec is None else self.made[spec.key]

    def read(self, tokenize: Tokenize) -> None:
        """Read all that come from somewhere else. Raises `TemplateError` where one cannot be."""
        for key in self.to_read:
            spec = self.specs[key]
            self.made[key] = spec.kind.read(spec.name, spec.settings, tokenize)

    def learn(self, tokens: Tokens, flags: Ints2d) -> None:
        """Let each learn from training tokens; flags: `span_flags`."""
        self.learn_in_blocks(lambda: iter([(tokens, flags)]))

    def learn_in_blocks(self, blocks: FlaggedTokens) -> None:
        """As `learn`, from a corpus that may not fit into memory."""
        self.made = {key: made.learn_in_blocks(blocks) for key, made in self.made.items()}

    def add(self, tokens: Tokens, flags: Ints2d) -> None:
        """Let each learn from further tokens, too."""
        self.made = {key: made.add(tokens, flags) for key, made in self.made.items()}

    def sources(self) -> list[dict[str, str]]:
        """Where resources come from that others have made, for the meta of pipelines."""
        return [source for made in self.made.values() if (source := made.source())]

    def codes(self, tokens: Tokens, own_flags: Ints2d | None) -> list[Keys1d]:
        """The codes of tokens, uint64 `[T]` for each resource in `coded`."""
        return [self.of(self.specs[key]).codes(tokens, own_flags) for key in self.coded]

    def are_seen(self, lower: Keys1d) -> Bools1d | None:
        """Which words, uint64 `[n]` in lower case, training had; None where no resource knows."""
        answers = (made.are_seen(lower) for made in self.made.values())
        return next((seen for seen in answers if seen is not None), None)

    # Model files

    def arrays(self) -> Arrays:
        """All arrays under the names that they have in a model file."""
        return {
            self.specs[key].array_name(part): array
            for key, made in self.made.items()
            for part, array in made.arrays().items()
        }

    def shapes(self, arrays: Mapping[str, Array], is_trained: bool) -> Shapes:
        """Shape and kind of the arrays that a model file must have.

        One that was saved before training lacks those of resources that have to be read.
        """
        return {
            spec.array_name(part): shape
            for key, spec in self.specs.items()
            if is_trained or key not in self.to_read or spec.of(arrays)
            for part, shape in spec.kind.shapes(spec.of(arrays), spec.settings).items()
        }

    def check(self, arrays: Mapping[str, Array]) -> None:
        """Raise `ModelFileError` for arrays with the right shapes and values without sense."""
        for spec, own in self._saved(arrays):
            try:
                spec.kind.check(own)
            except InvalidArray as error:
                raise ModelFileError(
                    f"The array '{spec.array_name(error.part)}' of the saved model {error.problem}."
                ) from None

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take the resources from checked arrays of a model file."""
        self.made = {
            spec.key: spec.kind.restore(own, spec.settings) for spec, own in self._saved(arrays)
        }

    def _saved(self, arrays: Mapping[str, Array]) -> Iterator[tuple[ResourceSpec, Arrays]]:
        """The resources whose arrays are there, with these."""
        for spec in self.specs.values():
            own = spec.of(arrays)
            if spec.kind.shapes(own, spec.settings).keys() <= own.keys():
                yield spec, own


SHARES = ("seen_inside", "seen_first", "seen_last", "seen_continued")
"""Attributes: share of a word's occurrences inside a span, first, last, or inside not first."""
_SHARE_STEPS = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
_MOST = 4
"""Counts are told apart as 0, 1, 2-3, 4-7 and more."""
_SIZES = ("0", "1", "2-3", "4-7", "8+")
_BASE = 16


def share_value(code: int, share: int) -> str:
    """The value of attribute `SHARES[share]` under a code: size of the count, and the share."""
    return f"{code % _BASE}/{code // _BASE ** (share + 1) % _BASE}"


def share_text(code: int, share: int) -> str:
    """The value of attribute `SHARES[share]` under a code, for readers: `75-90 % of 8+`."""
    size, step = code % _BASE, code // _BASE ** (share + 1) % _BASE
    if size == 0:
        return "never seen"
    bounds = [0.0, *_SHARE_STEPS.tolist(), 1.0]
    low, high = (round(100 * bound) for bound in bounds[step - 1 : step + 1])
    return f"{low}-{high} % of {_SIZES[size]}"


def span_flags(n_tokens: int, spans: Pointers2d, observed: Bools1d) -> Ints2d:
    """For each token 1, and whether it is inside, first, last or continued, int32 `[T, 5]`.

    spans: int64 `[P, 2]`, start and end. observed: bool `[T]`; other tokens count nothing.
    """
    flags = np.zeros((n_tokens, 1 + len(SHARES)), dtype=np.int32)
    flags[:, 0] = observed
    start, end = spans[:, 0], spans[:, 1]
    flags[:, 1] = _covered(n_tokens, start, end)
    flags[start, 2] = 1
    flags[end - 1, 3] = 1
    flags[:, 4] = _covered(n_tokens, start + 1, end)
    return flags


def _covered(n_tokens: int, start: Pointers1d, end: Pointers1d) -> Bools1d:
    begun = np.bincount(start, minlength=n_tokens + 1) - np.bincount(end, minlength=n_tokens + 1)
    return np.cumsum(begun)[:n_tokens] > 0


class SpanWordCounts(Resource):
    """Counts of words in training: how often each stood inside, first or last in a span.

    A dictionary made from the training data, in which a Doc never sees its own entries: while a Doc
    is trained on, its own occurrences are taken off the counts, so that the model learns how far to
    trust them (the thought behind the dictionaries of Cohen and Sarawagi 2004, section 4.3). When
    annotating, nothing is taken off. The counts of a word are packed into one small code. A lexeme
    is a word with its code, so features of the counts are computed once a lexeme like those of the
    text.

    counts: of words in lower case, int32 `[V, 5]` in the order of `index`.
    """

    gives_codes = True

    def __init__(self, index: KeyIndex, counts: Ints2d) -> None:
        self.index, self.counts = index, counts
        # The last one is the code of words never seen.
        self._code_of_entry = np.append(_pack(counts), np.uint64(0))

    @classmethod
    def empty(cls) -> SpanWordCounts:
        return cls(KeyIndex(), np.zeros((0, 1 + len(SHARES)), dtype=np.int32))

    @classmethod
    def count(cls, lower: Keys1d, flags: Ints2d) -> SpanWordCounts:
        """Count the words of a corpus; lower: uint64 `[T]`, flags: `span_flags`."""
        words, inverse = np.unique(lower, return_inverse=True)
        return cls(KeyIndex(words), _sums(inverse, flags, len(words)))

    def learn(self, tokens: Tokens, flags: Ints2d) -> SpanWordCounts:
        return self.count(tokens.lower, flags)

    def learn_in_blocks(self, blocks: FlaggedTokens) -> SpanWordCounts:
        counted, new, n_new = self.empty(), [self.empty()], 0
        for tokens, flags in blocks():
            new.append(self.count(tokens.lower, flags))
            n_new += len(new[-1].index)
            # Rarely, for it takes as long as all words that are known are many.
            if n_new > len(counted.index):
                counted, new, n_new = _added([counted, *new]), [], 0
        return _added([counted, *new])

    def add(self, tokens: Tokens, flags: Ints2d) -> SpanWordCounts:
        return _added([self, self.count(tokens.lower, flags)])

    def codes(self, tokens: Tokens, own_flags: Ints2d | None = None) -> Keys1d:
        """The code of each token, uint64 `[T]`.

        With own_flags, the tokens were counted themselves: the counts of each Doc are then taken
        off for its own tokens.
        """
        lower, doc_starts = tokens.lower, tokens.doc_starts
        if len(self.index) == 0:
            return np.zeros(len(lower), dtype=np.uint64)
        entries = self.index.lookup(lower)
        if own_flags is None:
            return np.asarray(self._code_of_entry[entries])
        counts = np.where(entries[:, None] >= 0, self.counts[entries], 0)
        docs = np.repeat(np.arange(len(doc_starts) - 1), np.diff(doc_starts))
        pairs = entries.astype(np.int64) * len(doc_starts) + docs
        distinct, inverse = np.unique(pairs, return_inverse=True)
        others = counts - _sums(inverse, own_flags, len(distinct))[inverse]
        # A Doc that was never counted has nothing to be taken off.
        return _pack(np.where((others >= 0).all(axis=1, keepdims=True), others, counts))

    def are_seen(self, lower: Keys1d) -> Bools1d | None:
        return self.index.lookup(lower) >= 0 if len(self.index) else None

    def arrays(self) -> Arrays:
        return {"keys": self.index.keys, "counts": self.counts}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        n_words = arrays["keys"].size if "keys" in arrays else 0
        return {"keys": ((n_words,), "u8"), "counts": ((n_words, 1 + len(SHARES)), "i4")}

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> SpanWordCounts:
        return cls(KeyIndex(arrays["keys"].astype(np.uint64)), arrays["counts"].astype(np.int32))


def _added(parts: Sequence[SpanWordCounts]) -> SpanWordCounts:
    """Counts of several parts of a corpus together."""
    words = np.concatenate([part.index.keys for part in parts])
    unique, inverse = np.unique(words, return_inverse=True)
    counts = np.concatenate([part.counts for part in parts])
    return SpanWordCounts(KeyIndex(unique), _sums(inverse, counts, len(unique)))


def _sums(groups: Pointers1d, flags: Ints2d, n_groups: int) -> Ints2d:
    columns = [np.bincount(groups.reshape(-1), column, n_groups) for column in flags.T]
    return np.stack(columns, axis=1).astype(np.int32)


def _pack(counts: Ints2d) -> Keys1d:
    """Codes of counts: size of the count, then a step for each share, four bits each."""
    occurrences = counts[:, 0]
    size = np.minimum(_MOST, np.ceil(np.log2(occurrences + 1.0))).astype(np.uint64)
    codes: Keys1d = size.copy()
    for share in range(len(SHARES)):
        value = counts[:, 1 + share] / np.maximum(occurrences, 1)
        step = np.digitize(value, _SHARE_STEPS) + (occurrences > 0)
        codes += step.astype(np.uint64) * np.uint64(_BASE ** (share + 1))
    return codes
