"""Pieces of Docs to show, which cut no entity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from .mistakes import Entity

Piece = tuple[int, int]
"""First token and the one after the last."""

SHORTEST = 30
"""Tokens of a piece of a Doc without sentences, unless it is the last."""


def cut_sentences(n_tokens: int, starts: Iterable[int], entities: Iterable[Entity]) -> list[Piece]:
    """A Doc's sentences, in pieces; those that share an entity are one piece.

    starts: first tokens of the sentences.
    """
    free = set(starts) - _inside(entities)
    return _pieces(n_tokens, sorted(free))


def cut_evenly(n_tokens: int, entities: Iterable[Entity], shortest: int = SHORTEST) -> list[Piece]:
    """A Doc in pieces of at least `shortest` tokens, the last one excepted."""
    inside = _inside(entities)
    starts = [0]
    for token in range(n_tokens):
        if token - starts[-1] >= shortest and token not in inside:
            starts.append(token)
    return _pieces(n_tokens, starts)


def _inside(entities: Iterable[Entity]) -> set[int]:
    """Tokens of entities that are not their first."""
    return {token for start, end, _ in entities for token in range(start + 1, end)}


def _pieces(n_tokens: int, starts: Sequence[int]) -> list[Piece]:
    bounds = sorted({0, *starts, n_tokens})
    return list(pairwise(bounds))
