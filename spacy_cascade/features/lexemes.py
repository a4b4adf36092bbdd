"""The table of distinct words: each gets a row, and its attributes are computed once.

Rows hold values, not references to spaCy's strings, so the table survives `nlp.memory_zone()`.
Rows are added and never changed, so what a thread has read stays valid while others add to it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ..numeric.arrays import grown
from ..numeric.index import KeyIndex
from ..parallel import LEXEME_LOCK
from ..types import Bools1d, Ints1d, Keys1d, Keys2d, Pointers1d
from .attributes import TextAttribute, TextOf, WordAttribute, Words, WordTexts
from .resources import Resources
from .strings import hash_string
from .word_attributes import Lower

BOUNDARY = 0
"""Row of the word that stands before and after every sequence."""
_BOUNDARY_KEY = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_CODE_FACTOR = 0xD6E8FEB86659FD93


class LexemeTable:
    """Attribute hashes by spaCy's hash of the word and by what resources say of it.

    attributes: what to compute. resources: what they read. The table `values` is uint64 `[n, A]`,
    0 where an attribute has no value.
    """

    def __init__(self, attributes: Sequence[WordAttribute], resources: Resources) -> None:
        self._computed = attributes
        self._resources = resources
        self._index = KeyIndex(np.array([_BOUNDARY_KEY], dtype=np.uint64))
        self._attributes = np.zeros((64, len(attributes)), dtype=np.uint64)
        self._forms = KeyIndex(np.array([_BOUNDARY_KEY], dtype=np.uint64))
        self._form_of = np.zeros(64, dtype=np.int32)
        self._origins = np.zeros((64, 1 + len(resources.coded)), dtype=np.uint64)
        self._words, self._row_of_word = KeyIndex(), np.zeros(64, dtype=np.int32)
        self._columns_of_text = _columns_of_text(attributes)
        lower = (i for i, attribute in enumerate(attributes) if type(attribute) is Lower)
        self._lower = next(lower, None)
        is_set = [attribute.is_set_at_boundary for attribute in attributes]
        self._attributes[BOUNDARY, is_set] = hash_string("\ue000boundary")

    def __len__(self) -> int:
        return len(self._index)

    @property
    def attributes(self) -> Keys2d:
        """Attribute hashes by row, uint64 `[n, A]`."""
        with LEXEME_LOCK:
            return self._attributes[: len(self)]

    @property
    def form_of(self) -> Ints1d:
        """Number of the word in lower case by row, int32 `[n]`."""
        with LEXEME_LOCK:
            return self._form_of[: len(self)]

    @property
    def origins(self) -> Keys2d:
        """Hash of the word and its codes by row, uint64 `[n, 1 + C]`; zeros for the boundary."""
        with LEXEME_LOCK:
            return self._origins[: len(self)]

    def rows(
        self,
        words: Keys1d,
        codes: Sequence[Keys1d],
        text_of: TextOf,
        earlier: LexemeTable | None = None,
    ) -> Ints1d:
        """Row of each word, int32 `[T]`; words not met before are added.

        words: spaCy's 64-bit string hashes. codes: uint64 `[T]` for each resource that tells
        apart occurrences of a word (`Resources.codes`). text_of: gives the text of a hash.
        earlier: a table that may have met the new words already; what follows from their texts is
        taken from it.
        """
        keys = words
        for i, code in enumerate(codes, start=1):
            keys = keys ^ (code * np.uint64(pow(_CODE_FACTOR, i, 1 << 64)))
        with LEXEME_LOCK:
            rows = self._index.lookup(keys)
            if len(rows) and rows.min() < 0:
                # In the order of the text, so that rows of frequent words lie close together.
                new = np.flatnonzero(rows < 0)
                new = new[_first_places(keys[new])]
                of_new = [code[new] for code in codes]
                self._add(keys[new], words[new], of_new, text_of, earlier)
                rows = self._index.lookup(keys)
        return rows

    def _add(
        self,
        keys: Keys1d,
        words: Keys1d,
        codes: Sequence[Keys1d],
        text_of: TextOf,
        earlier: LexemeTable | None,
    ) -> None:
        begin, end = len(self), len(self) + len(keys)
        if end > len(self._attributes):
            self._attributes = grown(self._attributes[:begin], 2 * end)
            self._form_of = grown(self._form_of[:begin], 2 * end)
            self._origins = grown(self._origins[:begin], 2 * end)
            self._row_of_word = grown(self._row_of_word[:begin], 2 * end)
        new, n_attributes = self._attributes[begin:end], len(self._computed)
        taken, is_known = self._taken_over(words, new, earlier)
        missing = np.flatnonzero(~is_known)
        are_taken = len(taken) == n_attributes and not len(missing) and self._lower is not None
        texts = WordTexts([])
        if not are_taken or self._resources.worded:
            texts = WordTexts(map(text_of, words.tolist()))
        said = self._said_of(texts, codes)
        missing_texts = Words(WordTexts(texts[i] for i in missing.tolist()), None)
        for column, attribute in enumerate(self._computed):
            if column in taken:
                if len(missing):
                    new[missing, column] = attribute.values(missing_texts, None)
                continue
            of_attribute = Words(texts, said.get(attribute.spec.key if attribute.spec else ""))
            new[:, column] = attribute.values(of_attribute, self._resources.of(attribute.spec))
        self._origins[begin:end] = np.stack([words, *codes], axis=1)
        lower = texts.lower if self._lower is None else np.ascontiguousarray(new[:, self._lower])
        self._forms.add(np.unique(lower[self._forms.lookup(lower) < 0]))
        self._form_of[begin:end] = self._forms.lookup(lower)
        self._index.add(keys)
        first = _first_places(words)
        first = first[self._words.lookup(words[first]) < 0]
        self._row_of_word[len(self._words) :][: len(first)] = begin + first
        self._words.add(words[first])

    def _taken_over(
        self, words: Keys1d, new: Keys2d, earlier: LexemeTable | None
    ) -> tuple[list[int], Bools1d]:
        """Write what the earlier table knows of words to their new rows `[n, A]`.

        Returns the columns that are written, and which words are known.
        """
        own = self._columns_of_text
        theirs = {} if earlier is None else earlier._columns_of_text
        shared = [identity for identity in own if identity in theirs]
        if earlier is None or not shared:
            return [], np.zeros(len(words), dtype=np.bool_)
        columns = [own[identity] for identity in shared]
        number = earlier._words.lookup(words)
        is_known: Bools1d = number >= 0
        rows = earlier._row_of_word[number[is_known]]
        values = earlier._attributes[rows[:, None], [theirs[identity] for identity in shared]]
        new[np.flatnonzero(is_known)[:, None], columns] = values
        return columns, is_known

    def _said_of(self, texts: Sequence[str], codes: Sequence[Keys1d]) -> dict[str, Keys1d]:
        """What each resource says of words; codes: what it says of their occurrences."""
        resources = self._resources
        of_words = {
            key: resources.made[key].word_codes(texts)
            for key in resources.worded
            if key in resources.made
        }
        return {**dict(zip(resources.coded, codes, strict=True)), **of_words}

    def code_column(self, attribute: WordAttribute) -> int | None:
        """The column of `origins` with the codes of the attribute's resource; None without any."""
        coded = self._resources.coded
        if attribute.spec is None or attribute.spec.key not in coded:
            return None
        return 1 + coded.index(attribute.spec.key)

    def describe(self, attribute: WordAttribute, lexeme: int, text_of: TextOf) -> str | None:
        """The value of a row for readers; None where the attribute has no values."""
        origin, column = self.origins[lexeme].tolist(), self.code_column(attribute)
        code = 0
        if column is not None:
            code = origin[column]
        elif attribute in self._computed:  # the bias of a conjunction is not
            code = int(self.attributes[lexeme, self._computed.index(attribute)])
        return attribute.describe(text_of(origin[0]), code, self._resources.of(attribute.spec))


def _columns_of_text(attributes: Sequence[WordAttribute]) -> dict[Hashable, int]:
    """The columns of attributes whose values other tables have, too, by their identity."""
    of_text = [(i, each) for i, each in enumerate(attributes) if isinstance(each, TextAttribute)]
    return {each.identity: i for i, each in of_text if each.identity is not None}


def _first_places(keys: Keys1d) -> Pointers1d:
    """Where each distinct one of some keys stands first, ascending.

    As `np.unique` with first places does, which sorts more slowly to have them.
    """
    order = np.argsort(keys)
    in_order = keys[order]
    begins = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
    first: Pointers1d = np.sort(np.minimum.reduceat(order, begins))
    return first
