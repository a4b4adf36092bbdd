"""Gold spans as terms of a dictionary, and the Docs that have them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....features.tokens import Tokens
from ....types import Ints1d, Ints2d, Pointers1d
from .dictionary import TermDictionary, texts_of


def gold_spans(flags: Ints2d) -> tuple[Pointers1d, Pointers1d]:
    """Start and end of the gold spans that flags tell of (`resources.span_flags`).

    Flags do not tell which ends belong together where spans overlap: the next one is taken.
    """
    start, end = np.flatnonzero(flags[:, 2]), np.flatnonzero(flags[:, 3]) + 1
    place = np.searchsorted(end, start, side="right")
    start, place = start[place < len(end)], place[place < len(end)]
    return start, end[place]


def gold_terms(
    dictionary: TermDictionary, tokens: Tokens, flags: Ints2d
) -> tuple[Ints1d, Pointers1d]:
    """Numbers of the terms that are gold spans, and of the Docs of these, each pair once."""
    start, end = gold_spans(flags)
    terms = dictionary.find_spans(tokens.lower, start, end)
    docs = np.searchsorted(tokens.doc_starts, start, side="right") - 1
    n_docs = len(tokens.doc_starts)
    pairs = np.unique(terms[terms >= 0].astype(np.int64) * n_docs + docs[terms >= 0])
    return (pairs // n_docs).astype(np.int32), pairs % n_docs


def count_docs(dictionary: TermDictionary, tokens: Tokens, flags: Ints2d) -> Ints1d:
    """In how many Docs each term is a gold span, int32 `[N]`."""
    terms, _ = gold_terms(dictionary, tokens, flags)
    return np.bincount(terms, minlength=len(dictionary)).astype(np.int32)


def of_gold_spans(tokens: Tokens, flags: Ints2d) -> TermDictionary:
    """A dictionary of the gold spans of Docs, with the number of Docs that have each."""
    start, end = gold_spans(flags)
    indptr = np.append(0, np.cumsum(end - start))
    places = np.arange(indptr[-1]) + np.repeat(start - indptr[:-1], end - start)
    dictionary = TermDictionary.of(tokens.lower[places], indptr, tokens.text_of)
    return dictionary.with_docs(count_docs(dictionary, tokens, flags))


def join_dictionaries(one: TermDictionary, other: TermDictionary) -> TermDictionary:
    """The terms of both; the Docs that have them are counted together."""
    keys = [each.keys[each.terms.indices] for each in (one, other)]
    indptr = np.append(one.terms.indptr, one.terms.indptr[-1] + other.terms.indptr[1:])
    texts = _text_table(one) | _text_table(other)
    text_of: Callable[[int], str] = texts.__getitem__
    both = TermDictionary.of(np.concatenate(keys), indptr, text_of)
    n_docs = np.zeros(len(both), dtype=np.int32)
    for each in (one, other):
        starts = each.terms.indptr
        words = each.keys[each.terms.indices]
        assert each.n_docs is not None
        n_docs[both.find_spans(words, starts[:-1], starts[1:])] += each.n_docs
    return both.with_docs(n_docs)


def _text_table(dictionary: TermDictionary) -> dict[int, str]:
    return dict(zip(dictionary.keys.tolist(), texts_of(dictionary), strict=True))
