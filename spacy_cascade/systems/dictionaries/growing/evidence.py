"""New terms with the evidence for each, whatever it comes from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....errors import ConfigError


class Evidence(NamedTuple):
    """What speaks for a term.

    source: a page, or the pipeline with the vectors. group: what the term belongs to there. seeds:
    how many of them belong to it. size: of the group. probability: that a text of it is a term.
    """

    source: str
    group: str
    seeds: int
    size: int
    probability: float


@dataclass(frozen=True)
class GrownTerm:
    """A term that was found. evidence: the best of each source, the best source first.

    score: `1 - Π (1 - p)` over its evidence, as if sources were independent.
    """

    text: str
    score: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Found:
    """What a kind of source gives. found_seeds: how many seeds it knows."""

    evidence: list[tuple[str, Evidence]]
    found_seeds: int


def normal(text: str) -> str:
    """A term for comparison."""
    return " ".join(text.casefold().split())


def distinct_seeds(seeds: Collection[str]) -> dict[str, str]:
    """Seeds by their normal form; raises `ConfigError` without any."""
    known: dict[str, str] = {}
    for seed in seeds:
        known.setdefault(normal(seed), seed)
    known.pop("", None)
    if not known:
        raise ConfigError("There are no seeds. Give some terms of the kind to look for.")
    return known


def ranked_terms(evidence: Iterable[tuple[str, Evidence]]) -> list[GrownTerm]:
    """The best first, of equals those of smaller groups. Spellings of one term are one term."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    spelled: dict[str, str] = {}
    for text, each in evidence:
        found[normal(text)].append(each)
        spelled.setdefault(normal(text), text)
    terms = [_term(spelled[key], of_term) for key, of_term in found.items()]
    return sorted(terms, key=lambda term: (-term.score, term.evidence[0].size, term.text))


def _term(text: str, evidence: Sequence[Evidence]) -> GrownTerm:
    missed = 1.0
    for each in evidence:
        missed *= 1.0 - each.probability
    ranked = sorted(evidence, key=lambda each: (-each.probability, each.source))
    return GrownTerm(text, 1.0 - missed, tuple(ranked))
