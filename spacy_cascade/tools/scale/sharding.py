"""A corpus that a component learns from shard by shard: where it comes from, and its encoding."""

from collections.abc import Iterable, Iterator

from spacy.training import Example

from ...pipeline.corpus import GetExamples


class Source:
    """The reader that `initialize` was given, if any; it stays behind when a component is copied.

    read: gives all examples of the corpus anew; None where there is no reader.
    """

    def __init__(self, read: GetExamples | None = None) -> None:
        self.read = read

    def __reduce__(self) -> tuple[type["Source"], tuple[()]]:
        return type(self), ()


def parts_of(examples: Iterable[Example], n_tokens: int) -> Iterator[list[Example]]:
    """Lists of examples with so many tokens or a few more, each valid until the next one."""
    part: list[Example] = []
    n = 0
    for example in examples:
        part.append(example)
        n += len(example.predicted)
        if n >= n_tokens:
            yield part
            part.clear()
            n = 0
    if part:
        yield part
