"""The abbreviations that Docs explain (Schwartz and Hearst 2003), and the tokens that are such.

The short form is what brackets hold, and its characters are looked for in the words before them,
from the last one to the first; else it is the word before the brackets, and they hold the long form
(docs/method.md, section 7.5).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from ...features.attributes import TextOf
from ...features.strings import hash_string, hash_strings
from ...features.tokens import Tokens
from ...numeric.index import KeyIndex
from ...types import Ints1d, Keys1d, Pointers2d

MOST_TOKENS = 5
"""Longest short form in tokens: `TGF - beta 1`."""
MOST_WORDS = 2
"""Longest short form in words; hyphens and other signs between tokens join them to one word."""
FEWEST_CHARACTERS, MOST_CHARACTERS = 2, 10
LONGEST = 100
"""Characters of a token of a long form."""
MOST_INSIDE = 30
"""Brackets with more tokens before a comma explain no abbreviation."""

_OPENING, _CLOSING, _SEPARATORS = ("(", "[", "-LRB-"), (")", "]", "-RRB-"), (",", ";", ":")
_N_KINDS = len(_OPENING)
_JOINING = frozenset("-/\u2013\u2010\u2011")


class Abbreviations(NamedTuple):
    """The abbreviations that are explained in a batch, in the order of their brackets.

    short, long: int64 `[A, 2]`, start and end (exclusive) of both forms among the tokens of the
    batch. other_number: uint64 `[A]`, hash of the short form's last word with a final `s`, or
    without it where it has one.
    """

    short: Pointers2d
    long: Pointers2d
    other_number: Keys1d


def find_abbreviations(tokens: Tokens, text_of: TextOf) -> Abbreviations:
    """The abbreviations that a batch explains; both forms lie in one sequence.

    text_of: gives the text of a word by its hash.
    """

    def texts(first: int, last: int) -> list[str]:
        return [text_of(word) for word in tokens.words[first:last].tolist()]

    found = [_forms_at(texts, *bounds) for bounds in _brackets(tokens)]
    forms = [form for form in found if form is not None]
    bounds = np.array(forms, dtype=np.int64).reshape(-1, 4)
    last_words = [texts(end - 1, end)[0] for _, end, _, _ in forms]
    others = [word[:-1] if word.endswith("s") else f"{word}s" for word in last_words]
    return Abbreviations(bounds[:, :2], bounds[:, 2:], hash_strings(others))


@cache
def _marks() -> KeyIndex:
    """Brackets and separators, by their place among them all."""
    return KeyIndex(hash_strings((*_OPENING, *_CLOSING, *_SEPARATORS)))


def _brackets(tokens: Tokens) -> Iterator[tuple[int, int, int]]:
    """Opening brackets that hold something: start of their sequence, place, and end.

    The end is the closing bracket, or a separator before it.
    """
    mark = _marks().lookup(tokens.words)
    (places,) = np.nonzero(mark >= 0)
    sequence = np.searchsorted(tokens.sequence_starts, places, side="right")
    columns = (places, mark[places], tokens.sequence_starts[sequence - 1])
    marks = list(zip(*(column.tolist() for column in columns), strict=True))
    for number, (place, kind, begin) in enumerate(marks):
        if kind >= _N_KINDS:
            continue
        for end, other, of_end in marks[number + 1 : number + 2 + MOST_INSIDE]:
            if other == kind + _N_KINDS or other >= 2 * _N_KINDS:
                if of_end == begin and place + 1 < end <= place + MOST_INSIDE + 1:
                    yield begin, place, end
                break
            if other < _N_KINDS:
                break


def _forms_at(
    texts: Callable[[int, int], list[str]], begin: int, bracket: int, end: int
) -> tuple[int, int, int, int] | None:
    """Start and end of the short form that a bracket explains, and of its long form."""
    inside = texts(bracket + 1, end)
    if _can_be_short(inside):
        low = max(begin, bracket - 2 * _most_words(inside))
        start = _long_form_start(inside, texts(low, bracket))
        return None if start is None else (bracket + 1, end, low + start, bracket)
    low = max(begin, bracket - MOST_TOKENS)
    before = texts(low, bracket)
    place = len(before) - 1
    while place >= 2 and before[place - 1] in _JOINING:
        place -= 2
    short = before[max(place, 0) :]
    if not _can_be_short(short):
        return None
    start = _long_form_start(short, inside)
    return None if start is None else (low + place, bracket, bracket + 1 + start, end)


def _can_be_short(words: Sequence[str]) -> bool:
    """Whether tokens can be a short form: one or two words, 2 to 10 characters, one a letter."""
    if not (
        0 < len(words) <= MOST_TOKENS
        and FEWEST_CHARACTERS <= sum(map(len, words)) <= MOST_CHARACTERS
        and words[0][0].isalnum()
        and words[-1] not in _JOINING
    ):
        return False
    n_words = 1 + sum(one and other for one, other in pairwise(map(_is_word, words)))
    return n_words <= MOST_WORDS and any(map(str.isalpha, "".join(words)))


def _is_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _most_words(short: Sequence[str]) -> int:
    """The longest long form in words: `min(|A| + 5, 2 |A|)`."""
    n = sum(map(len, short))
    return min(n + 5, 2 * n)


def _long_form_start(short: Sequence[str], words: Sequence[str]) -> int | None:
    """The first of the words of the shortest long form that ends with them, None without one.

    Each letter and digit of the short form occurs in it, in order, and the first one at the start
    of a word. It is longer than the short form, which is not among its words, and has not too many
    words.
    """
    text = " ".join(words).lower()
    first, *others = [character for character in "".join(short).lower() if character.isalnum()]
    place = len(text)
    for character in reversed(others):
        place = text.rfind(character, 0, place)
        if place < 0:
            return None
    place = text.rfind(first, 0, place)
    while place > 0 and text[place - 1].isalnum():
        place = text.rfind(first, 0, place)
    if place < 0 or len(text) - place <= sum(map(len, short)):
        return None
    lower, own = [word.lower() for word in words], [word.lower() for word in short]
    start = bisect_right(list(accumulate(len(word) + 1 for word in lower)), place)
    kept = lower[start:]
    if max(map(len, kept)) > LONGEST:
        return None
    is_among = any(kept[k : k + len(own)] == own for k in range(len(kept)))
    return None if is_among or sum(map(_is_word, kept)) > _most_words(short) else start


def linked_tokens(tokens: Tokens, found: Abbreviations) -> Ints1d:
    """Number of the abbreviation that each token is or is part of, int32 `[T]`, -1 for none.

    Short forms are known by their words as they are written, anywhere in the Doc that explains
    them, the last word also with or without a final `s`. The longest one counts, from the left; of
    several explanations the first.
    """
    linked = np.full(len(tokens.words), -1, dtype=np.int32)
    if not len(found.short):
        return linked
    words, doc_starts, starts = tokens.words, tokens.doc_starts, tokens.sequence_starts
    docs = np.searchsorted(doc_starts, found.short[:, 0], side="right").tolist()
    phrases = [words[start:end].tolist() for start, end in found.short.tolist()]
    numbers: dict[tuple[int, ...], int] = {}
    # As they are written first, so that another one's plural does not hide a short form.
    for last_words in ([phrase[-1] for phrase in phrases], found.other_number.tolist()):
        for number, last in enumerate(last_words):
            numbers.setdefault((docs[number], *phrases[number][:-1], last), number)
    beginning: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for key in sorted(numbers, key=len, reverse=True):
        beginning.setdefault(key[:2], []).append(key)
    first_words = KeyIndex(np.array(list({key[1] for key in numbers}), dtype=np.uint64))
    (places,) = np.nonzero(first_words.lookup(words) >= 0)
    of_places = np.searchsorted(doc_starts, places, side="right")
    ends = starts[np.searchsorted(starts, places, side="right")]
    columns = (places, of_places, words[places], ends)
    free = 0
    for place, doc, word, end in zip(*(column.tolist() for column in columns), strict=True):
        for key in beginning.get((doc, word), ()) if place >= free else ():
            after = place + len(key) - 1
            if after <= end and (
                after == place + 1 or tuple(words[place:after].tolist()) == key[1:]
            ):
                free = after
                linked[place:after] = numbers[key]
                break
    return linked


_PARTS = ("short_first", "short_inside", "long_first", "long_inside", "long_last", "used")
_SHORT_FIRST, _SHORT_INSIDE, _LONG_FIRST, _LONG_INSIDE, _LONG_LAST, _USED = hash_strings(_PARTS)
PARTS = {hash_string(text): text for text in _PARTS}
"""Values of the attribute `abbreviation`, and their texts."""


def abbreviation_parts(abbreviation_of: Ints1d, found: Abbreviations) -> Keys1d:
    """Values of `PARTS` for all tokens, uint64 `[T]`, 0 for none.

    Where a short form is explained and where its long form stands, the place in that form; at other
    places of a short form, that it is used.
    """
    parts: Keys1d = np.where(abbreviation_of >= 0, _USED, np.uint64(0))
    for start, end in found.long.tolist():
        parts[start:end] = _LONG_INSIDE
        parts[end - 1] = _LONG_LAST
        parts[start] = _LONG_FIRST
    for start, end in found.short.tolist():
        parts[start:end] = _SHORT_INSIDE
        parts[start] = _SHORT_FIRST
    return parts
