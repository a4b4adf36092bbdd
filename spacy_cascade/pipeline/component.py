"""What all components are: labels, one linear model, options, one fit, and one file on disk."""

from abc import abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model, Optimizer

from ..errors import ModelFileError, TrainingError
from ..features.space import FeatureSpace
from ..features.strings import is_valid
from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.linear_chain import ChainFamily
from ..inference.structure import Structure, Weights
from ..parallel import LEXEME_LOCK
from ..scorers import linear
from ..storage import model_file, sparse
from ..storage.arrays import Arrays
from ..storage.header import Header, check_identity, make_header
from ..trainers.base import Fit
from . import sizes
from .batches import BatchPipe
from .progress import is_interrupted
from .reading import earlier_space, read
from .saved_component import SavedComponent
from .settings import Cfg, check_saved, configure, pipeline_of, take_saved, to_save
from .spans.confidences import register_confidence

_MAXIMUM_LEXEMES = 1 << 16
"""Words whose scores are kept between batches; beyond that the cache starts anew."""


class CascadePipe(SavedComponent, BatchPipe):
    """A component around one linear model.

    cfg: its settings by name, which are attributes, too (`pipeline.settings`).
    """

    model: Model[Units, Any]
    name: str
    cfg = Cfg()
    _may_be_untrained: ClassVar[bool] = False
    """Whether a saved component without labels is one that was not trained, and no damaged one."""

    def __init__(
        self, nlp: Language, model: Model[Units, Any], name: str, settings: Mapping[str, Any]
    ) -> None:
        self.vocab, self.model, self.name = nlp.vocab, model, name
        register_confidence()
        self._labels: tuple[str, ...] = ()
        self._structure: tuple[tuple[str, ...], Structure] | None = None
        self._fit: Fit[Any] | None = None
        configure(self, nlp, settings)

    def check_settings(self, values: Mapping[str, Any]) -> None:
        """Raise `ConfigError` for settings that it cannot have together."""

    @property
    def pipeline(self) -> Language | None:
        """The pipeline that it was made for, None after it was pickled or copied by itself."""
        return pipeline_of(self)

    # What a component has to say

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

    # The model

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

    # Training

    def sync_weights(self) -> None:
        """Bring the weights of the model up to date with the fit.

        After the updates of an online trainer this is done where the weights are needed, for it
        takes longer than a small update itself. Raises `TrainingError` where weights are no longer
        finite; the model keeps those that it has.
        """
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

        The latter takes about as long as an iteration of training, so it is done where it is
        needed, and left out after Ctrl-C.
        """
        self.sync_weights()
        fit = self._fit
        if fit is None or not fit.hessian_is_stale or is_interrupted():
            return
        hessian_diagonal = fit.hessian_diagonal()
        if hessian_diagonal is not None:
            linear.keep_hessian_diagonal(self.model, hessian_diagonal)
        fit.hessian_is_stale = False

    def reset_fit(self) -> None:
        """Begin anew with the next update, since there are other weights."""
        self._fit = None

    def show(self, weights: Weights, hessian_diagonal: npt.NDArray[np.uint8] | None) -> None:
        """Predict and save with other weights until training goes on.

        hessian_diagonal: as the model keeps it.
        """
        linear.set_weights(self.model, *weights)
        linear.set_hessian_diagonal(self.model, hessian_diagonal)
        if self._fit is not None:
            self._fit.weights_are_stale = self._fit.hessian_is_stale = False

    def finish_update(self, sgd: Optimizer) -> None:
        """Nothing: the model takes weights over when they are needed."""

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
        labels, structure = self.structure_labels, self.structure
        return structure.column_names(labels), structure.transition_names(labels)

    def _told_apart(self, labels: Iterable[str]) -> set[str]:
        """The labels that it learns, where a user names some.

        Raises `TrainingError` for one that no Doc can have.
        """
        checked = list(labels)
        for label in checked:
            if not isinstance(label, str) or not label or not is_valid(label):
                raise TrainingError(
                    f"'{self.name}' cannot have the label {label!r}: spaCy could not write it to a "
                    "Doc, because it is empty, no text, or not valid Unicode. Give it another name."
                )
        return set(checked)

    def _set_labels(self, labels: Iterable[str]) -> None:
        self._labels = tuple(sorted(set(labels)))
        for label in self._labels:
            self.vocab.strings.add(label)

    def read(self, docs: Sequence[Doc]) -> Tokens:
        """The tokens of a batch of Docs, as the templates look at them (`pipeline.reading`)."""
        return read(docs, self.space, self.vocab, self.labels, self.name)

    def begin_batch(self) -> None:
        """Called before a batch is predicted: new weights, and the table of words within bounds."""
        self.sync_weights()
        self.space.forget_lexemes(_MAXIMUM_LEXEMES)
        self.space.earlier = earlier_space(self.pipeline, self)

    # Saving

    def _saved(self, exclude: Container[str]) -> tuple[Header, Arrays]:
        self.sync_curvature()
        settings = to_save(self, exclude)
        header = make_header(self.model.name, list(self.labels), self._identity(), settings)
        if not self.model.has_param("W"):
            return header, {}
        curvature = self.model.attrs["hessian_diagonal"]
        return header, model_file.model_arrays(self.space, *self.weights, curvature)

    def _identity(self) -> dict[str, Any]:
        """Settings without which the weights mean something else."""
        return {
            **self.space.identity(),
            **self.family.identity(),
            "scheme": getattr(self, "scheme", None),
        }

    def _load(self, header: Header, arrays: Arrays, exclude: Container[str]) -> None:
        check_identity(header, self.model.name, self._identity())
        labels, settings = header["labels"], header.get("settings", {})
        check_saved(self, settings)
        if arrays:
            self._check_arrays(len(labels), arrays)
        take_saved(self, settings, exclude)
        self._set_labels(labels)
        if arrays:
            self._restore(arrays)
        else:
            self._forget_weights()
        self.reset_fit()

    def _check_arrays(self, n_labels: int, arrays: Arrays) -> None:
        """Raise `ModelFileError` where they are not those of a model of so many labels."""
        n_features = arrays["keys"].size if "keys" in arrays else 0
        if not n_labels and (n_features or not self._may_be_untrained):
            raise ModelFileError(f"The saved model of '{self.name}' has no labels.")
        n_transitions, n_columns = self._structure_size(n_labels)
        model_file.check_arrays(arrays, (n_features, n_columns), n_transitions, self.space)

    def _restore(self, arrays: Arrays) -> None:
        """Have the weights, features and resources of checked arrays."""
        model_file.restore_space(self.space, arrays)
        shape = len(self.space), self._structure_size(len(self._labels))[1]
        linear.set_weights(
            self.model, sparse.restore("weights", arrays, shape), arrays["transitions"]
        )
        has_curvature = sparse.is_there("curvature", arrays)
        curvature = sparse.restore("curvature", arrays, shape) if has_curvature else None
        linear.set_hessian_diagonal(self.model, curvature)

    def _forget_weights(self) -> None:
        """Be as before training; labels stay."""
        self.space.forget()
        linear.forget_weights(self.model)
