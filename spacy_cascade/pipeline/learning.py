"""Components that learn from examples: initialize, update, adapt, and go on from checkpoints."""

from abc import abstractmethod
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from thinc.api import Model, Optimizer

from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.structure import Potentials
from ..losses.base import LabelledSequences, Loss
from ..losses.margin import Hinge
from ..models.linear import add_features, get_hessian_diagonal
from ..penalties.base import CentredPenalty, Penalty
from ..storage.arrays import Arrays
from ..storage.header import Header
from ..trainers.base import Fit, JointTrainer, ShardTrainer, State, Task, Trainer, shard_tokens
from ..trainers.corpus_file import CorpusFile
from ..types import Ints1d, Pointers1d
from .corpus import Corpus, Parts, forget_words
from .inducing import InducedFeatures, forget, induce
from .initializing import MAXIMUM_LEXEMES, Gold, InitializingPipe
from .joint import begin_jointly, partner
from .loggers import SEPARATOR
from .options import Options
from .parts import linear_potentials
from .progress import progress
from .sharding import Source, begin_on_shards

_NEW_MINIMUM = 1
"""How often adaptation, which sees little, has to see a feature to add it."""


class LearningPipe(InitializingPipe[Gold]):
    """A component with a loss, a penalty and a trainer.

    warm_start: whether it was trained before it was loaded; `update` then adapts it to new
    examples. n_examples: how many `initialize` has seen, None in a component that was loaded.
    """

    def __init__(
        self,
        nlp: Language,
        model: Model[Units, Any],
        name: str,
        options: Options,
        loss: Loss | Hinge,
        penalty: Penalty | None,
        trainer: Trainer,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        super().__init__(nlp, model, name, options)
        self.loss, self.penalty, self.trainer, self.scorer = loss, penalty, trainer, scorer
        self.n_examples: int | None = None
        self.warm_start, self._parts, self._source = False, Parts(), Source()
        self.induced: InducedFeatures | None = None
        self.reset_fit()
        trainer.check(loss, penalty, self.family.structure)
        self._check_options(options)

    # What a component has to say

    @abstractmethod
    def _gold_labels(self, tokens: Tokens, gold: Sequence[Gold]) -> Ints1d:
        """Label of each token, `UNOBSERVED` or `ENDED` where there is no annotation."""

    def _fitted(
        self, examples: Sequence[Example], gold: Sequence[Gold]
    ) -> tuple[Units, Ints1d, Pointers1d]:
        """Units, their labels, and starts of sequences: by default tokens with gold labels."""
        tokens = self._read_examples(examples)
        observed = self._gold_labels(tokens, gold)
        return self._gold_units(tokens, gold), observed, tokens.sequence_starts

    def _data_of(self, examples: Sequence[Example], gold: Sequence[Gold]) -> LabelledSequences:
        units, observed, starts = self._fitted(examples, gold)
        return LabelledSequences(self.space.design(units), self.structure, observed, starts)

    # Reading

    def potentials(self, docs: Sequence[Doc]) -> tuple[Tokens, Potentials]:
        """The tokens of a batch, and the potentials of their labels; as `linear_potentials`."""
        tokens, linear = self.linear_potentials(docs)
        return tokens, self.structure.normalised(linear)

    def linear_potentials(self, docs: Sequence[Doc]) -> tuple[Tokens, Potentials]:
        """The tokens of a batch, and what weights give. Raises `NotTrainedError` without such."""
        return linear_potentials(self, docs)

    # Training

    @property
    def reads_corpus(self) -> bool:
        """Whether it learns from the reader that `initialize` was given, whatever `update` gets."""
        has_reader = self._source.read is not None and not self.warm_start
        return has_reader and shard_tokens(self.trainer) > 0

    def _begin_anew(self) -> None:
        self.warm_start, self._parts, self._source = False, Parts(), Source()
        forget(self)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Run the trainer's iterations on the examples.

        A component that was initialized here learns from all of its examples: where its trainer
        needs the whole corpus, parts are collected (`corpus.Parts`). With `reads_corpus` examples
        only say that it is time for further iterations. One that was loaded, trained, is adapted to
        new ones: it learns their labels and features, and the penalty, centred on its weights,
        keeps what it has learnt before. The same examples again go on where the last update ended;
        others begin a new adaptation from there.

        drop, sgd: of no effect; they belong to neural components. losses: the objective is added
        under the component's name, and terms of it under `NAME: TERM` (`loggers`).
        """
        examples, losses = list(examples), {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        if self.trainer.sees_all and not self.warm_start and not self.reads_corpus:
            examples = self._parts.collect(examples, self.n_examples, self.name)
        if not self.trainer.iterations or not any(len(each.predicted) for each in examples):
            return losses
        with progress(f"Training {self.name}", total=self.trainer.iterations) as bar:
            fit, data = self._prepared(examples)
            forget_words(examples)
            losses[self.name] += fit.step(data, bar.update)
        losses |= {f"{self.name}{SEPARATOR}{term}": value for term, value in fit.terms().items()}
        if self.trainer.sees_all:
            self.sync_weights()
        if isinstance(self.trainer, JointTrainer):
            partner(self, self.trainer.first).sync_weights()
        return losses

    def reset_fit(self) -> None:
        super().reset_fit()
        self._corpus = Corpus()

    def join(self, fit: Fit[LabelledSequences]) -> None:
        """Be trained by a later component, whose fit moves this one."""
        self._fit = fit

    def task(self, examples: Sequence[Example]) -> Task:
        """What the examples ask to be fitted, beginning with the weights that there are."""
        gold = [self._read_gold(example) for example in examples]
        if self.warm_start:
            self._make_room(examples, gold)
        weights = self.weights
        data = self._data_of(examples, gold)
        return Task(data, self.loss, self._centred_penalty(), weights)

    def _encode(self, examples: Sequence[Example]) -> LabelledSequences:
        """A part of a corpus; words of earlier parts are forgotten where they are too many."""
        self.space.forget_lexemes(MAXIMUM_LEXEMES)
        return self._data_of(examples, [self._read_gold(example) for example in examples])

    def _centred_penalty(self) -> CentredPenalty | None:
        """The penalty on what training changes; None where the trainer takes none."""
        if self.penalty is None:
            return None
        weights, structure = self.weights, self.structure
        if self.warm_start:
            known = get_hessian_diagonal(self.model)
            return self.penalty.at_weights(weights, known, structure.transition_columns())
        return self.penalty.at_zero(weights.features.shape, structure.n_transitions)

    def _make_room(self, examples: Sequence[Example], gold: Sequence[Gold]) -> None:
        """Add the labels, words and features of new examples, with weights of zero."""
        self.sync_curvature()
        self.add_labels(label for g in gold for label in self._labels_in(g))
        tokens = self._read_examples(examples)
        self.space.add_to_resources(tokens, self._gold_flags(tokens, gold))
        add_features(self.model, self.space.extend(self._gold_units(tokens, gold), _NEW_MINIMUM))

    def _prepared(
        self, examples: Sequence[Example]
    ) -> tuple[Fit[Any], LabelledSequences | CorpusFile]:
        """A fit that can make a step, and the data for it."""
        corpus = self._corpus
        if self.trainer.sees_all:
            if self._fit is None or not (self.reads_corpus or corpus.is_of(examples)):
                self._begin(examples)
            assert self._fit is not None
            assert self._corpus.data is not None
            return self._fit, self._corpus.data
        new = corpus.unseen(examples) if self.warm_start else []
        if new:
            self._make_room(new, [self._read_gold(example) for example in new])
            self.reset_fit()
            corpus.add(new)
            self._corpus = corpus
        data = self._encode(examples)
        data = replace(data, share=len(examples) / max(1, self.n_examples or len(self._corpus)))
        if self._fit is None:
            known = get_hessian_diagonal(self.model) if self.warm_start else None
            self._fit = self.trainer.begin(Task(data, self.loss, None, self.weights, known))
        return self._fit, data

    def _begin(self, examples: Sequence[Example]) -> None:
        """Begin with a corpus; where the trainer says so, together with an earlier component."""
        if isinstance(self.trainer, ShardTrainer) and self.trainer.shard_tokens:
            if self.warm_start:
                self._make_room(examples, [self._read_gold(example) for example in examples])
            data, self._fit = begin_on_shards(self, self.trainer, examples)
            self._corpus = Corpus(() if self.reads_corpus else examples, data)
            return
        if isinstance(self.trainer, JointTrainer):
            task, self._fit = begin_jointly(self, self.trainer, examples)
        else:
            induce(self, examples)
            self._fit = self.trainer.begin(task := self.task(examples))
        self._corpus = Corpus(examples, task.data)

    def _load(self, header: Header, arrays: Arrays, exclude: Container[str]) -> None:
        super()._load(header, arrays, exclude)
        self.n_examples, self._source = None, Source()
        self.warm_start = bool(arrays) and bool(self.weights.features.any())

    def training_state(self) -> State:
        """What training goes on from; nothing where it has not begun."""
        return {} if self._fit is None else self._fit.state()

    def restore_training(self, state: State) -> None:
        """Go on from the state of a training whose first update was like that of this one.

        Raises `KeyError`, `TypeError` or `ValueError` where the state is no such one.
        """
        if self._fit is not None:
            self._fit.restore(state)
            self.sync_weights()
        elif state:
            raise ValueError(f"a state of '{self.name}', whose training has not begun")
