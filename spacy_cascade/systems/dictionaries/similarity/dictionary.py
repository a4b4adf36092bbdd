"""The terms of a dictionary as numbers of words, for the indexes that find similar ones.

Words are in lower case, and are numbered from the rarest to the most frequent one. A term is kept
once, however often it is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ....caching import cached_property
from ....features.strings import hash_strings
from ....features.tokens import Tokens
from ....numeric.csr import BinaryCSR
from ....numeric.index import KeyIndex
from ....types import Floats1d, Ints1d, Ints2d, Keys1d, Pointers1d
from ..lexicons import whole_keys
from ..terms import Spellings
from ..text_table import TextTable, TextWriter

MOST_TOKENS = 64
"""Longer terms, and terms without a token, are left out; longer spans have no value."""


class TermDictionary:
    """Distinct terms; it is not changed.

    keys: uint64 `[V]`, hashes of the words. texts: of the words; all "" where nobody knew them.
    terms: the words of each term in order, by number. n_docs: int32 `[N]`, how many Docs of
    training have the term as a gold span; None where no terms are left out.
    """

    def __init__(
        self, keys: Keys1d, texts: TextTable, terms: BinaryCSR, n_docs: Ints1d | None = None
    ) -> None:
        self.keys, self.texts, self.terms, self.n_docs = keys, texts, terms, n_docs

    def __len__(self) -> int:
        return self.terms.n_rows

    @classmethod
    def empty(cls) -> TermDictionary:
        """One without terms."""
        terms = BinaryCSR(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), 0)
        no_docs = np.zeros(0, dtype=np.int32)
        return cls(np.zeros(0, dtype=np.uint64), TextWriter().table(), terms, no_docs)

    @classmethod
    def of_spellings(cls, spellings: Spellings) -> TermDictionary:
        """Of the terms of a list."""
        lower = [text.lower() for text in spellings.texts]
        keys = hash_strings(lower)
        text_of = dict(zip(keys.tolist(), lower, strict=True))
        words = spellings.words
        return cls.of(keys[words.indices], words.indptr, text_of.__getitem__)

    @classmethod
    def of(
        cls, words: Keys1d, indptr: Pointers1d, text_of: Callable[[int], str] | None
    ) -> TermDictionary:
        """Of terms one after the other; words: uint64, hashes in lower case.

        text_of: gives their texts; without it only measures over whole words have values.
        """
        lengths = np.diff(indptr)
        nameless = np.append(0, np.cumsum(words == 0))[indptr]
        is_whole = nameless[1:] == nameless[:-1]
        fitting = np.flatnonzero((lengths > 0) & (lengths <= MOST_TOKENS) & is_whole)
        phrases = whole_keys(words, indptr[fitting], indptr[fitting + 1])
        _, first = np.unique(phrases, return_index=True)
        every_word = BinaryCSR(indptr, np.arange(len(words), dtype=np.int32), len(words))
        kept = every_word.take(fitting[np.sort(first)])
        keys, number = np.unique(words[kept.indices], return_inverse=True)
        n_terms = np.diff(_distinct(kept.indptr, number, len(keys)).transposed)
        order = np.lexsort((keys, n_terms))
        rank = np.empty(len(keys), dtype=np.int32)
        rank[order] = np.arange(len(keys))
        texts = (("" if text_of is None else text_of(key)) for key in keys[order].tolist())
        terms = BinaryCSR(kept.indptr, rank[number], len(keys))
        return cls(keys[order], TextWriter(texts).table(), terms)

    def text(self, number: int) -> str:
        """A term in lower case, with spaces between its words."""
        return " ".join(self.texts.text(word) for word in self._row(number).tolist())

    def words_of(self, number: int) -> Keys1d:
        """The hashes of the words of a term, in order."""
        return self.keys[self._row(number)]

    def _row(self, number: int) -> Ints1d:
        return self.terms.indices[slice(*self.terms.indptr[number : number + 2].tolist())]

    def with_docs(self, n_docs: Ints1d) -> TermDictionary:
        """The same terms, with the Docs that they were cut from."""
        return TermDictionary(self.keys, self.texts, self.terms, n_docs)

    def has_repeated_terms(self) -> bool:
        """Whether a term is there twice, as it is in no dictionary that was made here."""
        return len(np.unique(self._phrase_keys())) < len(self)

    @cached_property
    def index(self) -> KeyIndex:
        """Numbers of words by their hashes."""
        return KeyIndex(self.keys)

    @cached_property
    def _phrases(self) -> KeyIndex:
        return KeyIndex(self._phrase_keys())

    def _phrase_keys(self) -> Keys1d:
        starts = self.terms.indptr
        return whole_keys(self.keys[self.terms.indices], starts[:-1], starts[1:])

    def find_spans(self, words: Keys1d, start: Pointers1d, end: Pointers1d) -> Ints1d:
        """Number of the term that has just the words of each span, int32; -1 where there is none.

        words: uint64 `[T]`, in lower case. start, end: int64 `[P]`, spans of a token or more.
        """
        return self._phrases.lookup(whole_keys(words, start, end))

    @cached_property
    def sets(self) -> WordSets:
        """The distinct words of each term, the rarest first."""
        return _distinct(self.terms.indptr, self.terms.indices, len(self.keys))

    @cached_property
    def weights(self) -> Floats1d:
        """Inverse document frequency of words, `log(1 + N / n)` for one of n terms, `[V]`."""
        n_terms = np.diff(self.sets.transposed)
        weights: Floats1d = np.log1p(len(self) / np.maximum(n_terms, 1))
        return weights

    @property
    def weight_of_unknown(self) -> float:
        """That of words in no term: as that of words in one."""
        return float(np.log1p(len(self)))

    @property
    def has_texts(self) -> bool:
        """Whether terms can be shown as texts."""
        return self.texts.content.size > 0


class WordSets(BinaryCSR):
    """Rows of distinct numbers in ascending order."""

    @cached_property
    def transposed(self) -> Pointers1d:
        """Where the rows of each column would begin in the transposed matrix, `[n_columns + 1]`."""
        counts = np.bincount(self.indices, minlength=self.n_columns)
        return np.append(0, np.cumsum(counts))


def _distinct(indptr: Pointers1d, numbers: Ints1d | Pointers1d, n_numbers: int) -> WordSets:
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    pairs = np.unique(rows * max(n_numbers, 1) + numbers)
    row, number = np.divmod(pairs, max(n_numbers, 1))
    starts = np.searchsorted(row, np.arange(len(indptr)))
    return WordSets(starts.astype(np.int64), number.astype(np.int32), n_numbers)


def texts_of(dictionary: TermDictionary) -> Iterable[str]:
    """The texts of the words by number."""
    content = dictionary.texts.content.tobytes()
    begin = 0
    for end in dictionary.texts.ends.tolist():
        yield str(content[begin:end], "utf8")
        begin = end


# Gold spans as terms, and the Docs that have them


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
    texts: dict[int, str] = {}
    for each in (one, other):
        texts |= zip(each.keys.tolist(), texts_of(each), strict=True)
    both = TermDictionary.of(np.concatenate(keys), indptr, texts.__getitem__)
    n_docs = np.zeros(len(both), dtype=np.int32)
    for each in (one, other):
        starts = each.terms.indptr
        words = each.keys[each.terms.indices]
        assert each.n_docs is not None
        n_docs[both.find_spans(words, starts[:-1], starts[1:])] += each.n_docs
    return both.with_docs(n_docs)
