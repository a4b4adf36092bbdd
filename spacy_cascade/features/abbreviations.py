"""Abbreviations that a Doc explains: `heat shock protein (HSP)`.

The algorithm of Schwartz and Hearst (2003), on tokens: the short form is what brackets hold, and
its characters are looked for in the words before them, from the last one to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..types import Keys1d, Pointers1d, Pointers2d
from .strings import hash_string

MOST_TOKENS = 5
"""Longest short form in tokens: `TGF - beta 1`."""
_MOST_WORDS = 2
"""Longest short form in words; hyphens and other signs join tokens to one word."""
_FEWEST_CHARACTERS, _MOST_CHARACTERS = 2, 10
_MOST_INSIDE = 30
"""Brackets with more tokens before a comma explain no abbreviation."""

_CLOSING = {hash_string(a): hash_string(b) for a, b in (("(", ")"), ("[", "]"), ("-LRB-", "-RRB-"))}
_OPENING = np.array(list(_CLOSING), dtype=np.uint64)
_SEPARATORS = frozenset(map(hash_string, (",", ";", ":")))
_JOINING = frozenset("-/–‐‑")


class Abbreviations(NamedTuple):
    """The abbreviations that are explained in a batch, in the order of their brackets.

    short, long: int64 `[A, 2]`, start and end (exclusive) of both forms among the tokens of the
    batch. other_number: uint64 `[A]`, hash of the short form's last word with a final `s`, or
    without it where it has one.
    """

    short: Pointers2d
    long: Pointers2d
    other_number: Keys1d

    @classmethod
    def of(cls, found: Sequence[tuple[int, int, int, int]], other: Sequence[int]) -> Abbreviations:
        """From start and end of the short and of the long form of each."""
        bounds = np.array(found, dtype=np.int64).reshape(-1, 4)
        return cls(bounds[:, :2], bounds[:, 2:], np.array(other, dtype=np.uint64))

    @classmethod
    def none(cls) -> Abbreviations:
        return cls.of((), ())


def find_abbreviations(
    words: Keys1d,
    sequence_starts: Pointers1d,
    doc_starts: Pointers1d,
    text_of: Sequence[Callable[[int], str]],
) -> Abbreviations:
    """Find the abbreviations of a batch.

    words: uint64 `[T]`, hashes. sequence_starts, doc_starts: as in `Tokens`. text_of: for each Doc,
    the text of a hash; only words near brackets are looked up. Both forms lie in one sequence.
    """
    found: list[tuple[int, int, int, int]] = []
    others: list[int] = []
    brackets = np.flatnonzero(np.isin(words, _OPENING))
    sequences = np.searchsorted(sequence_starts, brackets, side="right")
    begins, ends = sequence_starts[sequences - 1].tolist(), sequence_starts[sequences].tolist()
    docs = (np.searchsorted(doc_starts, brackets, side="right") - 1).tolist()
    for i, bracket in enumerate(brackets.tolist()):
        close = _closing(words[bracket : min(ends[i], bracket + _MOST_INSIDE + 2)].tolist())
        if close < 2:
            continue
        texts = _Texts(words, text_of[docs[i]])
        forms = _forms_at(texts, begins[i], bracket, bracket + close)
        if forms is not None:
            last = texts.of(forms[1] - 1, forms[1])[0]
            others.append(hash_string(last[:-1] if last.endswith("s") else last + "s"))
            found.append(forms)
    return Abbreviations.of(found, others)


def _closing(words: list[int]) -> int:
    """Tokens from the opening bracket up to the closing one, or a comma; 0 where nothing ends."""
    wanted = _CLOSING[words[0]]
    for n, word in enumerate(words[1:], start=1):
        if word == wanted or word in _SEPARATORS:
            return n
        if word in _CLOSING:
            return 0
    return 0


class _Texts(NamedTuple):
    """Texts of tokens, looked up where they are wanted."""

    words: Keys1d
    text_of: Callable[[int], str]

    def of(self, start: int, end: int) -> list[str]:
        return [self.text_of(word) for word in self.words[start:end].tolist()]


def _forms_at(
    texts: _Texts, begin: int, bracket: int, close: int
) -> tuple[int, int, int, int] | None:
    """Bounds of both forms at a bracket; begin: of the sequence, close: the end in the brackets.

    The short form is what the brackets hold; else it is the word before them, and they hold the
    long form.
    """
    first = bracket + 1
    short = texts.of(first, min(close, first + MOST_TOKENS + 1))
    if is_short_form(short):
        before = texts.of(max(begin, bracket - 2 * _most_words(short)), bracket)
        n_tokens = long_form_length(short, before)
        return (first, close, bracket - n_tokens, bracket) if n_tokens else None
    if not any(map(str.isalpha, "".join(short))):
        return None
    short = _last_word(texts.of(max(begin, bracket - MOST_TOKENS), bracket))
    if not is_short_form(short):
        return None
    n_tokens = long_form_length(short, texts.of(first, close))
    return (bracket - len(short), bracket, close - n_tokens, close) if n_tokens else None


def _last_word(texts: list[str]) -> list[str]:
    """The last of some tokens, with those that hyphens join to it."""
    start = len(texts) - 1
    while start >= 2 and texts[start - 1] in _JOINING:
        start -= 2
    return texts[max(start, 0) :]


def is_short_form(texts: Sequence[str]) -> bool:
    """Whether tokens can be a short form: one or two words, 2 to 10 characters, one a letter."""
    joined = "".join(texts)
    if not (
        0 < len(texts) <= MOST_TOKENS
        and _FEWEST_CHARACTERS <= len(joined) <= _MOST_CHARACTERS
        and joined[0].isalnum()
        and texts[-1] not in _JOINING
        and any(map(str.isalpha, joined))
    ):
        return False
    is_word = list(map(_is_word, texts))
    return sum(map(all, pairwise(is_word))) < _MOST_WORDS


def _is_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _most_words(short: Sequence[str]) -> int:
    """The longest long form in words, `min(|A| + 5, 2 |A|)` for a short form `A`."""
    n_characters = sum(map(len, short))
    return min(n_characters + 5, 2 * n_characters)


def long_form_length(short: Sequence[str], texts: Sequence[str]) -> int:
    """Number of tokens at the end of `texts` that are the long form; 0 where there is none.

    Each letter and digit of the short form occurs in the long form, in order, the first one at the
    start of a word; the long form is the shortest such one. It is longer than the short form,
    which is not one of its words.
    """
    wanted = [character for character in "".join(short).lower() if character.isalnum()]
    words = [text.lower() for text in texts]
    line = " ".join(words)
    place = len(line)
    for character in reversed(wanted[1:]):
        place = line.rfind(character, 0, place)
        if place < 0:
            return 0
    place = line.rfind(wanted[0], 0, place)
    while place > 0 and line[place - 1].isalnum():
        place = line.rfind(wanted[0], 0, place)
    if place < 0 or len(line) - place <= sum(map(len, short)):
        return 0
    start, left = len(words), len(line) + 1
    while left > place:
        start -= 1
        left -= len(words[start]) + 1
    return len(words) - start if _is_long_form(words[start:], short) else 0


def _is_long_form(words: list[str], short: Sequence[str]) -> bool:
    """Whether words in lower case are not too many, and the short form is none of them."""
    own = [text.lower() for text in short]
    has_itself = any(words[i : i + len(own)] == own for i in range(len(words)))
    return not has_itself and sum(map(_is_word, words)) <= _most_words(short)


def join_abbreviations(found: Sequence[Abbreviations], first: Sequence[int]) -> Abbreviations:
    """Those of several batches as one; first: number of the first token of each batch."""
    return Abbreviations(
        np.concatenate([of_batch.short + n for of_batch, n in zip(found, first, strict=True)]),
        np.concatenate([of_batch.long + n for of_batch, n in zip(found, first, strict=True)]),
        np.concatenate([of_batch.other_number for of_batch in found]),
    )
