"""Batchers for `[training.batcher]`."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

WHOLE_CORPUS = "spacy_cascade.WholeCorpus.v1"

Item = TypeVar("Item")


def make_whole_corpus_batcher() -> Callable[[Iterable[Item]], Iterator[list[Item]]]:
    """All examples in one batch; registered as `spacy_cascade.WholeCorpus.v1`.

    For batch objectives: one `update` then sees the whole corpus.
    """
    return _whole_corpus


def _whole_corpus(items: Iterable[Item]) -> Iterator[list[Item]]:
    yield list(items)
