"""The resource behind `similarity(NAME)`: how a dictionary is read, learns, and is saved.

Arrays: `keys` uint64 `[V]`, hashes of words in lower case, the rarest first; `content` uint8 and
`ends` int32 `[V]`, their texts (`text_table`); `lengths` uint8 `[N]`, tokens of each term; `words`
int32, the numbers of these; `docs` int32 `[N]`, in how many Docs of
training each is a gold span, where own entries are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....features.resources import FlaggedTokens, InvalidArray, Resource, Tokenize
from ....features.span_context import SpanContext
from ....features.tokens import Tokens
from ....numeric.arrays import Array, Arrays, Shapes, blocks
from ....numeric.csr import BinaryCSR
from ....types import Ints1d, Ints2d, Keys1d
from ..listed_terms import FromList, leaves_out
from ..terms import read_spellings
from ..text_table import TextTable, check_texts
from .dictionary import (
    MOST_TOKENS,
    TermDictionary,
    count_docs,
    join_dictionaries,
    of_gold_spans,
)
from .search import DictionarySearch


class SimilarTerms(FromList):
    """A dictionary that was read from a list."""

    def __init__(self, dictionary: TermDictionary, leave_out: bool) -> None:
        self.search, self.leave_out = DictionarySearch(dictionary), leave_out

    def __reduce__(self) -> tuple[type[SimilarTerms], tuple[object, ...]]:
        return type(self), (self.dictionary, self.leave_out)

    @property
    def dictionary(self) -> TermDictionary:
        """The terms."""
        return self.search.dictionary

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize) -> SimilarTerms:
        """Terms are known both as the tokenizer splits them and as split at spaces."""
        spellings = read_spellings(name, settings, tokenize)
        return cls(TermDictionary.of_spellings(spellings), leaves_out(settings))

    def count_docs(self, tokens: Tokens, flags: Ints2d) -> Ints1d:
        return count_docs(self.dictionary, tokens, flags)

    def with_docs(self, n_docs: Ints1d) -> SimilarTerms:
        return type(self)(self.dictionary.with_docs(n_docs), True)

    def values(self, measure: str, spans: SpanContext) -> Keys1d:
        """The step of each span's largest similarity, uint64 `[U]` (`Measure.steps`)."""
        return self.search.steps(measure, spans).astype(np.uint64)

    # Model files

    def arrays(self) -> Arrays:
        dictionary = self.dictionary
        arrays: Arrays = {
            "keys": dictionary.keys,
            "content": dictionary.texts.content,
            "ends": dictionary.texts.ends,
            "lengths": np.diff(dictionary.terms.indptr).astype(np.uint8),
            "words": dictionary.terms.indices,
        }
        if dictionary.n_docs is not None:
            arrays["docs"] = dictionary.n_docs
        return arrays

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        sizes = {name: (array.size,) for name, array in arrays.items()}
        n_words, n_terms = sizes.get("keys", (0,)), sizes.get("lengths", (0,))
        shapes: Shapes = {
            "keys": (n_words, "u8"),
            "content": (sizes.get("content", (0,)), "u1"),
            "ends": (n_words, "i4"),
            "lengths": (n_terms, "u1"),
            "words": (sizes.get("words", (0,)), "i4"),
        }
        if cls._counts_docs(settings) or "docs" in arrays:
            shapes["docs"] = (n_terms, "i4")
        return shapes

    @classmethod
    def _counts_docs(cls, settings: Any) -> bool:
        return leaves_out(settings)

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        keys, lengths, words = arrays["keys"], arrays["lengths"], arrays["words"]
        distinct = np.unique(keys)
        if len(distinct) < len(keys) or (len(keys) and distinct[0] == 0):
            raise InvalidArray("keys", "has a word twice, or none")
        problem = check_texts(arrays["content"], arrays["ends"])
        if problem is not None:
            raise InvalidArray("content", problem)
        if any(block.min() < 1 or block.max() > MOST_TOKENS for block in blocks(lengths)):
            raise InvalidArray("lengths", f"has terms of no token, or of over {MOST_TOKENS}")
        if int(lengths.sum(dtype=np.int64)) != words.size:
            raise InvalidArray("lengths", "does not fit the array 'words'")
        if any(block.min() < 0 or block.max() >= keys.size for block in blocks(words)):
            raise InvalidArray("words", "names words that are not there")
        terms = _dictionary(arrays)
        if terms.has_repeated_terms():
            raise InvalidArray("words", "has a term twice")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> SimilarTerms:
        return cls(_dictionary(arrays), cls._counts_docs(settings))


class TrainingTerms(SimilarTerms):
    """A dictionary of the gold spans of the training corpus, without those of the Doc at hand."""

    @classmethod
    def empty(cls) -> TrainingTerms:
        return cls(TermDictionary.empty(), True)

    @classmethod
    def _counts_docs(cls, settings: Any) -> bool:
        return True

    def learn(self, tokens: Tokens, flags: Ints2d) -> TrainingTerms:
        return TrainingTerms(of_gold_spans(tokens, flags), True)

    def learn_in_blocks(self, blocks: FlaggedTokens) -> Resource:
        # Terms are numbered by all of the corpus.
        return Resource.learn_in_blocks(self, blocks)

    def add(self, tokens: Tokens, flags: Ints2d) -> TrainingTerms:
        both = join_dictionaries(self.dictionary, of_gold_spans(tokens, flags))
        return TrainingTerms(both, True)


def _dictionary(arrays: Mapping[str, Array]) -> TermDictionary:
    indptr = np.append(0, np.cumsum(arrays["lengths"], dtype=np.int64))
    words = BinaryCSR(indptr, arrays["words"].astype(np.int32), arrays["keys"].size)
    texts = TextTable(arrays["content"], arrays["ends"].astype(np.int32))
    return TermDictionary(
        arrays["keys"].astype(np.uint64),
        texts,
        words,
        arrays["docs"].astype(np.int32) if "docs" in arrays else None,
    )
