"""Vectors of words from the pieces that the tokenizer of a transformer knows.

A word is cut into the longest pieces that there are, from its left to its right, and its vector is
the mean of theirs. So a misspelt or technical word has a vector, too.

Arrays, for `P` pieces and `D` numbers in a vector: `pieces` uint8, the text of each, one a line,
those that begin a word after a space; `rows` uint8 `[P, D]`, each number of a vector on a scale of
its own, with 128 for zero; `scales` float32 `[P]`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np

from ...features.resources import InvalidArray
from ...numeric.arrays import Array, Arrays, Shapes
from ...types import Reals2d

ZERO = 128
"""The byte that stands for zero."""
_RUNS = re.compile(r"[^\W_]+|[^\w\s]|_")
_LONGEST = 100
"""Characters of a word that are looked at."""
_AT_ONCE = 1 << 12


class WordPieces:
    """Pieces with their vectors; is_lower: they are in lower case, without accents."""

    def __init__(self, arrays: Mapping[str, Array], is_lower: bool) -> None:
        self._arrays = {name: arrays[name] for name in ("pieces", "rows", "scales")}
        self._is_lower = is_lower
        pieces = texts_of(arrays["pieces"])
        self._number = {piece: i for i, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces), default=0)

    @classmethod
    def of(cls, pieces: Sequence[str], vectors: Reals2d, is_lower: bool) -> WordPieces:
        """Of the vectors of pieces, float32 `[P, D]`; a piece that begins a word has a space."""
        scales = np.maximum(np.abs(vectors).max(axis=1), np.finfo(np.float32).tiny) / (ZERO - 1)
        rows = np.rint(vectors / scales[:, None]).astype(np.int16) + ZERO
        arrays: Arrays = {
            "pieces": bytes_of(pieces),
            "rows": rows.astype(np.uint8),
            "scales": scales.astype(np.float32),
        }
        return cls(arrays, is_lower)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self._arrays["rows"].shape[1])

    def vectors(self, texts: Sequence[str]) -> Reals2d:
        """The vectors of words, float32 `[n, D]`; zeros for a word without a known piece."""
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        for begin in range(0, len(texts), _AT_ONCE):
            cut = [self._cut(text) for text in texts[begin : begin + _AT_ONCE]]
            sizes = np.array([len(pieces) for pieces in cut])
            (known,) = np.nonzero(sizes)
            if len(known):
                numbers = np.array([number for pieces in cut for number in pieces])
                rows = self._arrays["rows"][numbers].astype(np.float32) - ZERO
                rows *= self._arrays["scales"][numbers, None]
                first = (np.cumsum(sizes) - sizes)[known]
                vectors[begin + known] = np.add.reduceat(rows, first) / sizes[known, None]
        return vectors

    def _cut(self, text: str) -> list[int]:
        """Numbers of the pieces of a word; what no piece fits is left out with the rest of it."""
        if self._is_lower:
            text = plain(text)
        return [number for run in _RUNS.findall(text[:_LONGEST]) for number in self._cut_run(run)]

    def _cut_run(self, run: str) -> list[int]:
        whole = self._number.get(f" {run}")
        if whole is not None:
            return [whole]
        cut, begin, mark = list[int](), 0, " "
        while begin < len(run):
            for end in range(min(len(run), begin + self._longest), begin, -1):
                number = self._number.get(mark + run[begin:end])
                if number is not None:
                    break
            else:
                break
            cut.append(number)
            begin, mark = end, ""
        return cut

    # Model files

    def arrays(self) -> Arrays:
        return dict(self._arrays)


def shapes(arrays: Mapping[str, Array], width: int) -> Shapes:
    """The shapes of the arrays of pieces that there have to be."""
    n_pieces = arrays["scales"].size if "scales" in arrays else 0
    n_bytes = arrays["pieces"].size if "pieces" in arrays else 0
    return {
        "pieces": ((n_bytes,), "u1"),
        "rows": ((n_pieces, width), "u1"),
        "scales": ((n_pieces,), "f"),
    }


def check(arrays: Mapping[str, Array]) -> None:
    """Raise `InvalidArray` unless there is a text for each row."""
    check_text("pieces", arrays["pieces"])
    if len(texts_of(arrays["pieces"])) != arrays["scales"].size:
        raise InvalidArray("pieces", "has not one text for each row")


def plain(text: str) -> str:
    """In lower case, without accents."""
    text = text.lower()
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    return "".join(character for character in parts if unicodedata.category(character) != "Mn")


def bytes_of(texts: Sequence[str]) -> Array:
    """Texts as an array of UTF-8, a text on each line."""
    return np.frombuffer("\n".join(texts).encode(), dtype=np.uint8)


def texts_of(array: Array) -> list[str]:
    """The texts of an array that `bytes_of` made."""
    return str(array.data, "utf8").split("\n") if array.size else []


def check_text(name: str, array: Array) -> None:
    """Raise `InvalidArray` for an array that is no UTF-8."""
    try:
        str(array.data, "utf8")
    except UnicodeDecodeError:
        raise InvalidArray(name, "is no UTF-8 text") from None
