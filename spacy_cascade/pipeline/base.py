"""What all trained components share: reading gold annotation, and training sessions."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.pipeline import SpanRuler
from spacy.training import Example, validate_examples
from thinc.api import Model, Optimizer

from ..errors import TrainingError
from ..features.tokens import Tokens, join_tokens
from ..features.units import Units
from ..losses.margin import Costs
from ..losses.problem import ChainCorpus
from ..models.linear import get_weights, keep_hessian_diagonal, set_weights
from ..storage.arrays import Arrays
from ..storage.header import Header
from ..trainers.base import State, Trainer
from ..types import Floats1d, Floats2d, Ints2d
from .interrupts import is_interrupted
from .linear import LinearPipe
from .loggers import SEPARATOR
from .spans.gold import GoldOf, as_seen, ruled_spans
from .training.updates import CorpusTraining, OnlineTraining, progress
from .training.ways import make_training

_READ_AT_ONCE = 256
_NEW_MINIMUM = 1
"""How often a feature has to be seen to be added in adaptation, where there is little to see."""

Gold = TypeVar("Gold")
"""What a component reads of the reference of one example."""


class CascadePipe(LinearPipe, Generic[Gold]):
    """A component around one linear model, its objective and its trainer.

    warm_start: whether it was trained before it was loaded; `update` then adapts it to new
    examples.
    """

    sought: ClassVar[str] = "labelled gold span"
    where_to_look: ClassVar[str] = "has entities, or gold spans under the component's gold_key"
    """For the error where no example has anything to learn from."""

    def __init__(
        self,
        nlp: Language,
        model: Model[Units, Any],
        name: str,
        objective: Costs,
        trainer: Trainer,
        scorer: Callable[..., dict[str, Any]] | None,
        settings: dict[str, Any],
    ) -> None:
        super().__init__(nlp, model, name, settings)
        self.scorer = scorer
        self.objective = objective
        self.trainer = trainer
        self.n_examples: int | None = None
        self.warm_start = False
        self._training: CorpusTraining | None = None
        self._is_settled = True
        trainer.check(objective)

    # What a component has to say

    @abstractmethod
    def read_gold(self, example: Example) -> Gold:
        """Gold annotation of an example."""

    @abstractmethod
    def gold_flags(self, tokens: Tokens, gold: Sequence[Gold]) -> Ints2d:
        """What the gold annotation says of the tokens (see `features.evidence`)."""

    @abstractmethod
    def labels_in(self, gold: Gold) -> Iterable[str]:
        """Labels that the component learns from one example."""

    @abstractmethod
    def all_units(self, tokens: Tokens, gold: Sequence[Gold]) -> Units:
        """The units of a corpus from which features are learnt."""

    @abstractmethod
    def make_corpus(self, examples: Sequence[Example], gold: Sequence[Gold]) -> ChainCorpus:
        """What examples teach, as arrays."""

    def read_examples(self, examples: Iterable[Example]) -> Tokens:
        """The tokens of predicted Docs, as the templates see them in training.

        Tags and spans of earlier components are gold ones where predicted Docs have none.
        """
        stand_ins = self._stand_ins()
        return self.read([as_seen(example, self.space, stand_ins) for example in examples])

    def _stand_ins(self) -> dict[str, GoldOf]:
        """What stands in for the components that write span groups that the templates look at.

        Gold spans for segmenters, and for rulers what they find.
        """
        components: list[tuple[str, Any]] = [] if self.pipeline is None else self.pipeline.pipeline
        found: dict[str | None, GoldOf] = {}
        for _, pipe in components:
            if isinstance(pipe, SpanRuler):
                found[pipe.key] = partial(ruled_spans, pipe)
            elif hasattr(pipe, "gold_spans") and pipe is not self:
                found[pipe.cfg["spans_key"]] = pipe.gold_spans
        return {key: found[key] for key in self.space.span_keys if key in found}

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        """Collect labels, learn the feature space and set all weights to zero.

        labels: the labels, as saved by `spacy init labels`; else those in the examples.
        Raises `TrainingError` where there is nothing to learn from.
        """
        batches: list[Tokens] = []
        gold: list[Gold] = []
        self.n_examples, self.warm_start = 0, False
        for examples in _batches(progress(f"Reading for {self.name}", iterable=get_examples())):
            validate_examples(examples, f"{type(self).__name__}.initialize")
            batches.append(self.read_examples(examples))
            gold.extend(self.read_gold(example) for example in examples)
            self.n_examples += len(examples)
        if not gold:
            raise TrainingError(
                f"'{self.name}' got no examples to initialize from. Check [corpora.train] path."
            )
        found = labels or {label for g in gold for label in self.labels_in(g)} | set(self._labels)
        if not found:
            raise TrainingError(
                f"'{self.name}' found no {self.sought} in {len(gold)} examples. Check that "
                f"[corpora.train] {self.where_to_look}."
            )
        if "" in found:
            raise TrainingError(
                f"'{self.name}' found a {self.sought} whose label is empty. Give it one; or, if "
                "types do not matter, set typed = false in the component."
            )
        self._set_labels(found)
        tokens = join_tokens(batches)
        flags = self.gold_flags(tokens, gold)
        self.learn_features(nlp, tokens, flags, lambda: self.all_units(tokens, gold))
        self.reset_fit()

    def make_room(self, examples: Sequence[Example], gold: Sequence[Gold]) -> None:
        """Add the labels, the evidence and the features of new examples, with weights of zero."""
        self.add_labels(label for g in gold for label in self.labels_in(g))
        tokens = self.read_examples(examples)
        flags = self.gold_flags(tokens, gold)
        self.add_features(tokens, flags, lambda: self.all_units(tokens, gold), _NEW_MINIMUM)

    def sync_curvature(self) -> None:
        """Publish the weights, and keep how surely training has determined them.

        The latter takes about as long as an iteration of training: it is done where it is needed.
        """
        super().sync_curvature()
        if self._is_settled or is_interrupted():
            return
        curvature = None if self._training is None else self._training.curvature()
        if curvature is not None:
            keep_hessian_diagonal(self.model, curvature)
        self._is_settled = True

    def _load_state(self, header: Header, arrays: Arrays) -> None:
        super()._load_state(header, arrays)
        self.n_examples = None
        self.warm_start = bool(get_weights(self.model)[0].any())

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Run the trainer's iterations on the examples.

        A component that was initialized here learns from all of its examples. One that was loaded,
        trained, is adapted to new ones: it learns their labels and features, and a prior centred
        on its weights keeps what it has learnt before. The same examples again go on where the
        last update ended; others begin a new adaptation from there.

        drop, sgd: of no effect; they belong to neural components. losses: the objective is added
        under the component's name, and terms of it under `NAME: TERM` (`loggers`). Raises
        `TrainingError` on a partial batch where it was initialized here.
        """
        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        if self._training is None:
            self._training = make_training(self)
        losses[self.name] += self._training.update(self, examples)
        for term, value in self._training.terms().items():
            losses[f"{self.name}{SEPARATOR}{term}"] = value
        self._is_published = self._is_settled = False
        if not isinstance(self._training, OnlineTraining):
            self.sync_weights()
        return losses

    # Checkpoints

    def training_state(self) -> State:
        """What training goes on from; nothing where it has not begun."""
        return {} if self._training is None else self._training.state()

    def restore_training(self, state: State) -> None:
        """Go on from the state of a training whose first update was like that of this one.

        Raises `KeyError`, `TypeError` or `ValueError` where the state is no such one.
        """
        if self._training is None and state:
            self._training = make_training(self)
        if self._training is not None:
            self._training.restore(self, state)
            self._is_published = self._is_settled = False
            self.sync_weights()

    def show(
        self, weights: Floats2d, transitions: Floats1d, curvature: npt.NDArray[np.uint8] | None
    ) -> None:
        """Predict and save with other weights and their curvature, until training goes on."""
        set_weights(self.model, weights, transitions)
        self.model.attrs["curvature"] = curvature
        self._is_published = self._is_settled = True


def _batches(examples: Iterable[Example]) -> Iterator[list[Example]]:
    iterator = iter(examples)
    while batch := list(islice(iterator, _READ_AT_ONCE)):
        yield batch
