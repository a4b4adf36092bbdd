"""Dictionaries of words, and spans of several Docs, without a pipeline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_cascade.features.resources import span_flags
from spacy_cascade.features.span_context import FoundSpans, SpanContext
from spacy_cascade.features.strings import hash_strings
from spacy_cascade.features.tokens import Tokens
from spacy_cascade.systems.dictionaries.similarity.dictionary import TermDictionary
from spacy_cascade.systems.dictionaries.similarity.search import DictionarySearch
from spacy_cascade.systems.dictionaries.terms import Term, spell

Words = Sequence[str]
_NONE = np.zeros(0, dtype=np.uint64)
_NOTHING_FOUND = FoundSpans(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), _NONE)


def dictionary_of(terms: Sequence[Words]) -> TermDictionary:
    return TermDictionary.of_spellings(spell([Term(t, "") for t in terms], lambda word: [word]))


def search_of(terms: Sequence[Words]) -> DictionarySearch:
    return DictionarySearch(dictionary_of(terms))


def tokens_of(docs: Sequence[Words], with_texts: bool = True) -> Tokens:
    """Docs of one sentence each; words are in lower case already."""
    words = [word for doc in docs for word in doc]
    keys = hash_strings(words)
    texts = dict(zip(keys.tolist(), words, strict=True))
    starts = np.cumsum([0, *map(len, docs)], dtype=np.int64)
    text_of = texts.__getitem__ if with_texts else None
    return Tokens(keys, keys, _NONE, _NONE, starts, starts, text_of=text_of)


def all_spans(docs: Sequence[Words]) -> list[tuple[int, int]]:
    """Every span of every Doc, by its end and then from the shortest to the longest."""
    spans, first = [], 0
    for doc in docs:
        for end in range(first + 1, first + len(doc) + 1):
            spans += [(start, end) for start in range(end - 1, first - 1, -1)]
        first += len(doc)
    return spans


def context_of(
    tokens: Tokens, spans: Sequence[tuple[int, int]], own: Sequence[tuple[int, int]] | None = None
) -> SpanContext:
    """own: gold spans, in training."""
    start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    flags = None if own is None else flags_of(tokens, own)
    return SpanContext(tokens, start, end, _NOTHING_FOUND, tokens.text_of, flags)


def flags_of(tokens: Tokens, gold: Sequence[tuple[int, int]]) -> np.ndarray:
    n = len(tokens.words)
    return span_flags(n, np.array(gold, dtype=np.int64).reshape(-1, 2), np.ones(n, dtype=np.bool_))
