"""Candidates: what an entity may refer to, and where a Doc keeps it.

A generator of candidates is what has `candidates`; `systems.dictionaries.linker` asks one after
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from spacy.tokens import Span

_KEPT = "cascade_candidates"
"""Name in `doc.user_data`, in a key as spaCy's own extensions have it, so that it moves with a part
of the Doc."""


class Candidate(NamedTuple):
    """An entry that an entity may refer to.

    id: its identifier. term: the term that the entity matches, as the list has it. score: 1 where
    it matches as written, less otherwise. label: of the term, "" where it has none.
    """

    id: str
    term: str
    score: float
    label: str


class CandidateGenerator(Protocol):
    """Proposes candidates for entities, by exact matching, similarity or anything else."""

    def candidates(self, mentions: Sequence[Span]) -> Sequence[Sequence[Candidate]]:
        """The candidates of each mention, best first, none where there are none.

        mentions: entities of one Doc, in order. Their Doc must not be changed.
        """
        ...


def keep_candidates(span: Span, candidates: Sequence[Candidate]) -> None:
    """Keep them on the Doc of the span, as lists of plain values, which can be saved."""
    user_data: dict[Any, Any] = span.doc.user_data
    user_data[_key(span)] = [list(candidate) for candidate in candidates]


def candidates_of(span: Span) -> list[Candidate]:
    """The candidates of a span, best first; the getter of `Span._.candidates`."""
    # spaCy's types know only texts as keys, its own extensions have such keys as these.
    user_data: dict[Any, Any] = span.doc.user_data
    return [Candidate(*values) for values in user_data.get(_key(span), ())]


def _key(span: Span) -> tuple[str, str, int, int]:
    return ("._.", _KEPT, span.start_char, span.end_char)


def register_candidates() -> None:
    """Make `Span._.candidates` available, unless the user has an extension of that name."""
    if not Span.has_extension("candidates"):
        Span.set_extension("candidates", getter=candidates_of)
