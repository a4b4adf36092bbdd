"""What components with a model are: labels, weights, settings, training, and a file on disk."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.util import minibatch
from thinc.api import Model, Optimizer

from ..errors import TrainingError
from ..features.space import FeatureSpace
from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.linear_chain import ChainFamily
from ..inference.structure import Structure, Weights
from ..losses.base import Loss
from ..losses.margin import Hinge
from ..parallel import LEXEME_LOCK
from ..penalties.base import Penalty
from ..scorers import linear
from ..storage import model_file
from ..trainers.base import Fit, Trainer
from . import initializing, learning, saving, sizes
from .batches import unchanging
from .component import GoldReader, Origin
from .corpus import GetExamples
from .encoder import train_encoder
from .examples import Awaited, Corpus, Reads, Seen
from .progress import is_interrupted
from .reading import earlier_space, token_units
from .sequences import Shown, of_sentences
from .settings import Cfg, PipelineReference, configure
from .spans.confidences import register_confidence

_MAXIMUM_LEXEMES = 1 << 16
"""Words whose scores are kept between batches; beyond that the cache starts anew."""

Made = TypeVar("Made", bound="CascadePipe")


class CascadePipe(TrainablePipe):  # type: ignore[misc]
    """A component around one linear model, which learns from examples.

    cfg: its settings by name, which are attributes, too (`pipeline.settings`). gold: what it learns
    of examples. loss, penalty, trainer: how; None in a component that is trained in a way of its
    own. warm_start: whether it was trained before it was loaded; `update` then adapts it to new
    examples. n_examples: how many `initialize` has seen, None in a component that was loaded.
    """

    model: Model[Units, Any]
    name: str
    cfg = Cfg()
    _pipeline: PipelineReference | None
    _awaited: Awaited | None
    _shown: Shown
    _has_warned_of_documents = False
    """Whether its pipeline has said that a model of sentences was given a Doc without any."""
    _backprop: Any = None
    _may_be_untrained: ClassVar[bool] = False
    """Whether a saved component without labels is one that was not trained, and no damaged one."""

    def __init__(
        self,
        nlp: Language,
        model: Model[Units, Any],
        name: str,
        settings: Mapping[str, Any],
        loss: Loss | Hinge | None = None,
        penalty: Penalty | None = None,
        trainer: Trainer | None = None,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        self.vocab, self.model, self.name = nlp.vocab, model, name
        self.loss: Any = loss
        self.trainer: Any = trainer
        self.penalty, self.scorer = penalty, scorer
        register_confidence()
        self._labels: tuple[str, ...] = ()
        self._structure: tuple[tuple[str, ...], Structure] | None = None
        self._fit: Fit[Any] | None = None
        self.n_examples: int | None = None
        self.before_induction: Any = None
        initializing.begin_anew(self)
        self.reset_fit()
        configure(self, nlp, settings)
        if trainer is not None:
            trainer.check(loss, penalty, self.family.structure)

    # What a component has to say

    def check_settings(self, values: Mapping[str, Any]) -> None:
        """Raise `ConfigError` for settings that it cannot have together."""

    @abstractmethod
    def _make_structure(self) -> Structure:
        """The structure of the labels that it has now."""

    @abstractmethod
    def _structure_size(self, n_labels: int) -> tuple[int, int]:
        """Transitions `E` and score columns `S` of the structure of so many labels.

        Known without making it, for a saved model may state any number of labels.
        """

    @property
    @abstractmethod
    def structure_labels(self) -> list[str]:
        """Names of the structure's labels, in the order of their numbers."""

    @property
    @abstractmethod
    def gold(self) -> GoldReader:
        """What it learns of examples; of components that have a trainer."""

    def reads(self) -> Reads:
        """What it reads of an example; where that changes, the example is encoded anew."""
        return Reads.of(self.space, *self.gold.reads())

    def gold_units(self, tokens: Tokens, gold: Sequence[Any]) -> Units:
        """The units of a corpus from which features are learnt: by default all tokens."""
        return token_units(self, tokens, self.gold.flags(tokens, gold))

    # The model

    @property
    def pipeline(self) -> Language | None:
        """The pipeline that it was made for, None after it was pickled or copied by itself."""
        reference = self._pipeline
        return None if reference is None else reference()

    @property
    def space(self) -> FeatureSpace:
        """The feature space of the model."""
        space: FeatureSpace = self.model.attrs["space"]
        return space

    @property
    def family(self) -> ChainFamily:
        """The structures that the model can have, whatever its labels."""
        family: ChainFamily = self.model.attrs["structure"]
        return family

    of_sentences = property(of_sentences)

    @property
    def structure(self) -> Structure:
        """What the labels can be asked."""
        # Kept with its labels: another thread may add one while it is made.
        labels, known = self._labels, self._structure
        if known is None or known[0] is not labels:
            known = self._structure = labels, self._make_structure()
        return known[1]

    @property
    def weights(self) -> Weights:
        """Weights to annotate with. Raises `NotTrainedError` before there are any."""
        return Weights(*linear.get_weights(self.model, self.name))

    # Annotating

    def __call__(self, doc: Doc) -> Doc | None:
        """Annotate a Doc; None where it failed and the error handler did not raise."""
        return doc if self._annotate([doc]) else None

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate Docs in batches of so many; without those that failed."""
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            if self._annotate(docs):
                yield from docs

    def _annotate(self, docs: list[Doc]) -> bool:
        """Whether it worked; what fails goes to the error handler."""
        try:
            self.sync_weights()  # while labels may still change
            with unchanging(self):
                self.set_annotations(docs, self.predict(docs))
        except Exception as error:
            self.get_error_handler()(self.name, self, docs, error)
            return False
        return True

    def begin_batch(self) -> None:
        """Called before a batch is predicted: new weights, and the table of words within bounds."""
        self.sync_weights()
        self.space.forget_lexemes(_MAXIMUM_LEXEMES)
        self.space.earlier = earlier_space(self.pipeline, self)
        if (beside := self.model.attrs["beside"]) is not None:
            beside.begin(self.space.resources.made, self.vocab)

    # Training

    def initialize(
        self,
        get_examples: GetExamples,
        *,
        nlp: Language | None = None,
        labels: Sequence[str] | None = None,
        corpus: Callable[[Language], Iterable[Example]] | None = None,
    ) -> None:
        """Collect labels, learn the feature space and set all weights to zero.

        labels: as saved by `spacy init labels`; else those in the examples, and those that were
        added. corpus: a reader to take the examples from, for a stream, of which spaCy shows the
        first ones only; a trainer with a corpus in a file takes them from there, whatever `update`
        is given. Raises `TrainingError` for nothing to learn from and for labels that are none,
        `ConfigError` for a stream, and `SavingError` where the disk is full.
        """
        initializing.initialize(self, get_examples, nlp, labels, corpus)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Run the trainer's iterations on the examples (`pipeline.learning`).

        drop: the share that a tok2vec and a minibatch leave out. sgd: trains the tok2vec. losses:
        the objective is added under the component's name, its terms under `NAME: TERM` (`loggers`).
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        learning.update(self, examples, losses, drop)
        if sgd:
            self.finish_update(sgd)
        return losses

    def sync_weights(self) -> None:
        """Bring the weights of the model up to date with the fit.

        After the updates of an online trainer this is done where the weights are needed, for it
        takes longer than a small update itself. Raises `TrainingError` where weights are no longer
        finite; the model keeps those that it has.
        """
        if self._awaited is not None:
            initializing.make_of_awaited(self, self._awaited)
        with LEXEME_LOCK:
            fit = self._fit
            if fit is None or not fit.weights_are_stale:
                return
            weights = fit.weights()
            if not all(map(linear.can_be_kept, weights)):
                self.reset_fit()
                raise TrainingError(
                    f"Training of '{self.name}' has diverged: some weights are no longer finite "
                    "numbers in single precision. Look for very large settings in its [loss], "
                    "[penalty] and [trainer] blocks."
                )
            linear.set_weights(self.model, *weights)
            fit.weights_are_stale = False

    def sync_curvature(self) -> None:
        """Bring all that is saved up to date with the fit: weights, and the Hessian's diagonal.

        The latter takes as long as an iteration of training, and is left out after Ctrl-C.
        """
        self.sync_weights()
        fit = self._fit
        if fit is None or not fit.hessian_is_stale or is_interrupted():
            return
        if (diagonal := fit.hessian_diagonal()) is not None:
            linear.keep_hessian_diagonal(self.model, diagonal)
        fit.hessian_is_stale = False

    def reset_fit(self) -> None:
        """Begin anew with the next update, since there are other weights."""
        self._fit = None
        self._corpus, self._seen = Corpus(), Seen()
        self._origin: Origin | None = None

    def show(self, weights: Weights, hessian_diagonal: npt.NDArray[np.uint8] | None) -> None:
        """Predict and save with these, as the model keeps them, until training goes on."""
        linear.set_weights(self.model, *weights)
        linear.set_hessian_diagonal(self.model, hessian_diagonal)
        if self._fit is not None:
            self._fit.weights_are_stale = self._fit.hessian_is_stale = False

    def finish_update(self, sgd: Optimizer) -> None:
        """Train the tok2vec, if there is one; the model takes its weights over when needed."""
        train_encoder(self, sgd)

    def __reduce__(self) -> Any:
        self.sync_curvature()
        return super().__reduce__()

    # Labels and features

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in alphabetical order."""
        return self._labels

    @property
    def label_data(self) -> tuple[str, ...] | None:
        """The labels, as `spacy init labels` saves them; None for a component that learns none."""
        return self._labels

    def add_label(self, label: str) -> int:
        """Add a label; 0 if it is there already, else 1.

        All weights of a new label of a trained component are zero. A component that does not tell
        types apart takes a label for that of all its spans.
        """
        n_added = self.add_labels([label])
        if n_added:
            self.reset_fit()
        return n_added

    def add_labels(self, labels: Iterable[str]) -> int:
        """Add those that are not there yet; how many they are.

        Raises `TrainingError` for one that no Doc can have, and where there are too many. Other
        threads that annotate meanwhile get a `TrainingError`.
        """
        labels = self._told_apart(labels)
        if labels - set(self._labels) and self.model.has_param("W"):
            self.sync_curvature()
        with LEXEME_LOCK:
            new = labels - set(self._labels)
            if not new:
                return 0
            sizes.check_labels(self, {*self._labels, *new})
            before = self._names() if self.model.has_param("W") else None
            self._set_labels({*self._labels, *new})
            if before is not None:
                linear.rearrange(self.model, before, self._names())
        return len(new)

    def _names(self) -> linear.Names:
        # A classifier without labels has one class, which no name stands for.
        return self.structure.columns.names(self.structure_labels or [""])

    def _told_apart(self, labels: Iterable[str]) -> set[str]:
        """The labels that it learns, where a user names some.

        Raises `TrainingError` for one that no Doc can have.
        """
        checked = list(labels)
        sizes.check_names(self.name, checked)
        return set(self.gold.told_apart(set(checked)))

    def _set_labels(self, labels: Iterable[str]) -> None:
        self._labels = tuple(sorted(set(labels)))
        for label in self._labels:
            self.vocab.strings.add(label)

    # Saving

    def _identity(self) -> dict[str, Any]:
        """Settings without which the weights mean something else."""
        return {
            **self.space.identity(),
            **self.family.identity(),
            "scheme": getattr(self, "scheme", None),
            **linear.parts_of(self.model),
        }

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The component as bytes; exclude: `"cfg"` leaves the settings out."""
        return model_file.pack(*saving.saved(self, list(exclude)))

    def from_bytes(self: Made, data: bytes, *, exclude: Iterable[str] = ()) -> Made:
        """Load from bytes. Raises `ModelFileError` for anything that is not a valid model.

        Where `spacy.load` loads the component, its settings stay: the config says what they are.
        They stay as well with `exclude=["cfg"]`.
        """
        unpacked = model_file.unpack(data, f"the bytes given to '{self.name}'")
        saving.load(self, *unpacked, list(exclude))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save into the folder `path`, as the single file `cascade.npz`; else as `to_bytes`."""
        model_file.write_file(path, self.to_bytes(exclude=exclude))

    def from_disk(self: Made, path: str | Path, *, exclude: Iterable[str] = ()) -> Made:
        """Load from the folder `path`; else as `from_bytes`."""
        saving.load(self, *model_file.unpack(*model_file.read_file(path)), list(exclude))
        return self

    def _forget_weights(self) -> None:
        """Be as before training; labels stay."""
        self.space.forget()
        linear.forget_weights(self.model)


def is_learner(pipe: object) -> TypeGuard[CascadePipe]:
    """Whether it is a component that a trainer of the config trains."""
    return isinstance(pipe, CascadePipe) and pipe.trainer is not None
