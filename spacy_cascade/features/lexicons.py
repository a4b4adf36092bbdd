"""Term lists as features: which tokens stand inside a listed term.

A term is the sequence of its tokens in lower case. All beginnings of all terms are kept
as chained 64-bit keys, so the longest term at a place is found by walking on as long as
a beginning matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import TemplateError
from ..inference.hashing import mix, probe
from ..jit import helper
from ..types import Bools1d, Keys1d, Pointers1d
from .index import KeyIndex
from .strings import hash_string

_SALT = np.uint64(0x51ED270B0A1F39C1)
BEGIN, INSIDE = np.uint64(1), np.uint64(2)
"""Values of a token that begins a term or stands inside one."""


@helper
def _longest_matches(table, keys, complete, words, sequence_starts, values):  # type: ignore[no-untyped-def]
    for i in range(len(sequence_starts) - 1):
        t = sequence_starts[i]
        while t < sequence_starts[i + 1]:
            key = _SALT
            end = t
            for u in range(t, sequence_starts[i + 1]):
                key = mix(key, words[u])
                entry = table[probe(table, keys, key)]
                if entry < 0:
                    break
                if complete[entry]:
                    end = u + 1
            for u in range(t, end):
                values[u] = BEGIN if u == t else INSIDE
            t = max(end, t + 1)


@dataclass(frozen=True)
class Lexicon:
    """Keys of all beginnings of the terms, and which of them are whole terms."""

    index: KeyIndex
    complete: Bools1d

    @classmethod
    def of(cls, terms: Iterable[Sequence[str]]) -> Lexicon:
        """Build from terms, each a sequence of tokens."""
        found: dict[int, bool] = {}
        for term in terms:
            key = _SALT
            for n, token in enumerate(term, start=1):
                key = np.uint64(mix(key, np.uint64(hash_string(token.lower()))))
                found[int(key)] = found.get(int(key), False) or n == len(term)
        keys = np.fromiter(found, dtype=np.uint64, count=len(found))
        return cls(KeyIndex(keys), np.fromiter(found.values(), dtype=np.bool_, count=len(found)))

    def values(self, lower: Keys1d, sequence_starts: Pointers1d) -> Keys1d:
        """For each token `BEGIN`, `INSIDE` or 0, longest terms first from the left.

        lower: uint64 `[T]`, hashes of the tokens in lower case.
        """
        values = np.zeros(len(lower), dtype=np.uint64)
        self.index.apply(_longest_matches, self.complete, lower, sequence_starts, values)
        return values


def read_terms(name: str, source: str | Sequence[str]) -> list[str]:
    """The terms of a lexicon: a text file with a term a line, or the terms themselves.

    Raises `TemplateError` where the file cannot be read or no term is left.
    """
    lines: Iterable[str] = source
    if isinstance(source, str):
        try:
            lines = Path(source).read_text(encoding="utf8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise TemplateError(
                f"Cannot read the lexicon '{name}': {error}. Give the path of a UTF-8 text file "
                "with a term a line under [components.*.model.templates.lexicons]."
            ) from None
    terms = [line.strip() for line in lines if line.strip()]
    if not terms:
        raise TemplateError(f"The lexicon '{name}' has no terms.")
    return terms
