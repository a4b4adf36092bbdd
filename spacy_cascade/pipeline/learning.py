"""What `update` does: trains, adapts, and goes on from checkpoints.

pipe: a component that learns (`pipeline.base`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spacy.training import Example

from ..errors import TrainingError
from ..losses.base import LabelledSequences
from ..scorers.linear import get_hessian_diagonal
from ..trainers.base import Fit, State, Task, TaskOn
from .corpus import forget_words
from .example_sums import joint_sums
from .examples import Change, Corpus
from .initializing import awaited_until_now
from .progress import progress
from .source import ExampleSource, encode, make_room, reads_corpus

SEPARATOR = ": "
"""Between a component and a term of its loss, in the name that the term has among the losses."""
_ANNOTATION = "annotation"
"""Name of a checksum in the state of a training."""


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
    for each in pipe._corpus.partners:
        each.sync_weights()


def _prepared(pipe: Any, examples: Sequence[Example]) -> tuple[Fit[Any], LabelledSequences | None]:
    """A fit that can make a step, and the batch for it, if it takes one."""
    if pipe.trainer.sees_all:
        change = _change(pipe, examples)
        if change is not Change.NONE:
            _begin(pipe, examples, change)
        assert pipe._fit is not None
        return pipe._fit, None
    seen = pipe._seen
    new = seen.new(examples, pipe.reads().gold_sum) if pipe.warm_start else []
    if new:
        make_room(pipe, new, [pipe.gold.read(example) for example in new])
        pipe.reset_fit()
        pipe._seen = seen
    data = encode(pipe, examples)
    data = replace(data, share=len(examples) / max(1, pipe.n_examples or len(seen)))
    if pipe._fit is None:
        known = get_hessian_diagonal(pipe.model) if pipe.warm_start else None
        pipe._fit = pipe.trainer.begin(TaskOn(data, pipe.loss, None, pipe.weights, known))
    return pipe._fit, data


def _change(pipe: Any, examples: Sequence[Example]) -> Change:
    """What has changed since the fit began."""
    if pipe._fit is None:
        return Change.EXAMPLES
    return Change.NONE if reads_corpus(pipe) else pipe._corpus.change(examples)


def _begin(pipe: Any, examples: Sequence[Example], change: Change) -> None:
    """Begin with a corpus.

    Where only annotation has changed, features that were induced and the centre of the penalty
    stay.
    """
    source = ExampleSource(pipe, examples, change is Change.EXAMPLES)
    pipe._fit = pipe.trainer.begin(source)
    sums = joint_sums([each.reads() for each in (pipe, *source.partners)])
    pipe._corpus = Corpus(() if reads_corpus(pipe) else examples, sums, source.partners)


def task_of(pipe: Any, examples: Sequence[Example]) -> Task:
    """What the examples ask to be fitted, beginning with the weights that there are."""
    return ExampleSource(pipe, examples, is_other=False).task()


def training_state(pipe: Any) -> State:
    """What training goes on from; nothing where it has not begun."""
    return {} if pipe._fit is None else {_ANNOTATION: _annotation(pipe), **pipe._fit.state()}


def _annotation(pipe: Any) -> int:
    """A checksum of the annotation that the fit learns from, 0 where it is not kept."""
    return sum(map(pipe.reads().gold_sum, pipe._corpus.references))


def begin_again(pipe: Any, examples: Sequence[Example]) -> None:
    """Begin anew with examples whose annotation alone has changed since training began."""
    _begin(pipe, examples, Change.ANNOTATION)


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
