"""The pieces of words that the tokenizer of a transformer knows, as texts.

Tokenizers mark which pieces begin a word, each kind in its own way. Schuster and Nakajima (2012),
"Japanese and Korean voice search" (WordPiece); Sennrich et al. (2016), "Neural machine translation
of rare words with subword units" (byte pairs); Kudo (2018), "Subword regularization" (unigrams).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...errors import ConfigError
from ...features.strings import is_valid
from ...systems.words.pieces import plain

_RESERVED = re.compile(r"\[.+\]|<.+>|madeupword\d+")
"""Names of pieces that stand for no text, such as `[unused7]` and `<0x0A>`."""
_PROBE = ("A", "E", "I", "Der", "The")


@dataclass(frozen=True)
class Vocabulary:
    """Pieces by their text, as `WordPieces` has them, and the number that the tokenizer gives each.

    is_lower: the tokenizer puts text in lower case; then the texts have no accents, either.
    """

    texts: list[str]
    numbers: list[int]
    is_lower: bool

    @property
    def whole_words(self) -> list[str]:
        """The pieces that begin a word, and so may be one, in the order of their numbers."""
        return [text[1:] for text in self.texts if text.startswith(" ")]


def read_vocabulary(tokenizer: Any, source: str) -> Vocabulary:
    """The pieces of a tokenizer of `transformers`, in the order of their numbers.

    Special and reserved pieces, and parts of characters, are left out. Raises `ConfigError` where
    nothing is left, or it is not known which pieces begin a word.
    """
    numbers: Mapping[str, int] = tokenizer.get_vocab()
    kind = _kind_of(numbers, source)
    special, is_lower = set(tokenizer.all_special_ids), _puts_in_lower_case(tokenizer)
    found: dict[str, int] = {}
    for piece, number in sorted(numbers.items(), key=lambda item: item[1]):
        text = None if number in special or _RESERVED.fullmatch(piece) else kind(piece)
        if text is not None and _is_part_of_a_word(text):
            # Of pieces that differ in accents only, the first counts: mostly the most frequent one.
            found.setdefault(plain(text) if is_lower else text, number)
    if not found:
        raise _without_vocabulary(source)
    # A unigram tokenizer may begin a word with a mark alone, and any character after it.
    for text, number in list(found.items()):
        if len(text) == 1:
            found.setdefault(f" {text}", number)
    return Vocabulary(list(found), list(found.values()), is_lower)


def _kind_of(pieces: Mapping[str, int], source: str) -> Callable[[str], str | None]:
    """The way to read pieces whose mark most of them have."""
    if not pieces:
        raise _without_vocabulary(source)
    counts = {mark: sum(piece.startswith(mark) for piece in pieces) for mark in _KINDS}
    mark = max(counts, key=lambda mark: counts[mark])
    if not counts[mark]:
        raise ConfigError(
            f"The tokenizer of {source} does not mark which of its pieces begin a word, as "
            "WordPiece, byte-level byte-pair and SentencePiece tokenizers do. Give a transformer "
            "with one of these."
        )
    return _KINDS[mark]


def _of_word_piece(piece: str) -> str:
    return piece[2:] if piece.startswith("##") else f" {piece}"


def _of_bytes(piece: str) -> str | None:
    """None for bytes that are no whole characters."""
    try:
        return bytes(map(_bytes().__getitem__, piece)).decode()
    except (KeyError, UnicodeDecodeError):
        return None


def _of_sentence_piece(piece: str) -> str:
    return piece.replace("▁", " ")


_KINDS: dict[str, Callable[[str], str | None]] = {
    "##": _of_word_piece,
    "Ġ": _of_bytes,
    "▁": _of_sentence_piece,
}
"""How pieces are read, by the mark that most of a kind begin with."""


@cache
def _bytes() -> dict[str, int]:
    """The byte of each character of byte-level pieces: printable ones stand for themselves."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = sorted(set(range(0x100)) - set(printable))
    found = {chr(byte): byte for byte in printable}
    return found | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def _is_part_of_a_word(text: str) -> bool:
    body = text.removeprefix(" ")
    return bool(body) and body.isprintable() and " " not in body and is_valid(body)


def _puts_in_lower_case(tokenizer: Any) -> bool:
    pairs = [(tokenizer.tokenize(text), tokenizer.tokenize(text.lower())) for text in _PROBE]
    knows_letters = any(tokenizer.unk_token not in pieces for _, pieces in pairs)
    return knows_letters and all(one == other for one, other in pairs)


def _without_vocabulary(source: str) -> ConfigError:
    return ConfigError(
        f"The tokenizer of {source} has no vocabulary of pieces of words. Give a transformer whose "
        "tokenizer has one, as those of BERT, RoBERTa and XLM-RoBERTa do."
    )
