"""All words of unlabelled text in one file, as vectors are trained on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import CorpusError
from ...pipeline.progress import progress
from ...processes import stream_through_processes
from ...text_sources import DOCS, read_texts
from .splitting import TokenizerChoice, read_words, split_texts

_CHARACTERS = 1 << 20
"""Text that a process gets at a time."""
_MOST_DISTINCT = 5_000_000
"""Words that are counted at the same time, some 700 MB."""
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)


def write_words(
    target: Path, files: Sequence[Path], field: str, tokenizer: TokenizerChoice, processes: int
) -> None:
    """Write the words of files: a text on each line, a space between words.

    target: file to write. field: of the text in JSONL. processes: number that split text.
    """
    parts = stream_through_processes(_call, _tasks(files, field, tokenizer), processes)
    with target.open("wb") as file, progress("Splitting text", unit="B", unit_scale=True) as bar:
        for part in parts:
            file.write(part)
            bar.update(len(part))


def _call(task: partial[bytes]) -> bytes:
    return task()


def _tasks(
    files: Sequence[Path], field: str, tokenizer: TokenizerChoice
) -> Iterator[tuple[partial[bytes]]]:
    """Calls for the processes: one for each `.spacy` file, and for each part of other files."""
    for path in files:
        if path.name.lower().endswith(DOCS):
            yield (partial(read_words, path),)
            continue
        texts: list[str] = []
        n_characters = 0
        for text in read_texts(path, field):
            texts.append(text)
            n_characters += len(text)
            if n_characters >= _CHARACTERS:
                yield (partial(split_texts, tokenizer, texts),)
                texts, n_characters = [], 0
        yield (partial(split_texts, tokenizer, texts),)


def write_forms(target: Path, words: Path, min_count: int) -> None:
    """Copy a file of words; in words that are too rare to be clustered, each digit becomes 0.

    So numbers, and names such as `CDK17`, that occur too rarely have a cluster by their form.
    Raises `CorpusError` if no form occurs `min_count` times.
    """
    counts = _count(words)
    forms = {
        word: form
        for word, count in counts.items()
        if count < min_count and (form := word.translate(_ZEROS)) != word
    }
    n_words = counts.total()
    for word, form in forms.items():
        counts[form] += counts[word]
    if max(counts.values(), default=0) < min_count:
        raise CorpusError(
            f"No word occurs {min_count} times in the text: it has {n_words:,} words. Give "
            "more text, or set a lower --min-count."
        )
    with target.open("wb") as file:
        for line in _lines(words, "Writing words"):
            file.write(b" ".join([forms.get(word, word) for word in line.split()]) + b"\n")


def _count(words: Path) -> Counter[bytes]:
    """How often each word occurs; if there are too many to count, the rarest ones are left out.

    Lossy counting: Manku and Motwani (2002), Approximate frequency counts over data streams.
    """
    counts: Counter[bytes] = Counter()
    least = 0
    for line in _lines(words, "Counting words"):
        counts.update(line.split())
        while len(counts) > _MOST_DISTINCT:
            least += 1
            counts = Counter({word: n for word, n in counts.items() if n > least})
    return counts


def _lines(path: Path, description: str) -> Iterator[Any]:
    with (
        path.open("rb") as file,
        progress(description, total=path.stat().st_size, unit="B", unit_scale=True) as bar,
    ):
        for line in file:
            yield line
            bar.update(len(line))
