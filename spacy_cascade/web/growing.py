"""Lexicons that grow: terms in the same formatting as known ones, with the evidence for each.

A group of texts with the same formatting (`web.pages`) is trusted where many of them are seeds. A
list or a column is also trusted where it has many of the seeds, however long it is: its author
put together what belongs together. With `s` of `m` seeds among `n` texts, a text of it is a term
with probability

    p = (s - ½)/(n + 1)                                      for a pattern
    p = 1 - (1 - (s - ½)/(n + 1)) (1 - (s - ½)/(m + 1))      for a list or a column

Of one page the best group counts, and pages are taken for independent: a term's score is
`1 - Π (1 - p)` over its pages. The idea is WebListing (McCallum and Li 2003, section 3); the
probabilities are this package's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import ConfigError
from .pages import PATTERN, Item, read_items


@dataclass(frozen=True)
class Thresholds:
    """What a group needs. seeds: different ones in it. share: of them among its texts."""

    seeds: int = 2
    share: float = 0.02

    def __post_init__(self) -> None:
        if self.seeds < 1 or not 0 <= self.share <= 1:
            raise ConfigError(
                f"A group needs 1 seed or more, and a share from 0 to 1, not {self.seeds} and "
                f"{self.share}."
            )


class Evidence(NamedTuple):
    """A group that a term stands in.

    seeds: in the group. size: texts of the group. probability: that one of these is a term.
    """

    page: str
    formatting: str
    seeds: int
    size: int
    probability: float

    @classmethod
    def of(cls, page: str, formatting: str, seeds: int, size: int, n_seeds: int) -> Evidence:
        """n_seeds: all of them, wherever they stand."""
        missed = 1.0 - (seeds - 0.5) / (size + 1)
        if not formatting.startswith(PATTERN):
            missed *= 1.0 - (seeds - 0.5) / (n_seeds + 1)
        return cls(page, formatting, seeds, size, 1.0 - missed)


@dataclass(frozen=True)
class WebTerm:
    """A term that was found. evidence: the best group of each page, the best page first."""

    text: str
    score: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class GrownLexicon:
    """New terms, the best first. found_seeds: how many seeds stand on some page."""

    terms: list[WebTerm]
    n_pages: int
    found_seeds: int


def normal(text: str) -> str:
    """A term for comparison."""
    return " ".join(text.casefold().split())


def grow_lexicon(
    seeds: Collection[str],
    pages: Iterable[tuple[str, bytes]],
    thresholds: Thresholds | None = None,
) -> GrownLexicon:
    """Terms that share the seeds' formatting. pages: names, and HTML as it was served.

    Raises `ConfigError` without seeds.
    """
    known = {normal(seed) for seed in seeds} - {""}
    if not known:
        raise ConfigError("There are no seeds. Give some terms of the kind to look for.")
    found: dict[str, list[Evidence]] = defaultdict(list)
    spelled: dict[str, str] = {}
    seen: set[str] = set()
    n_pages = 0
    for page, content in pages:
        n_pages += 1
        items = read_items(content)
        seen.update(known.intersection(normal(item.text) for item in items))
        for text, evidence in _on_page(page, items, known, thresholds or Thresholds()).items():
            found[normal(text)].append(evidence)
            spelled.setdefault(normal(text), text)
    terms = [_term(spelled[key], evidence) for key, evidence in found.items()]
    terms.sort(key=lambda term: (-term.score, term.text))
    return GrownLexicon(terms, n_pages, len(seen))


def _on_page(
    page: str, items: Sequence[Item], known: Collection[str], thresholds: Thresholds
) -> dict[str, Evidence]:
    """The best evidence of a page for each text that is not known."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for item in items:
        for formatting in item.formatting:
            groups[formatting].setdefault(normal(item.text), item.text)
    best: dict[str, tuple[str, Evidence]] = {}
    for formatting, texts in groups.items():
        n_seeds = sum(key in known for key in texts)
        if n_seeds < thresholds.seeds or n_seeds < thresholds.share * len(texts):
            continue
        evidence = Evidence.of(page, formatting, n_seeds, len(texts), len(known))
        for key, text in texts.items():
            if key in known:
                continue
            if key not in best or best[key][1].probability < evidence.probability:
                best[key] = text, evidence
    return dict(best.values())


def _term(text: str, evidence: Sequence[Evidence]) -> WebTerm:
    missed = 1.0
    for each in evidence:
        missed *= 1.0 - each.probability
    ranked = sorted(evidence, key=lambda each: (-each.probability, each.page))
    return WebTerm(text, 1.0 - missed, tuple(ranked))
