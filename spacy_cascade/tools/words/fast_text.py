"""Models of fastText, whose words have vectors by their parts, too; and of floret.

Bojanowski et al. (2017), "Enriching word vectors with subword information": the vector of a word is
the mean of its own row and the rows of its parts, the runs of `minn` to `maxn` characters of the
word between `<` and `>`. Rows of parts are found by a hash.

floret's compact form has rows of parts alone, the whole word among them, and spaCy computes its
vectors. floret's own library would end the process, or never end, where a file is damaged.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from spacy.strings import StringStore
from spacy.vectors import Mode, Vectors

from ...errors import CorpusError
from ...numeric.arrays import Array
from ...types import Reals2d

MAGIC = struct.pack("<i", 793712314)
_VERSION = 12
_LARGEST_THRESHOLD = 1.0
_LEAST_THRESHOLD = 1e-12
_COMPACT = 2
"""floret's number of its own form."""
_SEED = 2166136261
"""Of its hashes."""
_MOST_HASHES, _MOST_CHARACTERS = 4, 100
"""Rows and characters of a part."""
_AT_ONCE = 1 << 12
_PRIME, _OFFSET = np.uint32(16777619), np.uint32(2166136261)
_LONGEST_CHARACTER = 4
_LINE_END = "</s>"


@dataclass(frozen=True)
class _Header:
    width: int
    buckets: int
    shortest: int
    longest: int
    hashes: int
    is_compact: bool

    @property
    def is_damaged(self) -> bool:
        """Whether no model has such parts."""
        are_few = 1 <= self.hashes <= _MOST_HASHES and self.longest <= _MOST_CHARACTERS
        # fastText has no parts where the longest has 0 characters; floret always has some.
        are_sizes = 0 <= self.shortest <= self.longest or not self.is_compact
        are_there = self.buckets >= 1 or self.longest <= 0
        return self.width < 1 or not (are_few and are_sizes and are_there)


def read_fast_text(path: Path, max_words: int) -> tuple[list[str], Reals2d]:
    """The first words of a model, and their vectors, float32 `[V, D]`.

    Raises `CorpusError` for a model that is cut off, compressed, or of another version.
    """
    with path.open("rb") as file:
        header = _read_header(path, file)
        words, n_words = _read_words(path, file)
        (is_compressed,) = _read(file, "<?")
        if is_compressed:
            raise CorpusError(
                f"{path} is a compressed model (.ftz). Give the model before its compression."
            )
        n_rows, width = _read(file, "<qq")
        offset = file.tell()
    fits = width == header.width and n_rows == n_words + header.buckets > 0
    if header.is_damaged or not fits or n_words < len(words):
        raise CorpusError(f"{path} is damaged: it has {n_rows} rows of {width} numbers.")
    if path.stat().st_size < offset + 4 * n_rows * width:
        raise EOFError
    rows = np.memmap(path, dtype="<f4", mode="r", offset=offset, shape=(n_rows, width))
    if header.is_compact:
        words = [word for word in words if word != _LINE_END][:max_words]
        return words, _of_parts_alone(rows[n_words:], words, header)
    return words[:max_words], _means(rows, words[:max_words], n_words, header)


def _read(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    size = struct.calcsize(layout)
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return struct.unpack(layout, data)


def _read_header(path: Path, file: BinaryIO) -> _Header:
    _, version = _read(file, "<ii")
    if version != _VERSION:
        raise CorpusError(f"{path} is of version {version} of fastText's files, not {_VERSION}.")
    begin = file.tell()
    settings = _read(file, "<11i")
    width, buckets, shortest, longest = settings[0], settings[8], settings[9], settings[10]
    # floret writes two settings more. The last one, a threshold, tells the two forms apart.
    form, hashes, _, threshold = _read(file, "<3id")
    if _LEAST_THRESHOLD < threshold <= _LARGEST_THRESHOLD:
        is_compact = form == _COMPACT
        return _Header(width, buckets, shortest, longest, hashes if is_compact else 1, is_compact)
    file.seek(begin + struct.calcsize("<12id"))
    return _Header(width, buckets if longest else 0, shortest, longest, 1, is_compact=False)


def _read_words(path: Path, file: BinaryIO) -> tuple[list[str], int]:
    """The words, without labels, and how many rows they have."""
    n_entries, n_words, _, _, n_pruned = _read(file, "<iiiqq")
    words = []
    for _ in range(n_entries):
        word = _read_text(file)
        _, kind = _read(file, "<qb")
        if kind == 0:
            words.append(word)
    if n_pruned > 0:
        raise CorpusError(f"{path} is a compressed model. Give the model before its compression.")
    return words, n_words


def _read_text(file: BinaryIO) -> str:
    """The text up to the next zero byte."""
    found = bytearray()
    while (byte := file.read(1)) != b"\0":
        if not byte:
            raise EOFError
        found += byte
    return found.decode("utf8", "replace")


def _means(rows: Array, words: Sequence[str], n_words: int, header: _Header) -> Reals2d:
    """The mean of the rows of each word, float32 `[V, D]`."""
    vectors = np.empty((len(words), header.width), dtype=np.float32)
    for begin in range(0, len(words), _AT_ONCE):
        part = words[begin : begin + _AT_ONCE]
        owner, hashes = parts_of(part, header.shortest, header.longest)
        owner = np.append(np.arange(len(part)), owner)
        row = np.append(
            begin + np.arange(len(part)), n_words + hashes % np.uint32(max(header.buckets, 1))
        )
        order = np.argsort(owner, kind="stable")
        first = np.searchsorted(owner[order], np.arange(len(part)))
        sums = np.add.reduceat(np.asarray(rows[row[order].astype(np.int64)]), first)
        vectors[begin : begin + len(part)] = sums / np.bincount(owner)[:, None]
    return vectors


def parts_of(words: Sequence[str], shortest: int, longest: int) -> tuple[Array, Array]:
    """The number of the word and the hash of each part, int64 and uint32 `[n]`.

    The hash is FNV-1a of the bytes, each with its sign, of all words at once.
    """
    padded = ["" if word == _LINE_END else f"<{word}>" for word in words]
    sizes = np.array([len(word) for word in padded])
    owner = np.repeat(np.arange(len(words)), sizes)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    left = np.repeat(sizes, sizes) - place
    codes, lengths = _bytes_of("".join(padded))
    state, found = np.full(len(owner), _OFFSET, dtype=np.uint32), list[tuple[Array, Array]]()
    for size in range(1, longest + 1):
        (begin,) = np.nonzero(left >= size)
        end = begin + size - 1
        for byte in range(_LONGEST_CHARACTER):
            has_byte = lengths[end] > byte
            at = begin[has_byte]
            state[at] = (state[at] ^ codes[end[has_byte], byte]) * _PRIME
        # One character alone is no part where it is the mark at either end.
        is_part = (size > 1) | ((place[begin] > 0) & (left[begin] > 1))
        if size >= shortest:
            found.append((owner[begin[is_part]], state[begin[is_part]]))
    empty = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32))
    owners, hashes = zip(empty, *found, strict=True)
    return np.concatenate(owners), np.concatenate(hashes)


def _bytes_of(text: str) -> tuple[Array, Array]:
    """The bytes of each character, with their signs, uint32 `[n, 4]`, and how many it has."""
    encoded = [character.encode() for character in text]
    lengths = np.array([len(each) for each in encoded], dtype=np.int64)
    padded = b"".join(each.ljust(_LONGEST_CHARACTER, b"\0") for each in encoded)
    signed = np.frombuffer(padded, dtype=np.int8).reshape(-1, _LONGEST_CHARACTER)
    return signed.astype(np.int32).view(np.uint32), lengths


def _of_parts_alone(rows: Array, words: Sequence[str], header: _Header) -> Reals2d:
    """The vector of each word by floret's compact form, float32 `[V, D]`."""
    table = Vectors(
        strings=StringStore(words), data=np.array(rows), mode=Mode.floret, minn=header.shortest,
        maxn=header.longest, hash_count=header.hashes, hash_seed=_SEED,
    )  # fmt: skip
    vectors = np.empty((len(words), header.width), dtype=np.float32)
    for begin in range(0, len(words), _AT_ONCE):
        part = words[begin : begin + _AT_ONCE]
        vectors[begin : begin + len(part)] = table.get_batch(part)
    return vectors
