"""Mistakes with the same words, and which mistakes a page has room for."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from .costs import Mistake
from .mistakes import Kind


@dataclass(frozen=True)
class Repeated:
    """All mistakes whose entities have the same text.

    n: number of places in the Docs; at a place there may be a gold and a predicted entity.
    counts: of the mistakes, by whether the entity is gold, its label and the kind of mistake; the
    most frequent first. cost: the sum over the mistakes. n_words: of the text, at all places.
    """

    text: str
    n: int
    n_words: int
    counts: dict[tuple[bool, str, Kind], int]
    cost: float

    @property
    def cost_per_word(self) -> float:
        return self.cost / self.n_words

    @property
    def labels(self) -> list[str]:
        return sorted({label for _, label, _ in self.counts})


def repeated_mistakes(mistakes: Iterable[tuple[int, str, Mistake]]) -> list[Repeated]:
    """Mistakes by text, in descending order of cost per word; ties keep their order.

    mistakes: each with the number of its Doc and the text of its entity. Texts that differ in
    white space alone are the same.
    """
    by_text: dict[str, list[tuple[int, Mistake]]] = {}
    for doc, text, mistake in mistakes:
        by_text.setdefault(" ".join(text.split()), []).append((doc, mistake))
    found = []
    for text, of_text in by_text.items():
        places = {(doc, *mistake.entity[:2]) for doc, mistake in of_text}
        counts = Counter((m.is_gold, m.entity[2], m.kind) for _, m in of_text)
        n_words = sum(end - start for _, start, end in places)
        cost = math.fsum(mistake.cost for _, mistake in of_text)
        found.append(Repeated(text, len(places), n_words, dict(counts.most_common()), cost))
    return sorted(found, key=lambda one: -one.cost_per_word)


class Costly(Protocol):
    """What a page sorts by cost and filters by label."""

    @property
    def cost(self) -> float: ...
    @property
    def cost_per_word(self) -> float: ...
    @property
    def labels(self) -> list[str]: ...


One = TypeVar("One", bound=Costly)


def choose(
    found: Sequence[One], n: int, orders: Iterable[Callable[[One], float]]
) -> list[tuple[One, bool]]:
    """What a page shows: the first n, and for its filter and its other orders some more.

    found: in the order in which they are shown. orders: keys, each of which sorts in descending
    order. The n first of all in each order, and the half of n of each label; whether each is among
    the first n as they stand.
    """
    wanted = set(range(min(n, len(found))))
    for key in orders:
        ranked = sorted(range(len(found)), key=lambda i: -key(found[i]))
        wanted.update(ranked[:n])
        n_of: Counter[str] = Counter()
        for i in ranked:
            labels = found[i].labels
            if any(n_of[label] < (n + 1) // 2 for label in labels):
                wanted.add(i)
            n_of.update(labels)
    return [(found[i], i < n) for i in sorted(wanted)]


def count_labels(found: Iterable[Costly]) -> dict[str, int]:
    """How many have each label, in alphabetical order."""
    return dict(sorted(Counter(label for one in found for label in one.labels).items()))
