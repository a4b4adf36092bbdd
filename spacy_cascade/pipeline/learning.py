"""Components that learn from examples: initialize, update, adapt, and go on from checkpoints."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from thinc.api import Model, Optimizer

from ..errors import TrainingError
from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.structure import Potentials
from ..losses.base import LabelledSequences, Loss
from ..losses.margin import Hinge
from ..penalties.base import CentredPenalty, Penalty
from ..scorers.linear import add_features, get_hessian_diagonal
from ..storage.arrays import Arrays
from ..storage.header import Header
from ..systems.induction.component import BeforeInduction, forget, induce
from ..systems.isomeric.learning import begin_jointly, partner
from ..systems.isomeric.loggers import SEPARATOR
from ..tools.scale.corpus_file import CorpusFile
from ..tools.scale.sharding import Source, begin_on_shards
from ..trainers.base import Fit, JointTrainer, ShardTrainer, State, Task, Trainer, shard_tokens
from ..types import Ints1d, Pointers1d
from .corpus import forget_words
from .example_sums import joint_sums
from .examples import Change, Corpus, Parts, Seen
from .initializing import MAXIMUM_LEXEMES, Gold, InitializingPipe
from .options import Options
from .origin import Origin
from .parts import linear_potentials
from .progress import progress

_ANNOTATION = "annotation"
"""Name of a checksum in the state of a training."""
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
        self.before_induction: BeforeInduction | None = None
        self.reset_fit()
        trainer.check(loss, penalty, self.family.structure)
        self._check_options(options)

    # What a component has to say

    def _gold_labels(self, tokens: Tokens, gold: Sequence[Gold]) -> Ints1d:
        """Label of each token, `UNOBSERVED` or `ENDED` where there is no annotation."""
        # Not abstract: only the default `_fitted` asks, which a classifier of spans replaces.
        raise NotImplementedError

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
        self._awaited = None
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
        needs the whole corpus, parts are collected (`examples.Parts`). Where `initialize` had no
        examples, those of `update` are collected until they come again or until the component is
        used, and the model is made of all of them (`examples.Awaited`). With `reads_corpus`
        examples only say that it is time for further iterations. One that was loaded, trained, is
        adapted to new ones: it learns their labels and features, and the penalty, centred on its
        weights, keeps what it has learnt before. The same examples again go on where the last
        update ended; others begin a new adaptation from there. Examples whose annotation has
        changed since are encoded anew; training goes on from the weights that there are.

        drop, sgd: of no effect; they belong to neural components. losses: the objective is added
        under the component's name, and terms of it under `NAME: TERM` (`loggers`).
        """
        examples, losses = list(examples), {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        if self._awaited is not None:
            examples = self._awaited_until_now(self._awaited, examples)
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
        self._corpus, self._seen = Corpus(), Seen()
        self._origin: Origin | None = None

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
        structure = self.structure
        if not self.warm_start:
            return self.penalty.at_zero(self.weights.features.shape, structure.n_transitions)
        origin, columns = self._origin, structure.transition_columns()
        assert origin is not None
        return self.penalty.at_weights(origin.weights, origin.hessian_diagonal, columns)

    def _make_room(self, examples: Sequence[Example], gold: Sequence[Gold]) -> None:
        """Add the labels, words and features of new examples, with weights of zero.

        Examples whose annotation has changed count once, as they are now.
        """
        if self._origin is None:
            self.sync_curvature()
            self._origin = Origin.of(self.model, self._names())
        self.add_labels(label for g in gold for label in self._labels_in(g))
        tokens = self._read_examples(examples)
        self.space.resources.made = self._origin.resources
        self.space.add_to_resources(tokens, self._gold_flags(tokens, gold))
        add_features(self.model, self.space.extend(self._gold_units(tokens, gold), _NEW_MINIMUM))
        self._origin = self._origin.grown(len(self.space), self._names())

    def _prepared(
        self, examples: Sequence[Example]
    ) -> tuple[Fit[Any], LabelledSequences | CorpusFile]:
        """A fit that can make a step, and the data for it."""
        if self.trainer.sees_all:
            change = self._change(examples)
            if change is not Change.NONE:
                self._begin(examples, change)
            assert self._fit is not None
            assert self._corpus.data is not None
            return self._fit, self._corpus.data
        seen = self._seen
        new = seen.new(examples, self._reads().gold_sum) if self.warm_start else []
        if new:
            self._make_room(new, [self._read_gold(example) for example in new])
            self.reset_fit()
            self._seen = seen
        data = self._encode(examples)
        data = replace(data, share=len(examples) / max(1, self.n_examples or len(seen)))
        if self._fit is None:
            known = get_hessian_diagonal(self.model) if self.warm_start else None
            self._fit = self.trainer.begin(Task(data, self.loss, None, self.weights, known))
        return self._fit, data

    def _change(self, examples: Sequence[Example]) -> Change:
        """What has changed since the fit began."""
        if self._fit is None:
            return Change.EXAMPLES
        return Change.NONE if self.reads_corpus else self._corpus.change(examples)

    def _begin(self, examples: Sequence[Example], change: Change) -> None:
        """Begin with a corpus; where the trainer says so, together with an earlier component.

        Where only annotation has changed, features that were induced and the centre of the penalty
        stay.
        """
        together = [self]
        if isinstance(self.trainer, JointTrainer):
            together.append(partner(self, self.trainer.first))
        if change is Change.EXAMPLES:
            for each in together:
                each._origin = None
        sums = joint_sums([each._reads() for each in together])
        if isinstance(self.trainer, ShardTrainer) and self.trainer.shard_tokens:
            if self.warm_start:
                self._make_room(examples, [self._read_gold(example) for example in examples])
            data, self._fit = begin_on_shards(self, self.trainer, examples)
            self._corpus = Corpus(() if self.reads_corpus else examples, data, sums)
            return
        if isinstance(self.trainer, JointTrainer):
            task, self._fit = begin_jointly(self, self.trainer, examples)
        else:
            if change is Change.EXAMPLES:
                induce(self, examples)
            self._fit = self.trainer.begin(task := self.task(examples))
        self._corpus = Corpus(examples, task.data, sums)

    def _load(self, header: Header, arrays: Arrays, exclude: Container[str]) -> None:
        super()._load(header, arrays, exclude)
        self.n_examples, self._source, self._awaited = None, Source(), None
        self.warm_start = bool(arrays) and bool(self.weights.features.any())

    def training_state(self) -> State:
        """What training goes on from; nothing where it has not begun."""
        return {} if self._fit is None else {_ANNOTATION: self._annotation(), **self._fit.state()}

    def _annotation(self) -> int:
        """A checksum of the annotation that the fit learns from, 0 where it is not kept."""
        return sum(map(self._reads().gold_sum, self._corpus.references))

    def restore_training(self, state: State) -> None:
        """Go on from the state of a training whose first update was like that of this one.

        Raises `KeyError`, `TypeError` or `ValueError` where the state is no such one, and
        `TrainingError` where examples were annotated otherwise.
        """
        if self._fit is not None:
            if state[_ANNOTATION] != self._annotation():
                raise TrainingError(
                    f"The checkpoint belongs to another training: examples of '{self.name}' were "
                    "annotated otherwise. Remove it to begin anew, or give the corpus that it was "
                    "made with."
                )
            self._fit.restore({name: state[name] for name in state if name != _ANNOTATION})
            self.sync_weights()
        elif state:
            raise ValueError(f"a state of '{self.name}', whose training has not begun")
