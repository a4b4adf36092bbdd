"""The algorithm of Schwartz and Hearst (2003), on tokens (docs/method.md, section 7.5).

The short form is what brackets hold, and its characters are looked for in the words before them,
from the last one to the first.
"""

from __future__ import annotations

import numpy as np

from ...features.attributes import TextOf
from ...features.strings import hash_strings
from ...features.tokens import Tokens
from ...jit import helper, kernel
from ...types import Bools1d, Ints1d, Keys1d, Pointers1d, Pointers2d
from .attribute import MOST_TOKENS, NO_ABBREVIATIONS, Abbreviations
from .spelled_words import (
    BEGINS_WORD,
    HAS_LETTER,
    IS_WORD,
    JOINS,
    LONGEST,
    SpelledWords,
    Spelling,
)

MOST_WORDS = 2
"""Longest short form in words; hyphens and other signs between tokens join them to one word."""
FEWEST_CHARACTERS, MOST_CHARACTERS = 2, 10
MOST_INSIDE = 30
"""Brackets with more tokens before a comma explain no abbreviation."""
MOST_BEFORE = 30
"""Twice the longest long form in words: so many tokens before a bracket are looked at."""

_OPENING = hash_strings(("(", "[", "-LRB-"))
_CLOSING = hash_strings((")", "]", "-RRB-"))
_SEPARATORS = hash_strings((",", ";", ":"))


def find_abbreviations(tokens: Tokens, spelled: SpelledWords, text_of: TextOf) -> Abbreviations:
    """The abbreviations that a batch explains; both forms lie in one sequence.

    spelled: words near brackets are added. text_of: gives the text of a word by its hash.
    """
    brackets = bracket_places(tokens.words, tokens.sequence_starts, _OPENING, _CLOSING, _SEPARATORS)
    if not len(brackets):
        return NO_ABBREVIATIONS
    near = np.flatnonzero(tokens_near(len(tokens.words), brackets))
    rows = np.full(len(tokens.words), -1, dtype=np.int32)
    rows[near], spelling = spelled.rows(tokens.words[near], text_of)
    forms = forms_at_brackets(spelling, rows, brackets)
    forms = forms[forms[:, 0] >= 0]
    short, long = forms[:, :2], forms[:, 2:]
    return Abbreviations(short, long, spelling.other_number[rows[short[:, 1] - 1]])


@kernel
def bracket_places(
    words: Keys1d,
    sequence_starts: Pointers1d,
    opening: Keys1d,
    closing: Keys1d,
    separators: Keys1d,
) -> Pointers2d:
    """Opening brackets that hold something, int64 `[B, 3]`: start of their sequence, place, end.

    The end is the closing bracket, or a separator before it.
    """
    n, places = 0, np.empty((16, 3), dtype=np.int64)
    for sequence in range(len(sequence_starts) - 1):
        begin, end = sequence_starts[sequence], sequence_starts[sequence + 1]
        for t in range(begin, end):
            for kind in range(len(opening)):
                if words[t] != opening[kind]:
                    continue
                for k in range(t + 1, min(end, t + MOST_INSIDE + 2)):
                    if words[k] == closing[kind] or (words[k] == separators).any():
                        if k > t + 1:
                            if n == len(places):
                                more = np.empty((2 * n, 3), dtype=np.int64)
                                for i in range(n):  # A row or a slice takes 3 s to compile.
                                    for column in range(3):
                                        more[i, column] = places[i, column]
                                places = more
                            places[n, 0], places[n, 1], places[n, 2] = begin, t, k
                            n += 1
                        break
                    if (words[k] == opening).any():
                        break
    found: Pointers2d = places[:n].copy()
    return found


@kernel
def tokens_near(n_tokens: int, brackets: Pointers2d) -> Bools1d:
    """Which tokens the search may look at, bool `[T]`; brackets: `bracket_places`."""
    is_near = np.zeros(n_tokens, dtype=np.bool_)
    for i in range(len(brackets)):
        begin, bracket, end = brackets[i]
        is_near[max(begin, bracket - MOST_BEFORE) : end] = True
    return is_near


@helper
def _n_characters(spelling, rows, start, end):  # type: ignore[no-untyped-def]
    total = 0
    for t in range(start, end):
        total += spelling.length[rows[t]]
    return total


@helper
def _is_short_form(spelling, rows, start, end):  # type: ignore[no-untyped-def]
    """Whether tokens can be a short form: one or two words, 2 to 10 characters, one a letter."""
    if not 0 < end - start <= MOST_TOKENS:
        return False
    has_letter, n_words, was_word = False, 1, False
    for t in range(start, end):
        flags = spelling.flags[rows[t]]
        has_letter |= flags & HAS_LETTER != 0
        n_words += was_word and flags & IS_WORD != 0
        was_word = flags & IS_WORD != 0
    return (
        has_letter
        and n_words <= MOST_WORDS
        and spelling.flags[rows[start]] & BEGINS_WORD != 0
        and spelling.flags[rows[end - 1]] & JOINS == 0
        and FEWEST_CHARACTERS <= _n_characters(spelling, rows, start, end) <= MOST_CHARACTERS
    )


@helper
def _most_words(n_characters):  # type: ignore[no-untyped-def]
    """The longest long form in words: `min(|A| + 5, 2 |A|)`."""
    return min(n_characters + 5, 2 * n_characters)


@helper
def _matched(spelling, rows, short, begin, end):  # type: ignore[no-untyped-def]
    """Where the shortest long form begins that ends at `end`, and its number of characters.

    Each letter and digit of the short form occurs in it, in order, and the first one at the start
    of a word. Between two tokens there is a space. The start is -1 where there is none.
    """
    wanted = 0
    for s in range(short[0], short[1]):
        row = rows[s]
        wanted += spelling.is_word_character[spelling.start[row] : spelling.start[row + 1]].sum()
    t, left, n_seen = end, 0, -1
    for s in range(short[1] - 1, short[0] - 1, -1):
        row = rows[s]
        for k in range(spelling.start[row + 1] - 1, spelling.start[row] - 1, -1):
            if not spelling.is_word_character[k]:
                continue
            wanted -= 1
            found = False
            while not found:
                while left == 0:
                    t -= 1
                    if t < begin or spelling.length[rows[t]] > LONGEST:
                        return -1, 0
                    left = spelling.start[rows[t] + 1] - spelling.start[rows[t]]
                    n_seen += 1
                left -= 1
                n_seen += 1
                place = spelling.start[rows[t]] + left
                begins_word = left == 0 or not spelling.is_word_character[place - 1]
                found = spelling.characters[place] == spelling.characters[k]
                found &= wanted > 0 or begins_word
    return t, n_seen


@helper
def _long_form_start(spelling, rows, short, begin, end):  # type: ignore[no-untyped-def]
    """Where the long form begins that ends at `end`, or -1.

    It is longer than the short form, which is not among its words, and has not too many words.
    """
    start, n_seen = _matched(spelling, rows, short, begin, end)
    n_characters = _n_characters(spelling, rows, short[0], short[1])
    if start < 0 or n_seen <= n_characters:
        return -1
    n_words = 0
    for t in range(start, end):
        n_words += spelling.flags[rows[t]] & IS_WORD != 0
        same = t + short[1] - short[0] <= end
        for k in range(short[1] - short[0]):
            same = same and spelling.lower[rows[t + k]] == spelling.lower[rows[short[0] + k]]
        if same:
            return -1
    return start if n_words <= _most_words(n_characters) else -1


@helper
def _last_word(spelling, rows, begin, end):  # type: ignore[no-untyped-def]
    """Where the word before `end` begins, with what hyphens join to it."""
    start = end - 1
    while (
        start - 2 >= max(begin, end - MOST_TOKENS) and spelling.flags[rows[start - 1]] & JOINS != 0
    ):
        start -= 2
    return start


@kernel
def forms_at_brackets(spelling: Spelling, rows: Ints1d, brackets: Pointers2d) -> Pointers2d:
    """Bounds of the short and the long form at each bracket, int64 `[B, 4]`, -1 for none.

    The short form is what the brackets hold; else it is the word before them, and they hold the
    long form. rows: int32 `[T]`, of the spelling. brackets: `bracket_places`.
    """
    forms = np.full((len(brackets), 4), -1, dtype=np.int64)
    for i in range(len(brackets)):
        begin, bracket, end = brackets[i]
        first = bracket + 1
        if _is_short_form(spelling, rows, first, end):
            n_words = _most_words(_n_characters(spelling, rows, first, end))
            low = max(begin, bracket - 2 * n_words)
            start = _long_form_start(spelling, rows, (first, end), low, bracket)
            if start >= 0:
                forms[i, 0], forms[i, 1] = first, end
                forms[i, 2], forms[i, 3] = start, bracket
        elif bracket > begin:
            short = (_last_word(spelling, rows, begin, bracket), bracket)
            if _is_short_form(spelling, rows, short[0], short[1]):
                start = _long_form_start(spelling, rows, short, first, end)
                if start >= 0:
                    forms[i, 0], forms[i, 1] = short
                    forms[i, 2], forms[i, 3] = start, end
    return forms
