"""The resource behind `abbreviation` and `@long_form`: the abbreviations that Docs explain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import ref

from ...features.attributes import Linking
from ...features.links import Links
from ...features.tokens import Tokens
from ...numeric.arrays import Array, Arrays, Shapes
from .long_forms import Abbreviations, link_abbreviations
from .search import find_abbreviations
from .spelled_words import SpelledWords


class Explained(Linking):
    """Abbreviations of Docs. It is not learnt and has no arrays; spellings are kept for speed."""

    def __init__(self) -> None:
        self._spelled = SpelledWords()
        self._latest: tuple[ref[Tokens], Abbreviations, Links] | None = None

    def __reduce__(self) -> tuple[type[Explained], tuple[()]]:
        # Without words, which another thread may be adding.
        return Explained, ()

    @classmethod
    def empty(cls) -> Explained:
        return cls()

    def arrays(self) -> Arrays:
        return {}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        return {}

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> Explained:
        return cls()

    def of(self, tokens: Tokens) -> tuple[Abbreviations, Links]:
        """What a batch explains, and which tokens are abbreviations; one search for each batch."""
        latest = self._latest
        if latest is None or latest[0]() is not tokens:
            found = Abbreviations.none()
            if tokens.text_of is not None:
                found = find_abbreviations(tokens, self._spelled, tokens.text_of)
            number = link_abbreviations(
                tokens.words, tokens.sequence_starts, tokens.doc_starts, found
            )
            latest = ref(tokens), found, Links(number, *found.long.T)
            self._latest = latest
        return latest[1:]

    def links(self, tokens: Tokens) -> Links:
        """From each abbreviation to its long form."""
        return self.of(tokens)[1]
