"""Slow twin of abbreviations: the paper's algorithm on one string, a character at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

Bounds = tuple[int, int]
"""Start and end, exclusive."""
CLOSING = {"(": ")", "[": "]", "-LRB-": "-RRB-"}
HYPHENS = ("-", "/", "–", "‐", "‑")


def best_long_form(short: str, long: str) -> int | None:
    """`findBestLongForm` of Schwartz and Hearst (2003, figure 1): place of the first character."""
    s, place = len(short) - 1, len(long) - 1
    while s >= 0:
        character = short[s].lower()
        if character.isalnum():
            while (place >= 0 and long[place].lower() != character) or (
                s == 0 and place > 0 and long[place - 1].isalnum()
            ):
                place -= 1
            if place < 0:
                return None
            place -= 1
        s -= 1
    return place + 1


def long_form_start(short: Sequence[str], words: Sequence[str]) -> int | None:
    """Number of the word where the long form begins that ends with the words."""
    text = "".join(short)
    place = best_long_form(text, " ".join(words))
    if place is None or len(" ".join(words)) - place <= len(text):
        return None
    start = max(n for n in range(len(words)) if len(" ".join([*words[:n], ""])) <= place)
    kept = words[start:]
    n_words = sum(any(map(str.isalnum, word)) for word in kept)
    itself = f" {' '.join(short)} ".lower() in f" {' '.join(kept)} ".lower()
    return None if itself or n_words > min(len(text) + 5, 2 * len(text)) else start


def can_be_short(words: Sequence[str]) -> bool:
    text = "".join(words)
    with_letters = [any(map(str.isalnum, word)) for word in words]
    n_words = 1 + sum(a and b for a, b in pairwise(with_letters))
    return (
        1 <= len(words) <= 5
        and 2 <= len(text) <= 10
        and text[0].isalnum()
        and any(map(str.isalpha, text))
        and n_words <= 2
        and words[-1] not in HYPHENS
    )


@dataclass(frozen=True)
class Found:
    """An abbreviation: number of the sentence, bounds of the short and the long form in it."""

    sentence: int
    short: Bounds
    long: Bounds


def explained(sentences: Sequence[Sequence[str]]) -> Iterator[Found]:
    """The abbreviations that a Doc explains."""
    for number, words in enumerate(sentences):
        for i, word in enumerate(words):
            if word in CLOSING:
                for short, long in at_bracket(words, i):
                    yield Found(number, short, long)


def at_bracket(words: Sequence[str], i: int) -> Iterator[tuple[Bounds, Bounds]]:
    ends = (*CLOSING, CLOSING[words[i]], ",", ";", ":")
    close = next((t for t in range(i + 1, len(words)) if words[t] in ends), None)
    if close is None or words[close] in CLOSING or close == i + 1:
        return
    inside = words[i + 1 : close]
    if can_be_short(inside):
        text = "".join(inside)
        low = max(0, i - 2 * min(len(text) + 5, 2 * len(text)))
        start = long_form_start(inside, words[low:i])
        if start is not None:
            yield (i + 1, close), (low + start, i)
        return
    low, begin = max(0, i - 5), i - 1
    while begin - 2 >= low and words[begin - 1] in HYPHENS:
        begin -= 2
    if begin >= 0 and can_be_short(words[begin:i]):
        start = long_form_start(words[begin:i], inside)
        if start is not None:
            yield (begin, i), (i + 1 + start, close)


def uses(sentences: Sequence[Sequence[str]]) -> dict[tuple[int, int], Found]:
    """The abbreviation of each token (sentence, token) that is one, from the left, longest first.

    A short form as it is written counts more than one with another final `s`; else the first.
    """
    forms: dict[tuple[str, ...], Found] = {}
    variants: dict[tuple[str, ...], Found] = {}
    for found in explained(sentences):
        words = tuple(sentences[found.sentence][slice(*found.short)])
        last = words[-1][:-1] if words[-1].endswith("s") else f"{words[-1]}s"
        forms.setdefault(words, found)
        variants.setdefault((*words[:-1], last), found)
    known = variants | forms
    linked = {}
    for number, sentence in enumerate(sentences):
        t = 0
        while t < len(sentence):
            ends = [end for end in range(t + 1, t + 6) if tuple(sentence[t:end]) in known]
            end = ends[-1] if ends else t + 1
            if ends:
                linked.update({(number, k): known[tuple(sentence[t:end])] for k in range(t, end)})
            t = end
    return linked
