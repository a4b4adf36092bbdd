"""Training under way, as `update` of a component goes on with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast
from weakref import ref

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tqdm import tqdm

from ...errors import ConfigError, TrainingError
from ...losses.problem import ChainProblem, Objective
from ...models.linear import get_hessian_diagonal, get_weights
from ...parallel import Workers
from ...penalties.gaussian import centred_prior
from ...trainers.base import BatchTrainer, Learner, OnlineTrainer, Resumable, Run, State
from ...types import Floats1d, Floats2d

if TYPE_CHECKING:
    from ..base import CascadePipe

_BAR_AFTER = 2.0
"""Seconds of work after which a progress bar appears."""


def progress(description: str, **settings: Any) -> Any:
    """A progress bar (tqdm's settings) that appears where work takes longer than two seconds."""
    return tqdm(desc=description, delay=_BAR_AFTER, leave=False, disable=None, **settings)


class Training(Protocol):
    """Something that has new weights."""

    def weights(self) -> tuple[Floats2d, Floats1d]:
        """Weights `[K, S]` and transitions `[E]` to annotate with."""


class CorpusTraining(Training, Protocol):
    """What `update` of a stage needs."""

    def update(self, pipe: CascadePipe[Any], examples: Sequence[Example]) -> float:
        """Train on the examples; the loss."""

    def curvature(self) -> Floats2d | None:
        """How surely the data determine the weights, `[K, S]` (`objectives.prior`), if known."""

    def terms(self) -> dict[str, float]:
        """Of what the loss of the last update consisted, by name, where that is of interest."""

    def state(self) -> State:
        """What it goes on from, for a checkpoint. Raises `ConfigError` where that is not known."""

    def restore(self, pipe: CascadePipe[Any], state: State) -> None:
        """Go on from the state of a training whose first update was like that of this one."""


class Temporary:
    """Stays behind when its component is pickled or copied: None arrives."""

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


class Pipeline(Temporary):
    """The pipeline that a component stands in, without keeping it alive."""

    def __init__(self, nlp: Language) -> None:
        self._reference = ref(nlp)

    def get(self) -> Language | None:
        """The pipeline, None where it is gone."""
        return self._reference()


class BatchTraining(Temporary):
    """One optimisation for as long as the corpus, known by its reference Docs, is the same."""

    def __init__(self, trainer: BatchTrainer) -> None:
        self._trainer = trainer
        self._references: dict[int, Doc] = {}
        self._problem: ChainProblem | None = None
        self._run: Run | None = None

    def terms(self) -> dict[str, float]:
        """None besides the loss."""
        return {}

    @property
    def problem(self) -> ChainProblem:
        """What the component's own weights are to minimise."""
        assert self._problem is not None
        return self._problem

    def update(self, pipe: CascadePipe[Any], examples: Sequence[Example]) -> float:
        """Run the trainer's iterations on the whole corpus."""
        references = {id(example.reference): example.reference for example in examples}
        with progress(f"Training {pipe.name}", total=self._trainer.iterations) as bar:
            if self._run is None or references.keys() != self._references.keys():
                self._begin(pipe, examples)
                self._references = references
            assert self._run is not None
            value = self._run.run(self._trainer.iterations, bar.update)
        self.problem.design.release_memory()
        return value

    def weights(self) -> tuple[Floats2d, Floats1d]:
        """Weights where the optimisation stands."""
        assert self._run is not None
        return self.problem.weights(self._run.parameters)

    def curvature(self) -> Floats2d | None:
        """That of the loss where the optimisation stands, if it has begun."""
        if self._run is None:
            return None
        return self.problem.curvature(self._run.parameters)

    def state(self) -> State:
        """What the optimisation goes on from."""
        return resumable(self._run).state()

    def restore(self, pipe: CascadePipe[Any], state: State) -> None:
        """Go on with the optimisation from a state of it."""
        resumable(self._run).restore(state)

    def _begin(self, pipe: CascadePipe[Any], examples: Sequence[Example]) -> None:
        if not pipe.warm_start:
            self._refuse_partial_batch(pipe, len(examples))
        workers = self._trainer.workers()
        self._problem, start = make_problem(pipe, examples, workers)
        self._run = self._trainer.start(self._problem, start, workers)

    def _refuse_partial_batch(self, pipe: CascadePipe[Any], n_examples: int) -> None:
        expected = len(self._references) or pipe.n_examples
        if expected is not None and n_examples < expected:
            raise TrainingError(
                f"'{pipe.name}' was given {n_examples} of {expected} training examples at once, "
                "but its trainer needs the whole corpus in every update. Put "
                '@batchers = "spacy_cascade.WholeCorpus.v1" into [training.batcher] and set '
                "accumulate_gradient = 1 in [training]. To adapt a trained component to few "
                "examples, save the pipeline and load it first."
            )


def resumable(under_way: object) -> Resumable:
    """A run or a learner as a checkpoint needs it. Raises `ConfigError` where it is not so."""
    if isinstance(under_way, Resumable):
        return under_way
    raise ConfigError(
        f"The trainer's {type(under_way).__name__} has no 'state' and 'restore', without which no "
        "checkpoint can be made of it. Take the checkpoints out of [training.before_update], or "
        "train with LBFGS, JointLBFGS or PassiveAggressive."
    )


def make_problem(
    pipe: CascadePipe[Any], examples: Sequence[Example], workers: Workers
) -> tuple[ChainProblem, Floats1d]:
    """What a component minimises on examples, and the parameters where it stands."""
    get_weights(pipe.model)  # first, for it raises where there are none
    gold = [pipe.read_gold(example) for example in examples]
    objective = cast(Objective, pipe.objective)  # `check` has seen to that
    prior = None
    if pipe.warm_start:
        pipe.sync_curvature()
        pipe.make_room(examples, gold)
        weights, transitions = get_weights(pipe.model)
        curvature = get_hessian_diagonal(pipe.model)
        prior = centred_prior(objective.sigma, weights, transitions, curvature, pipe.lattice)
    corpus = pipe.make_corpus(examples, gold)
    problem = ChainProblem(
        corpus.design, corpus.lattice, objective, corpus.tags, corpus.starts, workers, prior
    )
    return problem, problem.parameters(*get_weights(pipe.model))


class OnlineTraining(Temporary):
    """Learning from one batch after the other."""

    def __init__(self, trainer: OnlineTrainer) -> None:
        self._trainer = trainer
        self._learner: Learner | None = None
        self._known: dict[int, Doc] = {}

    def update(self, pipe: CascadePipe[Any], examples: Sequence[Example]) -> float:
        """Learn from a batch."""
        if pipe.warm_start:
            self._make_room(pipe, examples)
        gold = [pipe.read_gold(example) for example in examples]
        learner = self._begun(pipe)
        return learner.learn(pipe.make_corpus(examples, gold), pipe.objective)

    def _begun(self, pipe: CascadePipe[Any]) -> Learner:
        if self._learner is None:
            self._learner = self._trainer.begin(*get_weights(pipe.model))
        return self._learner

    def terms(self) -> dict[str, float]:
        """None besides the loss."""
        return {}

    def weights(self) -> tuple[Floats2d, Floats1d]:
        """The weights learnt so far."""
        assert self._learner is not None
        return self._learner.weights()

    def curvature(self) -> Floats2d | None:
        """Not known: passive-aggressive updates stay close to the weights by themselves."""
        return None

    def state(self) -> State:
        """What learning goes on from."""
        return resumable(self._learner).state()

    def restore(self, pipe: CascadePipe[Any], state: State) -> None:
        """Go on learning from a state of the same features and labels."""
        resumable(self._begun(pipe)).restore(state)

    def _make_room(self, pipe: CascadePipe[Any], examples: Sequence[Example]) -> None:
        """Add what examples have that were not seen yet, and go on from the published weights."""
        new = [e for e in examples if id(e.reference) not in self._known]
        if new:
            pipe.sync_weights()
            pipe.make_room(new, [pipe.read_gold(example) for example in new])
            self._known.update((id(e.reference), e.reference) for e in new)
            self._learner = None
