"""What `update` does: trains, adapts, and goes on from checkpoints.

pipe: a component that learns (`pipeline.base`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from spacy.training import Example

from ..errors import TrainingError
from ..losses.base import LabelledSequences
from ..penalties.base import CentredPenalty, Penalty
from ..scorers.linear import add_features, get_hessian_diagonal
from ..systems.induction.component import induce
from ..systems.isomeric.learning import partner
from ..systems.isomeric.loggers import SEPARATOR
from ..tools.scale.corpus_file import CorpusFile
from ..tools.scale.sharding import parts_of
from ..trainers.base import (
    Fit,
    JointTrainer,
    ShardedTask,
    ShardTrainer,
    State,
    Task,
    shard_tokens,
)
from .corpus import forget_words
from .example_sums import joint_sums
from .examples import Change, Corpus
from .initializing import MAXIMUM_LEXEMES, awaited_until_now, read_examples
from .origin import Origin
from .progress import progress

_ANNOTATION = "annotation"
"""Name of a checksum in the state of a training."""
_NEW_MINIMUM = 1
"""How often adaptation, which sees little, has to see a feature to add it."""


def update(pipe: Any, examples: list[Example], losses: dict[str, float]) -> None:
    """Run the trainer's iterations on the examples.

    A component that was initialized here learns from all of its examples: where its trainer needs
    the whole corpus, parts are collected (`examples.Parts`). Where `initialize` had no examples,
    those of `update` are collected until they come again or until the component is used, and the
    model is made of all of them (`examples.Awaited`). Where it reads a corpus itself, examples only
    say that it is time for further iterations. One that was loaded, trained, is adapted to new
    ones: it learns their labels and features, and the penalty, centred on its weights, keeps what
    it has learnt before. The same examples again go on where the last update ended; others begin a
    new adaptation from there. Examples whose annotation has changed since are encoded anew;
    training goes on from the weights that there are.
    """
    trainer = pipe.trainer
    if pipe._awaited is not None:
        examples = awaited_until_now(pipe, pipe._awaited, examples)
    if trainer.sees_all and not pipe.warm_start and not reads_corpus(pipe):
        examples = pipe._parts.collect(examples, pipe.n_examples, pipe.name)
    if not trainer.iterations or not any(len(each.predicted) for each in examples):
        return
    with progress(f"Training {pipe.name}", total=trainer.iterations) as bar:
        fit, data = _prepared(pipe, examples)
        forget_words(examples)
        losses[pipe.name] += fit.step(data, bar.update)
    losses |= {f"{pipe.name}{SEPARATOR}{term}": value for term, value in fit.terms().items()}
    if trainer.sees_all:
        pipe.sync_weights()
    if isinstance(trainer, JointTrainer):
        partner(pipe, trainer.first).sync_weights()


def reads_corpus(pipe: Any) -> bool:
    """Whether it learns from the reader that `initialize` was given, whatever `update` gets."""
    has_reader = pipe._source.read is not None and not pipe.warm_start
    return has_reader and shard_tokens(pipe.trainer) > 0


def data_of(pipe: Any, examples: Sequence[Example], gold: Sequence[Any]) -> LabelledSequences:
    units, observed, starts = pipe.fitted(examples, gold)
    return LabelledSequences(pipe.space.encode(units), pipe.structure, observed, starts)


def task_of(pipe: Any, examples: Sequence[Example]) -> Task:
    """What the examples ask to be fitted, beginning with the weights that there are."""
    gold = [pipe.gold.read(example) for example in examples]
    if pipe.warm_start:
        _make_room(pipe, examples, gold)
    weights = pipe.weights
    data = data_of(pipe, examples, gold)
    return Task(data, pipe.loss, _centred_penalty(pipe), weights)


def _encode(pipe: Any, examples: Sequence[Example]) -> LabelledSequences:
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


def _make_room(pipe: Any, examples: Sequence[Example], gold: Sequence[Any]) -> None:
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


def _prepared(
    pipe: Any, examples: Sequence[Example]
) -> tuple[Fit[Any], LabelledSequences | CorpusFile]:
    """A fit that can make a step, and the data for it."""
    if pipe.trainer.sees_all:
        change = _change(pipe, examples)
        if change is not Change.NONE:
            _begin(pipe, examples, change)
        assert pipe._fit is not None
        assert pipe._corpus.data is not None
        return pipe._fit, pipe._corpus.data
    seen = pipe._seen
    new = seen.new(examples, pipe.reads().gold_sum) if pipe.warm_start else []
    if new:
        _make_room(pipe, new, [pipe.gold.read(example) for example in new])
        pipe.reset_fit()
        pipe._seen = seen
    data = _encode(pipe, examples)
    data = replace(data, share=len(examples) / max(1, pipe.n_examples or len(seen)))
    if pipe._fit is None:
        known = get_hessian_diagonal(pipe.model) if pipe.warm_start else None
        pipe._fit = pipe.trainer.begin(Task(data, pipe.loss, None, pipe.weights, known))
    return pipe._fit, data


def _change(pipe: Any, examples: Sequence[Example]) -> Change:
    """What has changed since the fit began."""
    if pipe._fit is None:
        return Change.EXAMPLES
    return Change.NONE if reads_corpus(pipe) else pipe._corpus.change(examples)


def _begin(pipe: Any, examples: Sequence[Example], change: Change) -> None:
    """Begin with a corpus; where the trainer says so, together with an earlier component.

    Where only annotation has changed, features that were induced and the centre of the penalty
    stay.
    """
    trainer, together = pipe.trainer, [pipe]
    if isinstance(trainer, JointTrainer):
        together.append(partner(pipe, trainer.first))
    if change is Change.EXAMPLES:
        for each in together:
            each._origin = None
    sums = joint_sums([each.reads() for each in together])
    if isinstance(trainer, ShardTrainer) and trainer.shard_tokens:
        if pipe.warm_start:
            _make_room(pipe, examples, [pipe.gold.read(example) for example in examples])
        data, pipe._fit = begin_on_shards(pipe, trainer, examples)
        pipe._corpus = Corpus(() if reads_corpus(pipe) else examples, data, sums)
        return
    if isinstance(trainer, JointTrainer):
        earlier = together[1]
        first, task = task_of(earlier, examples), task_of(pipe, examples)
        earlier._fit, pipe._fit = trainer.begin_jointly(first, task)
    else:
        if change is Change.EXAMPLES:
            induce(pipe, examples)
        pipe._fit = trainer.begin(task := task_of(pipe, examples))
    pipe._corpus = Corpus(examples, task.data, sums)


def begin_on_shards(
    pipe: Any, trainer: ShardTrainer, examples: Iterable[Example]
) -> tuple[CorpusFile, Fit[CorpusFile]]:
    """Begin with a corpus in a file: that of the component's reader, or these examples.

    Raises `SavingError` where the disk is full, `TrainingError` where there are no examples.
    """
    if reads_corpus(pipe):
        examples = pipe._source.read()
    weights, corpus = pipe.weights, CorpusFile(pipe.structure)
    for part in parts_of(examples, trainer.shard_tokens):
        corpus.append(_encode(pipe, part))
        forget_words(part)
    if not len(corpus):
        raise TrainingError(
            f"The reader of '{pipe.name}' gave examples to learn features from, and none to train "
            f"on. Check corpus in [initialize.components.{pipe.name}]: it has to read anew with "
            "each call."
        )
    task = ShardedTask(corpus, pipe.loss, _centred_penalty(pipe), weights)
    return corpus, trainer.begin_on_shards(task)


def training_state(pipe: Any) -> State:
    """What training goes on from; nothing where it has not begun."""
    return {} if pipe._fit is None else {_ANNOTATION: _annotation(pipe), **pipe._fit.state()}


def _annotation(pipe: Any) -> int:
    """A checksum of the annotation that the fit learns from, 0 where it is not kept."""
    return sum(map(pipe.reads().gold_sum, pipe._corpus.references))


def restore_training(pipe: Any, state: State) -> None:
    """Go on from the state of a training whose first update was like that of this one.

    Raises `KeyError`, `TypeError` or `ValueError` where the state is no such one, and
    `TrainingError` where examples were annotated otherwise.
    """
    if pipe._fit is not None:
        if state[_ANNOTATION] != _annotation(pipe):
            raise TrainingError(
                f"The checkpoint belongs to another training: examples of '{pipe.name}' were "
                "annotated otherwise. Remove it to begin anew, or give the corpus that it was "
                "made with."
            )
        pipe._fit.restore({name: state[name] for name in state if name != _ANNOTATION})
        pipe.sync_weights()
    elif state:
        raise ValueError(f"a state of '{pipe.name}', whose training has not begun")
