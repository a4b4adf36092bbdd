"""Natural spacing for words that come in columns: which words had no space between them.

Column files hold words without the text that they were cut from, so `( IL-2 ) .` was most likely
`(IL-2).` there. The rules read the words and never change them. Marks that the corpus splits off
inside words, as in `NF - kappa` or `1 . 5`, are told from the corpus: it has many of them alone,
and hardly any inside words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate, pairwise
from typing import NamedTuple

from ...pipeline.scripts import WITHOUT_SPACES

_CLOSING = frozenset(",.;:!?%)]}»”’…‰°′″™®、。，；：！？）】」』،؛؟")
_OPENING = frozenset("([{«“‘„‚¿¡（【「『")
_BEFORE_NAMES = frozenset("$£€¥#@~")
_HYPHENS = frozenset("-‐‑–")
_WITH_HYPHENS = frozenset("+_")
"""Marks that are split off where all hyphens are."""
_LETTERS, _DIGITS = "a", "0"
_NUMBERS = re.compile(r".*[0-9][.:][0-9].*")
_INSIDE = {
    **dict.fromkeys("-/", re.compile(r".*\w[-/]\w.*")),
    **dict.fromkeys(".:", _NUMBERS),
    **dict.fromkeys("'’", re.compile(r".*(\w['’](s|t|m|d|re|ve|ll)|[0-9]['’].*)")),
    ",": re.compile(r"(.*[^0-9])?[0-9]{1,3},[0-9]{3}([^0-9].*)?"),
}
"""Marks that corpora keep inside words or split off, and where that shows the style."""
_APOSTROPHES = frozenset("'’")

_CONTRACTIONS = frozenset({"s", "t", "m", "d", "re", "ve", "ll"})
_ENGLISH_PIECES = {"gon": "na", "wan": "na", "got": "ta", "gim": "me", "lem": "me"}
_SUSPENDED_BEFORE = frozenset(
    ("and", "or", "to", "und", "oder", "et", "ou", "y", "o", "en", "of", "e")
)
"""After `T-` in `T- and B-cells` stands one of these words."""
_NO_STEMS = _SUSPENDED_BEFORE | {"not", "than", "the"}
"""After these words `-beta` stands alone; after others, as in `TGF -beta`, it belongs to them."""
_ELIDING = frozenset({"fr", "it", "ca", "oc"})
"""Languages that write `l'` and the next word without a space."""
_FRENCH_SPACED = frozenset(":;!?»")

_FINAL = frozenset(".!?:;,…\"')]”’»。！？")
_SMILEY = re.compile(r"[:;=]['’^]?-?[()\[\]DPp/\\|*]+")
_ADDRESS = re.compile(r"://|www\.|@\w")
_PIECE = re.compile(r"##\w|▁|\w@@$")
_ESCAPED = frozenset({"-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", "``", "''"})

_SPLIT_OFF = 50
"""A mark is split off if it is so many times more often alone than inside words,"""
_FEW = 4
"""and alone more often than this."""
_PIECES = 0.01
"""Share of words that are pieces, such as `##ing`, from which on nothing is restored."""


class Spacing(str, Enum):
    """How the words of a document are put together.

    natural: as in running text, with a line break after a sentence without a final mark. one-line:
    the same without line breaks. words: a space after each word, which training takes as tokens.
    """

    NATURAL = "natural"
    ONE_LINE = "one-line"
    WORDS = "words"


class Glue(NamedTuple):
    """Whether a word stands without a space to the one before, and to the one after."""

    before: bool
    after: bool


_FREE, _OPENS, _CLOSES, _JOINS = (
    Glue(False, False), Glue(False, True), Glue(True, False), Glue(True, True),
)  # fmt: skip


@dataclass(frozen=True)
class Style:
    """How a corpus cuts text into words.

    split_off: the marks that it splits off inside words; hyphens and slashes with a 0 for those
    beside digits, and an a for others. escaped: number of words that stand for others, as `-LRB-`
    for a bracket. is_pieces: whether its words are pieces of words.
    """

    split_off: frozenset[str] = frozenset()
    escaped: int = 0
    is_pieces: bool = False


def is_heading(words: Sequence[str]) -> bool:
    """Whether a sentence has no final mark, as headings and list items do."""
    return bool(words) and words[-1][-1] not in _FINAL


def find_style(sentences: Iterable[Sequence[str]]) -> Style:
    """The style of a corpus, from the words of all of its sentences."""
    counts: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for words in sentences:
        counts.update(words)
        for before, mark, after in zip(words, words[1:], words[2:], strict=False):
            if mark in _INSIDE and _INSIDE[mark].fullmatch(before[-3:] + mark + after[:4]):
                alone[_place(mark, before, after)] += 1
    inside: Counter[str] = Counter()
    for word, n in counts.items():
        if not word.isalnum() and not _ADDRESS.search(word):
            inside.update(dict.fromkeys(_places_inside(word), n))
    split_off = {place for place, n in alone.items() if n > max(_FEW, inside[place] * _SPLIT_OFF)}
    for kind in (_LETTERS, _DIGITS):
        if f"-{kind}" in split_off:
            split_off.update(mark + kind for mark in _HYPHENS)
    if {f"-{_LETTERS}", f"-{_DIGITS}"} <= split_off:
        split_off |= _WITH_HYPHENS
    pieces = sum(n for word, n in counts.items() if _PIECE.search(word))
    escaped = sum(counts[word] for word in _ESCAPED)
    return Style(frozenset(split_off), escaped, pieces > _PIECES * counts.total())


def _places_inside(word: str) -> set[str]:
    """The marks inside a word that show a style."""
    marks = [i for i in range(1, len(word) - 1) if word[i] in _INSIDE]
    return {
        _place(word[i], word[i - 1], word[i + 1])
        for i in marks
        if _INSIDE[word[i]].fullmatch(word[max(0, i - 3) : i + 5])
    }


def _place(mark: str, before: str, after: str) -> str:
    """A mark, and for hyphens and slashes also whether a digit stands beside it."""
    if mark not in _HYPHENS and mark != "/":
        return mark
    return mark + (_DIGITS if before[-1].isdigit() or after[0].isdigit() else _LETTERS)


@dataclass
class Spacer:
    """Says which words of the sentences of one document had a space after them.

    A quotation may begin in one sentence and end in another, so the sentences must be given in
    order. lang: spaCy's code of the language.
    """

    style: Style
    lang: str = "en"
    _is_quoting: bool = field(default=False, init=False)

    def spaces(self, words: Sequence[str]) -> list[bool]:
        """For each word of a sentence, whether a space follows; after the last always."""
        opening = self._quotes(words)
        n_open = list(accumulate(((word == "(") - (word == ")") for word in words), initial=0))
        glue = [self._glue(words, i, opening, n_open[i]) for i in range(len(words))]
        spaces = [
            not (left.after or right.before or _is_one_run(*words[i : i + 2]))
            for i, (left, right) in enumerate(pairwise(glue))
        ]
        return [*spaces, True] if words else []

    def _quotes(self, words: Sequence[str]) -> dict[int, bool]:
        """Numbers of the words that are straight quotes, or “ after „, and whether each opens."""
        opening: dict[int, bool] = {}
        alone = [i for i, word in enumerate(words) if word == '"']
        is_open = self._is_quoting and len(alone) % 2 == 1
        for i, word in enumerate(words):
            if word == '"':
                opening[i], is_open = not is_open, not is_open
            elif '"' in word:
                is_open = _opens_quoted(word)
        self._is_quoting = is_open
        low = words.index("„") if "„" in words else len(words)
        opening.update((i, False) for i in range(low, len(words)) if words[i] == "“")
        single = [i for i, word in enumerate(words) if word == "'"]
        single = [i for i in single if not self._is_apostrophe(words, i, len(single))]
        opening.update((i, number % 2 == 0) for number, i in enumerate(single))
        return opening

    def _is_apostrophe(self, words: Sequence[str], i: int, n_quotes: int) -> bool:
        before = words[i - 1] if i else ""
        after = words[i + 1].lower() if i + 1 < len(words) else ""
        if not before[-1:].isalnum():
            return False
        is_split = "'" in self.style.split_off and (after in _CONTRACTIONS or before[-1].isdigit())
        return is_split or (n_quotes % 2 == 1 and before[-1] in "sxz")

    def _glue(self, words: Sequence[str], i: int, opening: dict[int, bool], n_open: int) -> Glue:
        """Glue of word i; n_open: number of brackets before it that are not closed."""
        word = words[i]
        before = words[i - 1] if i else ""
        after = words[i + 1] if i + 1 < len(words) else ""
        if i in opening:
            return _OPENS if opening[i] else _CLOSES
        if any(character.isalnum() for character in word):
            return self._glue_of_word(word, before)
        if before and after and _place(word, before, after) in self.style.split_off:
            return _glue_inside(words, i, before, after)
        if self.lang == "fr" and (word in _FRENCH_SPACED or word == "«"):
            return _FREE
        if word in _BEFORE_NAMES:
            return Glue(False, after[:1].isalnum())
        if _is_smiley(words, i, n_open):
            return _FREE
        if word in ("``", "`", "''"):
            return _CLOSES if word == "''" else _OPENS
        if word in _APOSTROPHES:
            return _CLOSES
        if word == "°":
            return Glue(before[-1:].isdigit(), after in ("C", "F"))
        return Glue(word[0] in _CLOSING or _closes_quoted(word), word[-1] in _OPENING)

    def _glue_of_word(self, word: str, before: str) -> Glue:
        lowered = word.lower().replace("’", "'")
        if self.lang in _ELIDING and lowered[-1] == "'" and lowered[0].isalpha():
            return _OPENS
        if word[0] in _HYPHENS and word[1].isalpha() and before.lower() not in _NO_STEMS:
            return Glue(before[-1:].isalnum() or before[-1:] in (")", "]"), False)
        if self.lang == "en" and before[-1:].isalnum():
            is_piece = _ENGLISH_PIECES.get(before.lower()) == lowered
            is_contraction = lowered[0] == "'" and lowered[1:] in _CONTRACTIONS
            if is_piece or is_contraction or lowered == "n't":
                return _CLOSES
        return _FREE


def _glue_inside(words: Sequence[str], i: int, before: str, after: str) -> Glue:
    """Glue of a mark that the corpus splits off inside words."""
    word = words[i]
    digits = before[-1].isdigit() and after[0].isdigit()
    if word in _HYPHENS:
        ends = before[-1].isalnum() or before[-1] in ")]}'\"’%+*/"
        if ends and after.lower() in _SUSPENDED_BEFORE:
            return _CLOSES
        if ends and (after[0].isalnum() or after[0] in "([/)"):
            return _JOINS
        return Glue(False, after[0].isdigit())
    if word in "/_":
        return _JOINS
    if word == "+":
        return Glue(before[-1].isalpha() or (before[-1].isdigit() and not before.isdigit()), False)
    if word in _APOSTROPHES:
        return Glue(before[-1].isalnum(), after.lower() in _CONTRACTIONS)
    if word == ",":
        is_thousand = digits and len(before) <= 3 and len(after) == 3 and after.isdigit()
        return Glue(True, is_thousand)
    if word == ".":
        letters = len(before) == len(after) == 1 and before.isalpha() and after.isalpha()
        return Glue(True, digits or (letters and "." in words[i + 2 : i + 3]))
    return Glue(True, digits)


def _is_smiley(words: Sequence[str], i: int, n_open: int) -> bool:
    """Whether a mark begins or is a face such as `:)`, rather than a colon and a bracket."""
    if _SMILEY.fullmatch(words[i]):
        return True
    pair = "".join(words[i : i + 2])
    is_face = len(pair) == 2 and _SMILEY.fullmatch(pair) is not None
    return is_face and pair[1] in ")]" and n_open <= 0


def _opens_quoted(word: str) -> bool:
    """Whether a word with a quote opens a quotation, as `("` does."""
    begins, ends = word[0] == '"', word[-1] == '"'
    return (ends and word[0] in _OPENING) or (begins and not ends and word[-1].isalnum())


def _closes_quoted(word: str) -> bool:
    """Whether a word of several marks is a quote and what follows it, as in `").`."""
    return word[0] in "\"'" and len(word) > 1 and word[1] in _CLOSING


def _is_one_run(before: str, after: str) -> bool:
    """Whether words need no space as their script has none."""
    return bool(WITHOUT_SPACES.match(before[-1]) and WITHOUT_SPACES.match(after[0]))
