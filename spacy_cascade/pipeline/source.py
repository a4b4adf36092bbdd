"""What the trainer of a component sees of it: a corpus, encoded as the trainer asks for it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from spacy.training import Example
from thinc.api import Model

from ..errors import TrainingError
from ..features.resources import Resource
from ..inference.structure import Weights
from ..losses.base import LabelledSequences
from ..penalties.base import CentredPenalty, Penalty
from ..scorers.linear import Names, add_features, get_weights, hessian_of, places, taken
from ..trainers.base import Fit, Task, TaskOn
from ..types import Floats2d
from .corpus import forget_words
from .initializing import MAXIMUM_LEXEMES, read_examples

Data = TypeVar("Data")
Extended = TypeVar("Extended")

_NEW_MINIMUM = 1
"""How often adaptation, which sees little, has to see a feature to add it."""


class ExampleSource:
    """A component with examples (`trainers.base.Source`).

    is_other: whether these are other examples than before. partners: other components, which its
    trainer trains, too.
    """

    def __init__(self, component: Any, examples: Sequence[Example], is_other: bool) -> None:
        self.component, self.examples, self._is_other = component, examples, is_other
        self.partners: list[Any] = []
        if is_other:  # Adaptation begins where an earlier one has ended.
            component._origin = None

    @property
    def is_new(self) -> bool:
        return self._is_other and not self.component.warm_start

    def extended(self, kind: Callable[["ExampleSource"], Extended]) -> Extended:
        """What else the trainer of a room asks for; kind: makes it of this source."""
        return kind(self)

    def beside(self, component: Any) -> "ExampleSource":
        """The source of another component for the same examples, which is trained, too."""
        self.partners.append(component)
        return ExampleSource(component, self.examples, self._is_other)

    def task(self) -> Task:
        pipe, examples = self.component, self.examples
        gold = [pipe.gold.read(example) for example in examples]
        if pipe.warm_start:
            make_room(pipe, examples, gold)
        data: LabelledSequences = data_of(pipe, examples, gold)
        return self.task_on(data)

    def task_on(self, data: Data) -> TaskOn[Data]:
        """It begins with the weights that there are."""
        pipe = self.component
        return TaskOn(data, pipe.loss, _centred_penalty(pipe), pipe.weights)

    def shards(self, n_tokens: int) -> Iterator[LabelledSequences]:
        """Of the component's reader, or of the examples.

        Raises `TrainingError` where there are no examples.
        """
        pipe, examples = self.component, self.examples
        if pipe.warm_start:
            make_room(pipe, examples, [pipe.gold.read(example) for example in examples])
        is_empty = True
        for part in parts_of(pipe._reader.read() if reads_corpus(pipe) else examples, n_tokens):
            is_empty = False
            yield encode(pipe, part)
            forget_words(part)
        if is_empty:
            raise TrainingError(
                f"The reader of '{pipe.name}' gave examples to learn features from, and none to "
                f"train on. Check corpus in [initialize.components.{pipe.name}]: it has to read "
                "anew with each call."
            )

    def join(self, fit: Fit[object]) -> None:
        """Have the component trained by a fit that another one begins."""
        self.component._fit = fit


@dataclass(frozen=True)
class Origin:
    """Weights `[K, S]` and `[E]` of a trained model, and how surely its corpus determined them.

    What an adaptation began with: its penalty stays there when examples are corrected meanwhile.
    Like the fit, it stays behind when its component is pickled or copied. steps: the diagonal of
    the Hessian `[K, S]`, as the model keeps it; None where it is not known. names: what columns and
    transitions are known by. resources: what templates look at, by key.
    """

    weights: Weights
    steps: npt.NDArray[np.uint8] | None
    names: Names
    resources: dict[str, Resource]

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    @classmethod
    def of(cls, model: Model[Any, Any], names: Names) -> "Origin":
        """What the model has now."""
        weights, resources = Weights(*get_weights(model)), model.attrs["space"].resources.made
        return cls(weights, model.attrs["hessian_diagonal"], names, resources)

    @property
    def hessian_diagonal(self) -> Floats2d | None:
        """That of the loss of the earlier corpus, `[K, S]`."""
        return hessian_of(self.steps)

    def grown(self, n_features: int, names: Names) -> "Origin":
        """The same for a model that has got more features and labels, with zeros for these."""
        columns, edges = (places(*pair) for pair in zip(self.names, names, strict=True))
        missing = ((0, n_features - len(self.weights.features)), (0, 0))
        features = taken(np.pad(self.weights.features, missing), columns)
        steps = None if self.steps is None else taken(np.pad(self.steps, missing), columns)
        weights = Weights(features, taken(self.weights.transitions, edges))
        return Origin(weights, steps, names, self.resources)


def reads_corpus(pipe: Any) -> bool:
    """Whether it learns from the reader that `initialize` was given, whatever `update` gets."""
    has_reader = pipe._reader.read is not None and not pipe.warm_start
    return has_reader and bool(pipe.trainer.reads_corpus)


def data_of(pipe: Any, examples: Sequence[Example], gold: Sequence[Any]) -> LabelledSequences:
    units, observed, starts = pipe.fitted(examples, gold)
    return LabelledSequences(pipe.space.encode(units), pipe.structure, observed, starts)


def encode(pipe: Any, examples: Sequence[Example]) -> LabelledSequences:
    """A part of a corpus; words of earlier parts are forgotten where they are too many."""
    pipe.space.forget_lexemes(MAXIMUM_LEXEMES)
    return data_of(pipe, examples, [pipe.gold.read(example) for example in examples])


def _centred_penalty(pipe: Any) -> CentredPenalty | None:
    """The penalty on what training changes; None where the trainer takes none."""
    penalty: Penalty | None = pipe.penalty
    if penalty is None:
        return None
    structure = pipe.structure
    if not pipe.warm_start:
        return penalty.at_zero(pipe.weights.features.shape, structure.n_transitions)
    origin, columns = pipe._origin, structure.columns.of_transition
    assert origin is not None
    return penalty.at_weights(origin.weights, origin.hessian_diagonal, columns)


def make_room(pipe: Any, examples: Sequence[Example], gold: Sequence[Any]) -> None:
    """Add the labels, words and features of new examples, with weights of zero.

    Examples whose annotation has changed count once, as they are now.
    """
    if pipe._origin is None:
        pipe.sync_curvature()
        pipe._origin = Origin.of(pipe.model, pipe._names())
    pipe.add_labels(label for g in gold for label in pipe.labels_in(g))
    tokens = read_examples(pipe, examples)
    pipe.space.resources.made = pipe._origin.resources
    pipe.space.add_to_resources(tokens, pipe.gold.flags(tokens, gold))
    add_features(pipe.model, pipe.space.extend(pipe.gold_units(tokens, gold), _NEW_MINIMUM))
    pipe._origin = pipe._origin.grown(len(pipe.space), pipe._names())


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
