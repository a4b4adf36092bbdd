"""What the trainer of a component sees of it: a corpus, encoded as the trainer asks for it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from spacy.training import Example
from spacy.util import logger

from ..errors import TrainingError
from ..losses.base import LabelledSequences
from ..penalties.base import Penalty
from ..systems.induction.candidates import AtomicTests
from ..systems.induction.component import adopt, tests_of
from ..systems.induction.trainer import Induced, Round
from ..systems.isomeric.learning import partner
from ..trainers.base import Fit, Task, TaskOn
from .corpus import GetExamples, forget_words

Data = TypeVar("Data")


class Reader:
    """The reader that `initialize` was given, if any; it stays behind when a component is copied.

    read: gives all examples of the corpus anew; None where there is no reader.
    """

    def __init__(self, read: GetExamples | None = None) -> None:
        self.read = read

    def __reduce__(self) -> tuple[type["Reader"], tuple[()]]:
        return type(self), ()


class ExampleSource:
    """A component with examples (`trainers.base.Source`).

    is_other: whether these are other examples than before. partners: other components, which its
    trainer has asked for.
    """

    def __init__(self, pipe: Any, examples: Sequence[Example], is_other: bool) -> None:
        self._pipe, self._examples, self._is_other = pipe, examples, is_other
        self.partners: list[Any] = []
        self._tests: AtomicTests | None = None
        if is_other:  # Adaptation begins where an earlier one has ended.
            pipe._origin = None

    @property
    def is_new(self) -> bool:
        return self._is_other and not self._pipe.warm_start

    @property
    def penalty(self) -> Penalty:
        penalty: Penalty = self._pipe.penalty
        return penalty

    def task(self) -> Task:
        pipe, examples = self._pipe, self._examples
        gold = [pipe._read_gold(example) for example in examples]
        if pipe.warm_start:
            pipe._make_room(examples, gold)
        data: LabelledSequences = pipe._data_of(examples, gold)
        return self.task_on(data)

    def task_on(self, data: Data) -> TaskOn[Data]:
        """It begins with the weights that there are."""
        pipe = self._pipe
        return TaskOn(data, pipe.loss, pipe._centred_penalty(), pipe.weights)

    def shards(self, n_tokens: int) -> Iterator[LabelledSequences]:
        """Of the component's reader, or of the examples.

        Raises `TrainingError` where there are no examples.
        """
        pipe, examples = self._pipe, self._examples
        if pipe.warm_start:
            pipe._make_room(examples, [pipe._read_gold(example) for example in examples])
        is_empty = True
        for part in parts_of(pipe._reader.read() if pipe.reads_corpus else examples, n_tokens):
            is_empty = False
            yield pipe._encode(part)
            forget_words(part)
        if is_empty:
            raise TrainingError(
                f"The reader of '{pipe.name}' gave examples to learn features from, and none to "
                f"train on. Check corpus in [initialize.components.{pipe.name}]: it has to read "
                "anew with each call."
            )

    def partner(self, name: str) -> "ExampleSource":
        """The source of an earlier component, for the same examples."""
        earlier = partner(self._pipe, name)
        self.partners.append(earlier)
        return ExampleSource(earlier, self._examples, self._is_other)

    def join(self, fit: Fit[object]) -> None:
        self._pipe.join(fit)

    def tests(self) -> tuple[Task, AtomicTests]:
        pipe, examples = self._pipe, self._examples
        gold = [pipe._read_gold(example) for example in examples]
        units, observed, starts = pipe._fitted(examples, gold)
        data = LabelledSequences(pipe.space.encode(units), pipe.structure, observed, starts)
        self._tests = tests_of(pipe.space, units)
        return self.task_on(data), self._tests

    def adopt(self, found: Induced) -> None:
        assert self._tests is not None
        adopt(self._pipe, self._examples, self._tests, found)

    def tell(self, number: int, done: Round) -> None:
        logger.info(
            "'%s', round %d of induction: %d units are wrong, %d features added, loss %.1f",
            self._pipe.name, number, done.n_hard, len(done.added), done.loss,
        )  # fmt: skip


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
