"""Costs of mistakes by the model's own probabilities, by piece of text and by entity."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeVar

from .mistakes import Comparison, Entity, Kind

SMALLEST = 1e-4
"""Smaller probabilities count as this one: a model knows little about the far tail."""

SHORTEST = 30
"""Tokens of a piece of a Doc without sentences; only the last piece may be shorter."""

Piece = tuple[int, int]
"""First token of a piece of a Doc, and the token after its last."""
Choice = tuple[Entity, float | None]
"""A span that may become an entity, and its confidence."""


@dataclass(frozen=True)
class Judged:
    """The entities of a Doc with what the pipeline thought of them.

    confidences: of the predicted entities. probabilities: of the gold entities. None stands for
    an unknown number. pieces: the Doc in pieces that cut no entity. choices: the spans that a
    threshold selects entities from; empty if it can only drop predicted ones.
    """

    comparison: Comparison
    confidences: Sequence[float | None]
    probabilities: Sequence[float | None]
    pieces: Sequence[Piece]
    choices: Sequence[Choice] = ()


@dataclass(frozen=True)
class Mistake:
    """A gold entity that was not found, or a predicted entity that is wrong.

    probability: what the pipeline assigned to the entity, None if it is unknown. cost: negative
    log-likelihood of the truth, or 1 without a probability.
    """

    entity: Entity
    is_gold: bool
    kind: Kind
    probability: float | None
    cost: float


@dataclass(frozen=True)
class BadPiece:
    """A piece with mistakes, those of gold entities first; cost: their sum."""

    doc: int
    piece: Piece
    mistakes: list[Mistake]
    cost: float

    @property
    def cost_per_word(self) -> float:
        return self.cost / (self.piece[1] - self.piece[0])

    @property
    def labels(self) -> list[str]:
        return sorted({mistake.entity[2] for mistake in self.mistakes})


def negative_log_likelihood(probability: float | None) -> float:
    """`-ln p` of the truth, with p not below `SMALLEST`; 1 if p is unknown."""
    return 1.0 if probability is None else -math.log(min(1.0, max(probability, SMALLEST)))


def find_mistakes(judged: Judged) -> list[Mistake]:
    """The mistakes in a Doc, those of gold entities first.

    A missed gold entity costs its negative log-likelihood. By the model, a spurious entity with
    confidence c is wrong with probability `1 - c`, so it costs `-ln(1 - c)`.
    """
    found = judged.comparison
    gold = zip(found.gold, found.gold_kinds, judged.probabilities, strict=True)
    predicted = zip(found.predicted, found.predicted_kinds, judged.confidences, strict=True)
    of_truth = [(entity, True, kind, p, p) for entity, kind, p in gold]
    for entity, kind, p in predicted:
        of_truth.append((entity, False, kind, p, None if p is None else 1.0 - p))
    return [
        Mistake(entity, is_gold, kind, p, negative_log_likelihood(truth))
        for entity, is_gold, kind, p, truth in of_truth
        if kind is not Kind.RIGHT
    ]


def bad_pieces(docs: Iterable[Judged]) -> list[BadPiece]:
    """All pieces with mistakes, in descending order of cost per word; ties keep their order."""
    found = []
    for number, judged in enumerate(docs):
        mistakes = find_mistakes(judged)
        for start, end in judged.pieces if mistakes else ():
            inside = [m for m in mistakes if start <= m.entity[0] < end]
            if inside:
                cost = math.fsum(m.cost for m in inside)
                found.append(BadPiece(number, (start, end), inside, cost))
    return sorted(found, key=lambda bad: -bad.cost_per_word)


def cut_sentences(n_tokens: int, starts: Iterable[int], entities: Iterable[Entity]) -> list[Piece]:
    """The sentences of a Doc; sentences that share an entity become one piece.

    starts: first tokens of the sentences.
    """
    return _pieces(n_tokens, set(starts) - _inside(entities))


def cut_evenly(n_tokens: int, entities: Iterable[Entity], shortest: int = SHORTEST) -> list[Piece]:
    """A Doc in pieces of at least `shortest` tokens, except the last one."""
    inside = _inside(entities)
    starts = [0]
    for token in range(n_tokens):
        if token - starts[-1] >= shortest and token not in inside:
            starts.append(token)
    return _pieces(n_tokens, starts)


def _inside(entities: Iterable[Entity]) -> set[int]:
    """Tokens of entities except the first of each."""
    return {token for start, end, _ in entities for token in range(start + 1, end)}


def _pieces(n_tokens: int, starts: Iterable[int]) -> list[Piece]:
    return list(pairwise(sorted({0, *starts, n_tokens})))


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
