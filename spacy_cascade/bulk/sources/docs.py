"""Files of Docs, `.spacy`: they keep their tokens and all annotation that they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from .base import BATCH_CHARACTERS, BATCH_RECORDS, Range, Rows, Source, Unreadable

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


def _docs(path: Path, first: int, count: int, vocab: Vocab) -> list[Doc]:
    """Some Docs of a file."""
    stored, part = _stored(path), slice(first, first + count)
    chosen = DocBin(attrs=stored.attrs, store_user_data=stored.store_user_data)
    chosen.strings = stored.strings
    for name in ("tokens", "spaces", "cats", "span_groups", "user_data", "flags"):
        setattr(chosen, name, getattr(stored, name)[part])
    return list(chosen.get_docs(vocab))


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
