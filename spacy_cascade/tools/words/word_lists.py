"""Lists of words: of a file, and the frequent ones of a text; and samples of texts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ...errors import CorpusError
from ...files import UNREADABLE, text_lines


def read_list(path: Path | None, max_words: int) -> list[str]:
    """The first words of a file, each the first field of its line; none without a file."""
    if path is None:
        return []
    try:
        lines = (line.split() for line in text_lines(path))
        words = list(dict.fromkeys(islice((line[0] for line in lines if line), max_words)))
    except UNREADABLE as error:
        raise CorpusError(f"Cannot read the list of words {path}: {error}.") from error
    if not words:
        raise CorpusError(f"The list of words {path} is empty.")
    return words


def frequent_words(path: Path, min_count: int, max_words: int) -> list[str]:
    """The most frequent words of lines of them, those that occur so many times."""
    counts: Counter[str] = Counter()
    for words in split_lines(path):
        counts.update(words)
    frequent = [word for word, count in counts.items() if count >= min_count]
    if not frequent:
        raise CorpusError(
            f"No word occurs {min_count} times in the text: it has {counts.total():,} words. Give "
            "more text, or set a lower --min-count."
        )
    return sorted(frequent, key=lambda word: (-counts[word], word))[:max_words]


def sampled(path: Path, n: int, seed: int) -> list[bytes]:
    """So many lines of a file, drawn at random, or all of them, in their order."""
    draw, kept = random.Random(seed), list[tuple[int, bytes]]()
    with path.open("rb") as file:
        for i, line in enumerate(file):
            # Each line of those so far is kept with the same probability (Vitter 1985).
            place = i if i < n else draw.randrange(i + 1)
            if i < n:
                kept.append((i, line))
            elif place < n:
                kept[place] = (i, line)
    return [line for _, line in sorted(kept)]


def split_lines(path: Path) -> Iterator[list[str]]:
    """The words of each line of a file of `text.write_words`."""
    with path.open(encoding="utf8") as file:
        for line in file:
            yield line.split()
