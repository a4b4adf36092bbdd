"""Identifiers of listed terms: which entries of lists a phrase matches.

A phrase is the sequence of its tokens, as written or in lower case. It has one 64-bit key, the
same as in a lexicon (`systems.dictionaries.lexicons`). The keys of all terms stand in order, for
binary search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...errors import TemplateError
from ...features.resources import InvalidArray, Tokenize
from ...features.strings import hash_strings
from ...numeric.arrays import Array, Arrays, Shapes
from ...types import Ints1d, Keys1d, Pointers1d
from .lexicons import whole_keys
from .terms import Spellings, Term, read_terms, spell
from .text_table import TextTable, TextWriter, check_texts

WRITTEN, LOWER = "written", "lower"
_FORMS: dict[str, Callable[[str], str]] = {WRITTEN: str, LOWER: str.lower}
"""What of a token is compared."""
_LINE_BREAK = ord("\n")


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
        distinct, counts = np.unique(keys, return_counts=True)
        ends = np.cumsum(counts).astype(np.int32)
        return cls(distinct, ends, spellings.term[order].astype(np.int32))

    def find(self, keys: Keys1d) -> list[list[int]]:
        """The numbers of the entries of each key; none where it is unknown."""
        bounds = (np.searchsorted(self.keys, keys, side) for side in ("left", "right"))
        begins, ends = (np.append(0, self.ends)[places].tolist() for places in bounds)
        return [self.entries[b:e].tolist() for b, e in zip(begins, ends, strict=True)]


class TermIds:
    """The terms of lists that have an id; it is not changed.

    lists: their names. entries: of each term its list by number, the term, its id and its label, a
    line each. tables: for each form that is compared.
    """

    def __init__(
        self, lists: Sequence[str], entries: TextTable, tables: Mapping[str, KeyTable]
    ) -> None:
        self.lists, self.entries, self.tables = lists, entries, tables

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def read(cls, lists: Mapping[str, str], tokenize: Tokenize) -> TermIds:
        """Read lists, paths by name; terms without an id are left out.

        Terms are known both as the tokenizer splits them and as split at spaces. Raises
        `TemplateError` for a list that cannot be read, or in which no term has an id.
        """
        entries = TextWriter()

        def noted() -> Iterator[Term]:
            for number, (name, path) in enumerate(lists.items()):
                before = len(entries)
                for term in read_terms(name, path):
                    if term.id:
                        entries.add(f"{number}\n{' '.join(term.words)}\n{term.id}\n{term.label}")
                        yield term
                _check_ids(name, path, len(entries) - before)

        spellings = spell(noted(), tokenize)
        tables = {name: KeyTable.of(spellings, form) for name, form in _FORMS.items()}
        return cls(list(lists), entries.table(), tables)

    def find(self, form: str, words: Keys1d, start: Pointers1d, end: Pointers1d) -> list[list[int]]:
        """Numbers of the entries that each span matches, in the order of the lists.

        form: `WRITTEN` or `LOWER`. words: uint64 `[T]`, hashes of the tokens in this form. start,
        end: int64 `[P]`, spans of a token or more.
        """
        return self.tables[form].find(whole_keys(words, start, end))

    def entry(self, number: int) -> Entry:
        """The entry of an identifier."""
        of_list, *rest = self.entries.text(number).split("\n")
        return Entry(self.lists[int(of_list)], *rest)

    # Model files

    def arrays(self) -> Arrays:
        """What is saved, besides the names of the lists."""
        arrays: Arrays = dict(self.entries._asdict())
        for name, table in self.tables.items():
            arrays |= {f"{name}_{part}": array for part, array in table._asdict().items()}
        return arrays

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array]) -> Shapes:
        """Shape and kind of each array that must be there, given those that are."""
        sizes = {name: (array.size,) for name, array in arrays.items()}
        shapes: Shapes = {
            "content": (sizes.get("content", (0,)), "u1"), "ends": (sizes.get("ends", (0,)), "i4"),
        }  # fmt: skip
        for name in _FORMS:
            n_keys = sizes.get(f"{name}_keys", (0,))
            shapes |= {f"{name}_keys": (n_keys, "u8"), f"{name}_ends": (n_keys, "i4")}
            shapes[f"{name}_entries"] = (sizes.get(f"{name}_entries", (0,)), "i4")
        return shapes

    @classmethod
    def restore(cls, lists: Sequence[str], arrays: Mapping[str, Array]) -> TermIds:
        """From the arrays of a model file, whose shapes and kinds are right.

        Raises `InvalidArray` for values that make no sense.
        """
        entries = TextTable(arrays["content"], arrays["ends"])
        problem = check_texts(*entries)
        if problem is None and not _are_entries(entries, len(lists)):
            problem = "has an entry that is none of a list"
        if problem is not None:
            raise InvalidArray("content", problem)
        tables = {}
        for name in _FORMS:
            keys, ends, numbers = (arrays[f"{name}_{part}"] for part in KeyTable._fields)
            if (keys[1:] <= keys[:-1]).any():
                raise InvalidArray(f"{name}_keys", "is not in order")
            if (np.diff(ends, prepend=0) <= 0).any() or ends[-1:].sum() != len(numbers):
                raise InvalidArray(f"{name}_ends", f"does not fit the array '{name}_entries'")
            if (numbers >= len(entries)).any():
                raise InvalidArray(f"{name}_entries", "names entries that are not there")
            tables[name] = KeyTable(keys, ends, numbers)
        return cls(list(lists), entries, tables)


def _are_entries(entries: TextTable, n_lists: int) -> bool:
    """Whether all texts have four lines, of which the first is the number of a list."""
    breaks = np.flatnonzero(entries.content == _LINE_BREAK)
    n_breaks = np.diff(np.searchsorted(breaks, entries.ends), prepend=0)
    if (n_breaks != 3).any():
        return False
    starts = np.append(0, entries.ends)[:-1]
    first = {bytes(entries.content[a:b]) for a, b in zip(starts, breaks[::3], strict=True)}
    return first <= {str(number).encode() for number in range(n_lists)}


def _check_ids(name: str, path: str, n_ids: int) -> None:
    if not n_ids:
        raise TemplateError(
            f"No term of the lexicon '{name}' has an id ({path}), so it cannot link. Give a .tsv "
            'file with a term, a tab and its id a line, or a .jsonl file of patterns with "id".'
        )
