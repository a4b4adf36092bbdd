"""Many texts in two arrays, which take little memory and can be saved."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...features.strings import begins_character
from ...numeric.arrays import Array, blocks
from ...types import Ints1d


class TextTable(NamedTuple):
    """Texts by number.

    content: uint8, their UTF-8, one after another. ends: int32 `[n]`, where each of them ends.
    """

    content: npt.NDArray[np.uint8]
    ends: Ints1d

    def __len__(self) -> int:
        return len(self.ends)

    def text(self, number: int) -> str:
        """The text of a number."""
        begin = self.ends[number - 1] if number else 0
        return str(self.content[begin : self.ends[number]].data, "utf8")


class TextWriter:
    """Makes a table of texts that come one after the other."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._content, self._ends = bytearray(), array("q")
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add a text; returns its number."""
        self._content += text.encode()
        self._ends.append(len(self._content))

    def __len__(self) -> int:
        return len(self._ends)

    def table(self) -> TextTable:
        """Raises `OverflowError` for more than 2 GiB of text."""
        ends = np.array(self._ends, dtype=np.int64)
        if len(ends) and ends[-1] > np.iinfo(np.int32).max:
            raise OverflowError(f"{ends[-1]:,} bytes of text are too many for a table")
        return TextTable(np.frombuffer(bytes(self._content), np.uint8), ends.astype(np.int32))


def check_texts(content: Array, ends: Array) -> str | None:
    """What is wrong with the arrays of a saved table, as "ends …"; None where nothing is.

    content: uint8. ends: int32, not negative.
    """
    if len(ends) == 0:
        return "belongs to no text" if content.size else None
    if (ends[1:] < ends[:-1]).any() or ends[-1] != content.size:
        return "does not fit the ends of its texts"
    inner = ends[ends < content.size]
    if not begins_character(content[inner]).all():
        return "has a text that ends within a character"
    decoder = codecs.getincrementaldecoder("utf8")()
    try:
        for block in blocks(content):
            decoder.decode(block.tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "is no valid UTF-8"
    return None
