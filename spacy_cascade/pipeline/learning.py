"""What `update` does: trains, adapts, and goes on from checkpoints."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from spacy.training import Example

from ..errors import ConfigError, TrainingError
from ..features.tokens import Tokens
from ..features.units import Units
from ..losses.base import LabelledSequences
from ..scorers.beside import Beside
from ..scorers.linear import add_features, get_hessian_diagonal, labels_of
from ..trainers.base import Fit, State, Task, TaskOn
from ..types import Ints1d, Pointers1d
from .component import Component, Origin
from .corpus import forget_words
from .encoder import set_dropout, slopes_of
from .examples import Change, Corpus, joint_sums
from .initializing import MAXIMUM_LEXEMES, awaited_until_now, in_sequences, read_examples
from .progress import progress
from .sequences import Shown, decide_by
from .sizes import dense_rows

Data = TypeVar("Data")
Extended = TypeVar("Extended")

SEPARATOR = ": "
"""Between a component and a term of its loss, in the name that the term has among the losses."""
_ANNOTATION = "annotation"
"""Name of a checksum in the state of a training."""
_NEW_MINIMUM = 1
"""How often adaptation, which sees little, has to see a feature to add it."""


def update(
    pipe: Component, examples: list[Example], losses: dict[str, float], drop: float = 0.0
) -> None:
    """Run the trainer's iterations on the examples; drop: share of what a batch leaves out.

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
    if pipe.model.attrs["beside"] is not None and not trainer.sees_all:
        raise needs_whole_corpus(pipe.name)
    if pipe._awaited is not None:
        examples = awaited_until_now(pipe, pipe._awaited, examples)
    if pipe._may_be_untrained and not pipe._labels:  # nothing was found that it could learn
        return
    if trainer.sees_all and not pipe.warm_start and not reads_corpus(pipe):
        examples = pipe._parts.collect(examples, pipe.n_examples, pipe.name)
    if not trainer.iterations or not any(len(each.predicted) for each in examples):
        return
    with progress(f"Training {pipe.name}", total=trainer.iterations) as bar:
        data, has_encoder = None, pipe.model.has_ref("tok2vec")
        if has_encoder:
            set_dropout(pipe, drop)
        if trainer.sees_all:
            fit = _fit_to_corpus(pipe, examples)
        else:
            fit, data = _fit_and_batch(pipe, examples, drop)
        forget_words(examples)
        losses[pipe.name] += fit.step(data, bar.update)
        if has_encoder:
            _train_encoder(pipe, data)
    losses |= {f"{pipe.name}{SEPARATOR}{term}": value for term, value in fit.terms().items()}
    if trainer.sees_all:
        pipe.sync_weights()
    for each in pipe._corpus.partners:
        each.sync_weights()


def _fit_to_corpus(pipe: Component, examples: Sequence[Example]) -> Fit[Any]:
    """The fit of a corpus, begun anew where the examples have changed."""
    fit, change = pipe._fit, Change.EXAMPLES
    if fit is not None:
        change = Change.NONE if reads_corpus(pipe) else pipe._corpus.change(examples)
        if change is Change.NONE:
            return fit
    return _begin(pipe, examples, change)


def _begin(pipe: Component, examples: Sequence[Example], change: Change) -> Fit[Any]:
    """Begin with a corpus.

    Where only annotation has changed, features that were induced and the centre of the penalty
    stay.
    """
    source = ExampleSource(pipe, examples, change is Change.EXAMPLES)
    begun: Fit[Any] = pipe.trainer.begin(source)
    pipe._fit = begun
    sums = joint_sums([each.reads() for each in (pipe, *source.partners)])
    pipe._corpus = Corpus(() if reads_corpus(pipe) else examples, sums, source.partners)
    return begun


def _train_encoder(pipe: Component, data: LabelledSequences | None) -> None:
    """Pass the gradient of a batch on to the encoder, which adds it to its own."""
    backprop, pipe._backprop = pipe._backprop, None
    slopes = None if data is None else slopes_of(data.encoded)
    if backprop is not None and data is not None and slopes is not None:
        # Optimizers of spaCy expect about the same gradient whatever the size of a batch.
        backprop(slopes / max(1, len(data.starts) - 1))


def _fit_and_batch(
    pipe: Component, examples: Sequence[Example], drop: float
) -> tuple[Fit[Any], LabelledSequences]:
    """The fit of an online trainer, and the batch for its next step."""
    seen = pipe._seen
    new = seen.new(examples, pipe.reads().gold_sum) if pipe.warm_start else []
    if new:
        pipe._origin = None  # Adaptation begins where an earlier one has ended.
        make_room(pipe, new, [pipe.gold.read(example) for example in new])
        pipe.reset_fit()
        pipe._seen = seen
    if not pipe.warm_start:
        decide_by([example.predicted for example in examples], pipe.model, pipe._shown)
    data = encode(pipe, examples)
    data = replace(data, share=len(examples) / max(1, pipe.n_examples or len(seen)), drop=drop)
    if pipe._fit is None:
        known = get_hessian_diagonal(pipe.model) if pipe.warm_start else None
        if pipe.warm_start and pipe.penalty is not None:
            pipe._origin = Origin.of(pipe.model, pipe._names())
        task = ExampleSource(pipe, examples, is_other=False).task_on(data)
        pipe._fit = pipe.trainer.begin(replace(task, known=known))
    return pipe._fit, data


def task_of(pipe: Component, examples: Sequence[Example]) -> Task:
    """What the examples ask to be fitted, beginning with the weights that there are."""
    return ExampleSource(pipe, examples, is_other=False).task()


def training_state(pipe: Component) -> State:
    """What training goes on from; nothing where it has not begun."""
    return {} if pipe._fit is None else {_ANNOTATION: _annotation(pipe), **pipe._fit.state()}


def _annotation(pipe: Component) -> int:
    """A checksum of the annotation that the fit learns from, 0 where it is not kept."""
    return sum(map(pipe.reads().gold_sum, pipe._corpus.references))


def begin_again(pipe: Component, examples: Sequence[Example]) -> None:
    """Begin anew with examples whose annotation alone has changed since training began."""
    _begin(pipe, examples, Change.ANNOTATION)


def restore_training(pipe: Component, state: State) -> None:
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


class ExampleSource:
    """A component with examples (`trainers.base.Source`).

    is_other: whether these are other examples than before. partners: other components, which its
    trainer trains, too.
    """

    def __init__(self, component: Component, examples: Sequence[Example], is_other: bool) -> None:
        self.component, self.examples, self._is_other = component, examples, is_other
        self.partners: list[Component] = []
        if is_other:  # Adaptation begins where an earlier one has ended.
            component._origin = None

    @property
    def is_new(self) -> bool:
        return self._is_other and not self.component.warm_start

    def extended(self, kind: Callable[["ExampleSource"], Extended]) -> Extended:
        """What else the trainer of a room asks for; kind: makes it of this source."""
        return kind(self)

    def beside(self, component: Component) -> "ExampleSource":
        """The source of another component for the same examples, which is trained, too."""
        self.partners.append(component)
        return ExampleSource(component, self.examples, self._is_other)

    def task(self) -> Task:
        pipe, examples = self.component, self.examples
        gold = [pipe.gold.read(example) for example in examples]
        if pipe.warm_start:
            make_room(pipe, examples, gold)
        else:
            decide_by([example.predicted for example in examples], pipe.model, Shown())
        units, observed, starts = fitted(pipe, examples, gold)
        if pipe.model.attrs["beside"] is not None and not pipe.warm_start:
            train_beside(pipe, units, observed)
        return self.task_on(_encoded(pipe, units, observed, starts))

    def task_on(self, data: Data) -> TaskOn[Data]:
        """It begins with the weights that there are."""
        pipe, weights = self.component, self.component.weights
        penalty, structure, centred = pipe.penalty, pipe.structure, None
        if penalty is not None and pipe.warm_start:
            origin, columns = pipe._origin, structure.columns.of_transition
            assert origin is not None
            centred = penalty.at_weights(origin.weights, origin.hessian_diagonal, columns)
        elif penalty is not None:
            centred = penalty.at_zero(weights.features.shape, structure.n_transitions)
        return TaskOn(data, pipe.loss, centred, weights)

    def shards(self, n_tokens: int) -> Iterator[LabelledSequences]:
        """Of the component's reader, or of the examples.

        Raises `TrainingError` where there are no examples.
        """
        pipe, examples = self.component, self.examples
        if pipe.model.attrs["beside"] is not None:
            raise needs_whole_corpus(pipe.name)
        if pipe.warm_start:
            make_room(pipe, examples, [pipe.gold.read(example) for example in examples])
        elif not reads_corpus(pipe):
            decide_by([example.predicted for example in examples], pipe.model, Shown())
        is_empty = True
        kept, pipe._reader.kept = pipe._reader.kept, None
        read = _shards(pipe, examples, n_tokens) if kept is None else _kept_shards(pipe, kept)
        for data in read:
            is_empty = False
            yield data
        if is_empty:
            raise TrainingError(
                f"The reader of '{pipe.name}' gave examples to learn features from, and none to "
                f"train on. Check corpus in [initialize.components.{pipe.name}]: it has to read "
                "anew with each call."
            )

    def join(self, fit: Fit[object]) -> None:
        """Have the component trained by a fit that another one begins."""
        self.component._fit = fit


def needs_whole_corpus(name: str) -> ConfigError:
    """The error for a trainer that never has a whole corpus in memory."""
    return ConfigError(
        f"The network of '{name}' is trained on the whole corpus at once, and its trainer takes it "
        'in parts. Use @misc = "spacy_cascade.LBFGS.v1" in [trainer], or leave out '
        f"[components.{name}.model.network]."
    )


def train_beside(pipe: Component, units: Units, observed: Ints1d) -> None:
    """Train what has scores of its own on all of a corpus; observed `[U]`: labels of the units."""
    beside: Beside = pipe.model.attrs["beside"]
    names = pipe.structure_labels or [""]
    beside.begin(pipe.space.resources.made, pipe.vocab)
    with progress(
        f"Training the network of {pipe.name}", total=beside.n_steps(len(observed))
    ) as bar:
        beside.train(units, observed, names, bar.update)
    beside.set_columns(labels_of(pipe._names()))


def _kept_shards(
    pipe: Component, blocks: Iterable[tuple[Tokens, list[Any]]]
) -> Iterator[LabelledSequences]:
    """Of what `initialize` has read."""
    for tokens, gold in in_sequences(pipe, blocks):
        pipe.space.forget_lexemes(MAXIMUM_LEXEMES)
        yield _encoded(pipe, *pipe.fitted(tokens, gold, ()))


def _shards(
    pipe: Component, examples: Iterable[Example], n_tokens: int
) -> Iterator[LabelledSequences]:
    """Of the component's reader, or of the examples."""
    read = pipe._reader.read if reads_corpus(pipe) else None
    for part in parts_of(examples if read is None else read(), n_tokens):
        yield encode(pipe, part)
        forget_words(part)


def reads_corpus(pipe: Component) -> bool:
    """Whether it learns from the reader that `initialize` was given, whatever `update` gets."""
    has_reader = pipe._reader.read is not None and not pipe.warm_start
    return has_reader and bool(pipe.trainer.reads_corpus)


def data_of(pipe: Component, examples: Sequence[Example], gold: Sequence[Any]) -> LabelledSequences:
    """The examples encoded; gold: what was read of them."""
    return _encoded(pipe, *fitted(pipe, examples, gold))


def fitted(
    pipe: Component, examples: Sequence[Example], gold: Sequence[Any]
) -> tuple[Units, Ints1d, Pointers1d]:
    """The units of examples, their labels, and starts of sequences; gold: what was read of them."""
    found: tuple[Units, Ints1d, Pointers1d]
    found = pipe.fitted(read_examples(pipe, examples), gold, examples)
    return found


def _encoded(
    pipe: Component, units: Units, observed: Ints1d, starts: Pointers1d
) -> LabelledSequences:
    return LabelledSequences(pipe.space.encode(units), pipe.structure, observed, starts)


def encode(pipe: Component, examples: Sequence[Example]) -> LabelledSequences:
    """A part of a corpus; words of earlier parts are forgotten where they are too many."""
    pipe.space.forget_lexemes(MAXIMUM_LEXEMES)
    return data_of(pipe, examples, [pipe.gold.read(example) for example in examples])


def make_room(pipe: Component, examples: Sequence[Example], gold: Sequence[Any]) -> None:
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
    n_dense = dense_rows(pipe)
    n_new = pipe.space.extend(pipe.gold_units(tokens, gold), _NEW_MINIMUM)
    add_features(pipe.model, n_new, n_dense)
    pipe._origin = pipe._origin.grown(len(pipe.space) + n_dense, n_dense, pipe._names())


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
