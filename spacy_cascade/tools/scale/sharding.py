"""A corpus that a component learns from shard by shard: where it comes from, and its encoding."""

from collections.abc import Iterable, Iterator
from typing import Any

from spacy.training import Example

from ...errors import TrainingError
from ...pipeline.corpus import GetExamples, forget_words
from ...trainers.base import Fit, ShardedTask, ShardTrainer
from .corpus_file import CorpusFile


class Source:
    """The reader that `initialize` was given, if any; it stays behind when a component is copied.

    read: gives all examples of the corpus anew; None where there is no reader.
    """

    def __init__(self, read: GetExamples | None = None) -> None:
        self.read = read

    def __reduce__(self) -> tuple[type["Source"], tuple[()]]:
        return type(self), ()


def begin_on_shards(
    component: Any, trainer: ShardTrainer, examples: Iterable[Example]
) -> tuple[CorpusFile, Fit[CorpusFile]]:
    """Begin with a corpus in a file: that of the component's reader, or these examples.

    Raises `SavingError` where the disk is full, `TrainingError` where there are no examples.
    """
    if component.reads_corpus:
        examples = component._source.read()
    weights, corpus = component.weights, CorpusFile(component.structure)
    for part in parts_of(examples, trainer.shard_tokens):
        corpus.append(component._encode(part))
        forget_words(part)
    if not len(corpus):
        raise TrainingError(
            f"The reader of '{component.name}' gave examples to learn features from, and none to "
            f"train on. Check corpus in [initialize.components.{component.name}]: it has to read "
            "anew with each call."
        )
    penalty = component._centred_penalty()
    task = ShardedTask(corpus, component.loss, penalty, weights)
    return corpus, trainer.begin_on_shards(task)


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
