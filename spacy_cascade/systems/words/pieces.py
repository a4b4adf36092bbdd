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
import numpy.typing as npt

from ...features.resources import InvalidArray
from ...jit import helper, kernel
from ...numeric.arrays import Array, Arrays, Shapes
from ...numeric.hashing import HashTable, probe
from ...numeric.index import KeyIndex
from ...types import Keys1d, Pointers1d, Reals1d, Reals2d

ZERO = 128
"""The byte that stands for zero."""
_MARK = re.compile(r"[^\w\s]|_")
_LONGEST = 100
"""Characters of a word that are looked at."""
_SPACE = np.uint8(ord(" "))
_BEGINNING, _INSIDE = np.uint64(1 << 16), np.uint64(1 << 32)
"""What keys of pieces begin with: of those that begin a word, and of others."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Bytes = npt.NDArray[np.uint8]


@helper
def _with_byte(key, byte):  # type: ignore[no-untyped-def]
    """`h ← (h + b + 1) · F mod 2⁶⁴`, turned so that its high bits reach the low ones."""
    key = (key + np.uint64(byte) + np.uint64(1)) * _FACTOR
    return key ^ (key >> np.uint64(29))


@kernel
def _piece_keys(content: Bytes, first: Pointers1d, keys: Keys1d) -> None:
    """Keys of pieces, uint64 `[P]`; content: their UTF-8, piece `p` from `first[p]`."""
    for piece in range(len(keys)):
        begin, key = first[piece], _INSIDE
        if begin < first[piece + 1] and content[begin] == _SPACE:
            begin, key = begin + 1, _BEGINNING
        for place in range(begin, first[piece + 1]):
            key = _with_byte(key, content[place])
        keys[piece] = key


@kernel
def _mean_rows(
    table: HashTable, content: Bytes, first: Pointers1d, rows: Bytes, scales: Reals1d,
    longest: int, vectors: Reals2d,
) -> None:  # fmt: skip
    """`v_w = 1/n Σ_p s_p · (r_p - 128)` over the `n` longest pieces of a word, from left to right.

    content: UTF-8 of words, word `w` from `first[w]`; a space stands before a new beginning. rows:
    uint8 `[P, D]`. scales: float32 `[P]`. longest: bytes of a piece. vectors: float32 `[n, D]`,
    zeros, is filled. Where none that begins a word fits, any other may. What no piece fits is left
    out, up to the next space.
    """
    for word in range(len(vectors)):
        begin, end, n = first[word], first[word + 1], 0
        mark = _BEGINNING
        while begin < end:
            piece, stop, place, key = -1, begin, begin, mark
            while place < min(end, begin + longest) and content[place] != _SPACE:
                key = _with_byte(key, content[place])
                place += 1
                known = table.places[probe(table, key)]
                if known >= 0:
                    piece, stop = known, place
            if piece >= 0:
                for i in range(vectors.shape[1]):
                    vectors[word, i] += scales[piece] * (np.float32(rows[piece, i]) - ZERO)
                n, begin, mark = n + 1, stop, _INSIDE
            elif mark == _BEGINNING:
                mark = _INSIDE
                continue
            else:
                while begin < end and content[begin] != _SPACE:
                    begin += 1
            if begin < end and content[begin] == _SPACE:
                begin, mark = begin + 1, _BEGINNING
        if n > 1:
            for i in range(vectors.shape[1]):
                vectors[word, i] /= n


class WordPieces:
    """Pieces with their vectors; is_lower: they are in lower case, without accents."""

    def __init__(self, arrays: Mapping[str, Array], is_lower: bool) -> None:
        self._arrays = {name: arrays[name] for name in ("pieces", "rows", "scales")}
        self._is_lower = is_lower
        content, first = _as_bytes(texts_of(arrays["pieces"]))
        keys = np.empty(len(first) - 1, dtype=np.uint64)
        _piece_keys(content, first, keys)
        self._index = KeyIndex(keys)
        self._longest = int(np.diff(first).max(initial=0))

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
        content, first = _as_bytes([self._spaced(text[:_LONGEST]) for text in texts])
        rows, scales = self._arrays["rows"], self._arrays["scales"]
        self._index.apply(_mean_rows, content, first, rows, scales, self._longest, vectors)
        return vectors

    def _spaced(self, text: str) -> str:
        """A word as its pieces are written, with spaces around marks."""
        if self._is_lower:
            text = plain(text)
        return text if text.isalnum() else _MARK.sub(r" \g<0> ", text)

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
    """Raise `InvalidArray` unless there is a text of its own for each row."""
    check_text("pieces", arrays["pieces"])
    texts = texts_of(arrays["pieces"])
    if not len(texts) == len(set(texts)) == arrays["scales"].size:
        raise InvalidArray("pieces", "has not one text for each row")


def _as_bytes(texts: Sequence[str]) -> tuple[Bytes, Pointers1d]:
    """The UTF-8 of texts, one after another, and where each begins, int64 `[n + 1]`."""
    encoded = [text.encode() for text in texts]
    first = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), first


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
