"""Identifiers of listed terms: which entries of lists a phrase matches.

A phrase is the sequence of its tokens, as written or in lower case. It has one 64-bit key, the
same as in a lexicon (`systems.dictionaries.lexicons`). The keys of all terms stand in order, for
binary search.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...errors import TemplateError
from ...features.resources import InvalidArray, Tokenize
from ...features.strings import hash_strings
from ...numeric.arrays import Array, Arrays, Shapes
from ...types import Ints1d, Ints2d, Keys1d, Pointers1d
from .lexicons import whole_keys
from .terms import Spellings, Term, read_terms, spell
from .text_table import TextTable, TextWriter, check_texts

WRITTEN, LOWER = "written", "lower"
_FORMS: dict[str, Callable[[str], str]] = {WRITTEN: str, LOWER: str.lower}
"""What of a token is compared."""
_TEXTS = ("terms", "ids", "labels")


class Entry(NamedTuple):
    """A term of a list. list_name: of the list; label: "" where the term has none."""

    list_name: str
    term: str
    id: str
    label: str


class KeyTable(NamedTuple):
    """Entries by key.

    keys: uint64 `[n]`, ascending. ends: int32 `[n]`; entries: int32, numbers of entries in the
    order of the lists, those of key `i` from `ends[i - 1]` to `ends[i]`.
    """

    keys: Keys1d
    ends: Ints1d
    entries: Ints1d

    @classmethod
    def of(cls, spellings: Spellings, form: Callable[[str], str]) -> KeyTable:
        """Of all spellings of terms; form: what of a token is compared."""
        hashes = hash_strings(map(form, spellings.texts))
        starts = spellings.words.indptr
        keys = whole_keys(hashes[spellings.words.indices], starts[:-1], starts[1:])
        order = np.lexsort((spellings.term, keys))
        keys, entries = keys[order], spellings.term[order]
        is_last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        ends = np.flatnonzero(is_last) + 1
        return cls(keys[is_last], ends.astype(np.int32), entries.astype(np.int32))

    def find(self, keys: Keys1d) -> list[list[int]]:
        """The numbers of the entries of each key; none where it is unknown."""
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        is_known = self.keys[places] == keys if len(self.keys) else np.zeros(len(keys), np.bool_)
        found: list[list[int]] = []
        for place, known in zip(places.tolist(), is_known.tolist(), strict=True):
            begin = self.ends[place - 1] if known and place else 0
            found.append(self.entries[begin : self.ends[place]].tolist() if known else [])
        return found


class TermIds:
    """The terms of lists that have an id; it is not changed.

    lists: their names. texts: for terms and ids by number of the entry, for labels by number of
    the label. places: int32 `[C, 2]`, numbers of list and label of each entry. tables: for each
    form that is compared.
    """

    def __init__(
        self,
        lists: Sequence[str],
        texts: Mapping[str, TextTable],
        places: Ints2d,
        tables: Mapping[str, KeyTable],
    ) -> None:
        self.lists, self.texts, self.places, self.tables = lists, texts, places, tables

    def __len__(self) -> int:
        return len(self.places)

    @classmethod
    def read(cls, lists: Mapping[str, str], tokenize: Tokenize) -> TermIds:
        """Read lists, paths by name; terms without an id are left out.

        Terms are known both as the tokenizer splits them and as split at spaces. Raises
        `TemplateError` for a list that cannot be read, or in which no term has an id.
        """
        terms, ids, list_of = TextWriter(), TextWriter(), array("i")

        def noted() -> Iterator[Term]:
            for number, (name, path) in enumerate(lists.items()):
                before = len(list_of)
                for term in read_terms(name, path):
                    if term.id:
                        terms.add(" ".join(term.words))
                        ids.add(term.id)
                        list_of.append(number)
                        yield term
                _check_ids(name, path, len(list_of) - before)

        spellings = spell(noted(), tokenize)
        label = spellings.label[: len(list_of)] - 1
        places = np.stack([np.array(list_of, dtype=np.int32), label], axis=1)
        texts = (terms.table(), ids.table(), TextWriter(spellings.labels).table())
        tables = {name: KeyTable.of(spellings, form) for name, form in _FORMS.items()}
        return cls(list(lists), dict(zip(_TEXTS, texts, strict=True)), places, tables)

    def find(self, form: str, words: Keys1d, start: Pointers1d, end: Pointers1d) -> list[list[int]]:
        """Numbers of the entries that each span matches, in the order of the lists.

        form: `WRITTEN` or `LOWER`. words: uint64 `[T]`, hashes of the tokens in this form. start,
        end: int64 `[P]`, spans of a token or more.
        """
        return self.tables[form].find(whole_keys(words, start, end))

    def entry(self, number: int) -> Entry:
        of_list, label = self.places[number].tolist()
        terms, ids, labels = (self.texts[name] for name in _TEXTS)
        return Entry(self.lists[of_list], terms.text(number), ids.text(number), labels.text(label))

    # Model files

    def arrays(self) -> Arrays:
        """What is saved, besides the names of the lists."""
        arrays: Arrays = {"places": self.places}
        for name, table in self.tables.items():
            arrays |= {f"{name}_{part}": array for part, array in table._asdict().items()}
        for name, texts in self.texts.items():
            arrays |= {f"{name}_{part}": array for part, array in texts._asdict().items()}
        return arrays

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array]) -> Shapes:
        """Shape and kind of each array that must be there, given those that are."""
        sizes = {name: (array.size,) for name, array in arrays.items()}
        n_entries = (arrays["places"].size // 2,) if "places" in arrays else (0,)
        shapes: Shapes = {"places": ((*n_entries, 2), "i4")}
        for name in _FORMS:
            n_keys = sizes.get(f"{name}_keys", (0,))
            shapes |= {f"{name}_keys": (n_keys, "u8"), f"{name}_ends": (n_keys, "i4")}
            shapes[f"{name}_entries"] = (sizes.get(f"{name}_entries", (0,)), "i4")
        for name in _TEXTS:
            n_texts = sizes.get("labels_ends", (0,)) if name == "labels" else n_entries
            shapes[f"{name}_content"] = (sizes.get(f"{name}_content", (0,)), "u1")
            shapes[f"{name}_ends"] = (n_texts, "i4")
        return shapes

    @classmethod
    def restore(cls, lists: Sequence[str], arrays: Mapping[str, Array]) -> TermIds:
        """From the arrays of a model file, whose shapes and kinds are right.

        Raises `InvalidArray` for values that make no sense.
        """
        places = arrays["places"]
        limits = (len(lists), len(arrays["labels_ends"]))
        if (places >= limits).any():
            raise InvalidArray("places", "names a list or a label that is not there")
        for name in _TEXTS:
            problem = check_texts(arrays[f"{name}_content"], arrays[f"{name}_ends"])
            if problem is not None:
                raise InvalidArray(f"{name}_content", problem)
        tables = {}
        for name in _FORMS:
            table = KeyTable(*(arrays[f"{name}_{part}"] for part in KeyTable._fields))
            _check_table(name, table, len(places))
            tables[name] = table
        texts = {n: TextTable(arrays[f"{n}_content"], arrays[f"{n}_ends"]) for n in _TEXTS}
        return cls(list(lists), texts, places, tables)


def _check_ids(name: str, path: str, n_ids: int) -> None:
    if not n_ids:
        raise TemplateError(
            f"No term of the lexicon '{name}' has an id ({path}), so it cannot link. Give a .tsv "
            'file with a term, a tab and its id a line, or a .jsonl file of patterns with "id".'
        )


def _check_table(name: str, table: KeyTable, n_entries: int) -> None:
    """Raise `InvalidArray` for a table that cannot be searched, or goes beyond the entries."""
    keys, ends, entries = table
    if (keys[1:] <= keys[:-1]).any():
        raise InvalidArray(f"{name}_keys", "is not in order")
    last = ends[-1] if len(ends) else 0
    if (ends[1:] <= ends[:-1]).any() or (ends[:1] == 0).any() or last != len(entries):
        raise InvalidArray(f"{name}_ends", f"does not fit the array '{name}_entries'")
    if entries.max(initial=-1) >= n_entries:
        raise InvalidArray(f"{name}_entries", "names entries that are not there")
