"""Slow twins of the measures of similarity: each compares a span with every term."""

from __future__ import annotations

import math
from collections.abc import Sequence

Words = Sequence[str]
Terms = Sequence[Words]


def distinct(words: Words) -> list[str]:
    return list(dict.fromkeys(words))


def jaccard(span: Words, term: Words) -> float:
    return len({*span} & {*term}) / len({*span} | {*term})


def nearest_by_jaccard(span: Words, terms: Terms) -> float:
    best = max((jaccard(span, term) for term in terms), default=0.0)
    return best if best >= 0.6 - 1e-9 else 0.0


def jaro_winkler(one: str, other: str) -> float:
    """By definition, a list of flags at a time."""
    window = max(0, max(len(one), len(other)) // 2 - 1)
    taken, of_one = [False] * len(other), []
    for i, character in enumerate(one):
        for k in range(max(0, i - window), min(len(other), i + window + 1)):
            if not taken[k] and other[k] == character:
                taken[k] = True
                of_one.append(character)
                break
    if not of_one:
        return 0.0
    of_other = [character for k, character in enumerate(other) if taken[k]]
    moved = sum(a != b for a, b in zip(of_one, of_other, strict=True)) // 2
    common = len(of_one)
    jaro = (common / len(one) + common / len(other) + (common - moved) / common) / 3
    shared = 0
    while shared < min(4, len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return jaro + 0.1 * shared * (1 - jaro) if jaro > 0.7 else jaro


def closeness(one: str, other: str) -> float:
    """How close two words are for soft TF-IDF; 0 where they do not match."""
    if one == other:
        return 1.0
    if min(len(one), len(other)) < 3 or max(len(one), len(other)) > 64 or one[:3] != other[:3]:
        return 0.0
    value = jaro_winkler(one, other)
    return value if value >= 0.9 - 1e-9 else 0.0


def weights_of(terms: Terms) -> dict[str, float]:
    counts: dict[str, int] = {}
    for term in terms:
        for word in {*term}:
            counts[word] = counts.get(word, 0) + 1
    return {word: math.log1p(len(terms) / count) for word, count in counts.items()}


def soft_tfidf(span: Words, term: Words, weights: dict[str, float], n_terms: int) -> float:
    """Terms must be distinct. Equal words match first, then the others, the last first."""

    def weight(word: str) -> float:
        return weights.get(word, math.log1p(n_terms))

    def norm(words: Words) -> float:
        return math.sqrt(sum(weight(word) ** 2 for word in {*words}))

    free = {*term} - {*span}
    total = sum(weight(word) ** 2 for word in {*term} & {*span})
    for word in distinct(span[::-1]):
        gains = [(closeness(word, other) * weight(other), other) for other in sorted(free)]
        if word not in term and gains and max(gains)[0] > 0:
            gain, other = max(gains)
            free.remove(other)
            total += weight(word) * gain
    return total / (norm(span) * norm(term))


def nearest_by_tfidf(span: Words, terms: Terms) -> float:
    weights = weights_of(terms)
    best = max((soft_tfidf(span, term, weights, len(terms)) for term in terms), default=0.0)
    return best if best >= 0.8 - 1e-9 else 0.0
