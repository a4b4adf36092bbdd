"""Files of Docs, `.spacy`: they keep their tokens and all annotation that they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from .base import BATCH_CHARACTERS, BATCH_RECORDS, Failed, Range, Rows, Source, Unreadable

_BYTES_OF_TOKEN = 6
"""About, with the space behind it."""


@dataclass(frozen=True)
class DocSource(Source):
    """A `DocBin` on disk. It is read as a whole, so it has to fit into memory."""

    suffixes = (".spacy",)

    def ranges(self, size: int) -> Iterator[Range]:
        try:
            lengths = _token_counts(self.path)
        except Exception as error:
            self.fail(_reason(error), "Give a file that DocBin.to_disk wrote, or leave it out")
        first = tokens = 0
        for number, length in enumerate(lengths, start=1):
            tokens += length
            if tokens * _BYTES_OF_TOKEN >= size or number == len(lengths):
                yield Range(first, number - first, 0, tokens * _BYTES_OF_TOKEN)
                first, tokens = number, 0

    def read(self, wanted: Range) -> Iterator[Rows]:
        end = wanted.first + wanted.length
        try:
            lengths = _token_counts(self.path)[wanted.first : end]
        except Exception as error:
            yield Rows([], [], [], [Unreadable(wanted.first + 1, end, _reason(error))])
            return
        first = wanted.first
        for count in _batches(lengths):
            numbers = list(range(first + 1, first + count + 1))
            docs = partial(_docs, self.path, first, count)
            yield Rows(numbers, docs, [{} for _ in numbers], [])
            first += count


@lru_cache(maxsize=1)
def _stored(path: Path) -> DocBin:
    """The last file stays in memory: a process gets its shards one after the other."""
    return DocBin(store_user_data=True).from_disk(path)


def _token_counts(path: Path) -> list[int]:
    return [len(tokens) for tokens in _stored(path).tokens]


def _docs(path: Path, first: int, count: int, vocab: Vocab) -> list[Doc | Failed]:
    """Some Docs of a file, one by one if any cannot be made."""
    stored = _stored(path)
    try:
        return list(_part(stored, first, count, stored.strings).get_docs(vocab))
    except Exception:
        return [_single(_part(stored, i, 1, set()), vocab) for i in range(first, first + count)]


def _part(stored: DocBin, first: int, count: int, strings: set[str]) -> DocBin:
    part = DocBin(attrs=stored.attrs, store_user_data=stored.store_user_data)
    part.strings = strings
    for name in ("tokens", "spaces", "cats", "span_groups", "user_data", "flags"):
        setattr(part, name, getattr(stored, name)[first : first + count])
    return part


def _single(part: DocBin, vocab: Vocab) -> Doc | Failed:
    """A Doc whose strings the vocabulary has."""
    try:
        return next(part.get_docs(vocab))
    except Exception as error:
        return Failed.of(error)


def _batches(lengths: list[int]) -> Iterator[int]:
    """How many Docs to read at once."""
    count = tokens = 0
    for length in lengths:
        count += 1
        tokens += length
        if tokens * _BYTES_OF_TOKEN >= BATCH_CHARACTERS or count >= BATCH_RECORDS:
            yield count
            count = tokens = 0
    if count:
        yield count


def _reason(error: Exception) -> str:
    return f"it is no file of Docs ({type(error).__name__}: {error})"
