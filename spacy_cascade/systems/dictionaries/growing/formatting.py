"""Terms from web pages: texts in the same formatting as known ones.

A group of texts with the same formatting (`systems.dictionaries.growing.pages`) is trusted where
many of them are seeds. A list or a column is also trusted where it has many of the seeds, however
long it is: its author put together what belongs together. With `s` of `m` seeds among `n` texts, a
text of it is a term with probability

    p = (s - ½)/(n + 1)                                      for a pattern
    p = 1 - (1 - (s - ½)/(n + 1)) (1 - (s - ½)/(m + 1))      for a list or a column

Of one page the best group counts. The idea is WebListing (McCallum and Li 2003, section 3); the
probabilities are this package's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ....errors import ConfigError
from .evidence import Evidence, Found, distinct_seeds, normal
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


def from_pages(
    seeds: Collection[str],
    pages: Iterable[tuple[str, bytes]],
    thresholds: Thresholds | None = None,
) -> Found:
    """What shares the seeds' formatting. pages: names, and HTML as it was served.

    Raises `ConfigError` without seeds.
    """
    known = distinct_seeds(seeds)
    found: list[tuple[str, Evidence]] = []
    seen: set[str] = set()
    for page, content in pages:
        items = read_items(content)
        seen.update(key for key in map(normal, (item.text for item in items)) if key in known)
        found += _on_page(page, items, known, thresholds or Thresholds())
    return Found(found, len(seen))


def of_group(page: str, formatting: str, seeds: int, size: int, n_seeds: int) -> Evidence:
    """The evidence of a group with so many seeds; n_seeds: all of them, wherever they stand."""
    missed = 1.0 - (seeds - 0.5) / (size + 1)
    if not formatting.startswith(PATTERN):
        missed *= 1.0 - (seeds - 0.5) / (n_seeds + 1)
    return Evidence(page, formatting, seeds, size, 1.0 - missed)


def _on_page(
    page: str, items: Sequence[Item], known: Collection[str], thresholds: Thresholds
) -> Iterable[tuple[str, Evidence]]:
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
        evidence = of_group(page, formatting, n_seeds, len(texts), len(known))
        for key, text in texts.items():
            if key in known:
                continue
            if key not in best or best[key][1].probability < evidence.probability:
                best[key] = text, evidence
    return best.values()
