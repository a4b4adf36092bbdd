"""All tokens of a corpus as one table, so that arrays measure it and no loop over tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH, SENT_START, SPACY
from spacy.strings import StringStore
from spacy.tokens import Doc

from ...caching import cached_property
from ...types import Bools1d, Keys1d, Pointers1d

_BEGIN, _INSIDE, _MISSING = 3, 1, 0
"""spaCy's numbers for `token.ent_iob`."""
_COLUMNS = (ORTH, SENT_START, ENT_IOB, ENT_TYPE, SPACY)


@dataclass(frozen=True)
class TokenTable:
    """The tokens of Docs with one vocabulary, one after the other; `N` tokens, `D` Docs.

    columns: uint64 `[N, 5]`, as `_COLUMNS`. bounds: int64 `[D + 1]`, where the Docs begin and end.
    spacing: bool `[D]`, whether the spaces between the words of a Doc are known.
    """

    columns: npt.NDArray[np.uint64]
    bounds: Pointers1d
    spacing: Bools1d
    strings: StringStore

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> TokenTable:
        arrays = [doc.to_array(list(_COLUMNS)) for doc in docs if len(doc)]
        columns = np.concatenate([np.empty((0, len(_COLUMNS)), np.uint64), *arrays])
        bounds = np.cumsum([0, *map(len, docs)])
        spacing = np.array([not doc.has_unknown_spaces for doc in docs], dtype=np.bool_)
        strings = docs[0].vocab.strings if docs else StringStore()
        return cls(columns, bounds, spacing, strings)

    @property
    def words(self) -> Keys1d:
        """Hashes of the words, uint64 `[N]`."""
        return self.columns[:, 0]

    @cached_property
    def documents(self) -> Pointers1d:
        """Number of the Doc of each token, int64 `[N]`."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @property
    def is_missing(self) -> Bools1d:
        """Tokens without entity annotation, bool `[N]`."""
        found: Bools1d = self.columns[:, 2] == _MISSING
        return found

    @property
    def has_space_after(self) -> Bools1d:
        """Bool `[N]`; where the spacing of the Doc is unknown, too, after each word."""
        found: Bools1d = self.columns[:, 4] != 0
        return found

    @cached_property
    def vocabulary(self) -> tuple[list[str], Pointers1d]:
        """The different words, and the number of the word of each token, int64 `[N]`."""
        keys, numbers = np.unique(self.words, return_inverse=True)
        return [self.strings[int(key)] for key in keys], numbers.reshape(-1)

    def where(self, holds: Callable[[str], object]) -> Bools1d:
        """Tokens of whose word something holds, bool `[N]`; asked once for each different word."""
        words, numbers = self.vocabulary
        found = np.array([bool(holds(word)) for word in words], dtype=np.bool_)
        return found[numbers]

    @cached_property
    def sentences(self) -> Pointers1d | None:
        """Number of sentences of each Doc, int64 `[D]`; None if no Doc has sentence starts."""
        starts = self.columns[:, 1].astype(np.int64)
        first = np.zeros(len(starts), dtype=np.bool_)
        first[self.bounds[:-1][np.diff(self.bounds) > 0]] = True
        if not (starts[~first] != 0).any():
            return None
        begins = (starts == 1) | first
        found: Pointers1d = np.bincount(self.documents, begins, len(self.spacing)).astype(np.int64)
        return found

    @cached_property
    def entities(self) -> tuple[Pointers1d, Pointers1d]:
        """First tokens of the entities, and the tokens after their last ones, int64 `[E]` each."""
        states = self.columns[:, 2]
        # A blocked token begins like an entity, but has no type.
        starts = np.flatnonzero((states == _BEGIN) & (self.columns[:, 3] != 0))
        # An entity ends with the first token after its start that does not go on with it.
        others = np.append(np.flatnonzero(states != _INSIDE), len(states))
        ends = others[np.searchsorted(others, starts, side="right")]
        return starts, np.minimum(ends, self.bounds[self.documents[starts] + 1])

    @property
    def labels(self) -> list[str]:
        """Types of the entities."""
        keys = self.columns[self.entities[0], 3]
        names = {int(key): self.strings[int(key)] for key in np.unique(keys)}
        return [names[int(key)] for key in keys]

    @cached_property
    def mentions(self) -> list[bytes]:
        """The words of each entity, as one key."""
        words, (starts, ends) = np.ascontiguousarray(self.words), self.entities
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        return [words[start:end].tobytes() for start, end in bounds]
