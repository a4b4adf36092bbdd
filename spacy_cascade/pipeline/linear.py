"""What all components with a linear model share: labels, features, saving."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model, Optimizer

from ..errors import MissingStageError, TrainingError
from ..features.strings import is_valid
from ..features.tokens import Tokens, read_tokens
from ..features.units import Units
from ..inference.lattice import Lattice
from ..models.linear import (
    NEW,
    add_features,
    can_be_kept,
    rearrange,
    set_weights,
)
from ..parallel import LEXEME_LOCK
from ..types import Ints2d, Keys1d
from .saved import SavedPipe
from .training.updates import Pipeline, Training

_MAXIMUM_LEXEMES = 1 << 16
"""Words whose scores are kept between batches; beyond that the cache starts anew."""


class LinearPipe(SavedPipe):
    """A component around one linear model."""

    def __init__(
        self, nlp: Language, model: Model[Units, Any], name: str, settings: dict[str, Any]
    ) -> None:
        self.vocab = nlp.vocab
        self._pipeline = Pipeline(nlp)
        self.model = model
        self.name = name
        self.cfg: dict[str, Any] = settings
        self._labels: tuple[str, ...] = ()
        self._training: Training | None = None
        self._is_published = True

    @property
    def pipeline(self) -> Language | None:
        """The pipeline that it was made for, None after it was pickled or copied by itself."""
        return None if self._pipeline is None else self._pipeline.get()

    @property
    @abstractmethod
    def lattice(self) -> Lattice:
        """The legal transitions between labels."""

    @property
    @abstractmethod
    def edge_names(self) -> Sequence[Hashable]:
        """What each transition is known by when there are other labels."""

    def labels_changed(self) -> None:
        """Forget what depends on the labels."""

    def sync_weights(self) -> None:
        """Bring the weights of the model up to date with training.

        After the updates of an online trainer only where they are needed: it takes longer than
        a small update itself. Raises `TrainingError` where weights are no longer finite; those that
        were published before stay.
        """
        with LEXEME_LOCK:
            if self._training is not None and not self._is_published:
                weights = self._training.weights()
                if not all(map(can_be_kept, weights)):
                    self.reset_fit()
                    raise TrainingError(
                        f"Training of '{self.name}' has diverged: some weights are no longer "
                        "finite numbers in single precision. Look for very large settings in its "
                        "[objective] and [trainer] blocks."
                    )
                set_weights(self.model, *weights)
            self._is_published = True

    def reset_fit(self) -> None:
        """Begin anew with the next update, for there are other weights."""
        self._training = None
        self._is_published = True

    def sync_curvature(self) -> None:
        """Bring all that is saved up to date with training."""
        self.sync_weights()

    def __reduce__(self) -> Any:
        self.sync_curvature()
        return super().__reduce__()

    def finish_update(self, sgd: Optimizer) -> None:
        """Nothing: the weights are published when they are needed."""

    # Labels and features

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in alphabetical order."""
        return self._labels

    @property
    def label_data(self) -> tuple[str, ...]:
        """The labels, as `spacy init labels` saves them."""
        return self._labels

    def add_label(self, label: str) -> int:
        """Add a label; 0 if it is there already, else 1.

        All weights of a new label of a trained component are zero.
        """
        n_added = self.add_labels([label])
        if n_added:
            self.reset_fit()
        return n_added

    def add_labels(self, labels: Iterable[str]) -> int:
        """Add those that are not there yet; how many they are.

        Raises `TrainingError` for one that is not valid Unicode.
        """
        new = set(labels) - set(self._labels)
        if new and self.model.has_param("W"):
            self.sync_curvature()
            number = {edge: i for i, edge in enumerate(self.edge_names)}
            old = self.lattice
            self._set_labels({*self._labels, *new})
            edges = np.array([number.get(edge, NEW) for edge in self.edge_names])
            columns = np.full(self.lattice.n_columns, NEW)
            columns[self.lattice.column[edges != NEW]] = old.column[edges[edges != NEW]]
            rearrange(self.model, columns, edges)
        elif new:
            self._set_labels({*self._labels, *new})
        return len(new)

    def _set_labels(self, labels: Iterable[str]) -> None:
        for label in set(labels):
            if not is_valid(label):
                raise TrainingError(
                    f"'{self.name}' cannot have the label {label!r}: it is not valid Unicode, "
                    "which spaCy could not write to a Doc. Give it another name."
                )
        self._labels = tuple(sorted(set(labels)))
        self.labels_changed()

    def learn_features(
        self,
        nlp: Language | None,
        tokens: Tokens,
        flags: Ints2d,
        make_units: Callable[[], Units],
    ) -> None:
        """Learn the feature space of units and set all weights to zero; labels are known.

        flags: what the gold annotation says of the tokens (`evidence.span_flags`).
        make_units: called when lexicons are read and evidence is counted.
        """
        if self.space.memberships:
            self._read_lexicons(nlp)
        self.space.learn_evidence(tokens, flags)
        self.space.learn(make_units(), self.model.attrs["min_count"])
        shape = (len(self.space), self.lattice.n_columns)
        try:
            set_weights(self.model, np.zeros(shape), np.zeros(self.lattice.n_edges))
        except MemoryError:
            raise TrainingError(
                f"There is not enough memory for '{self.name}': {len(self.labels)} labels and "
                f"{shape[0]} features take {shape[0]} x {shape[1]} weights. Raise min_count in "
                "[model], set label_pairs = false there, or have a cascade, whose segmenter needs "
                "no labels (typed = false)."
            ) from None
        self.model.attrs["curvature"] = None

    def add_features(
        self, tokens: Tokens, flags: Ints2d, make_units: Callable[[], Units], minimum: int
    ) -> None:
        """Add the evidence of further tokens, and features in `minimum` or more of their units."""
        self.space.add_evidence(tokens, flags)
        add_features(self.model, self.space.extend(make_units(), minimum))

    def _read_lexicons(self, nlp: Language | None) -> None:
        if nlp is None:
            return self.space.read_lexicons(str.split)
        # The vocabulary, which is saved with the pipeline, does without the words of the terms.
        in_zone = nlp.vocab.in_memory_zone  # type: ignore[attr-defined]
        with nullcontext() if in_zone else nlp.vocab.memory_zone():
            self.space.read_lexicons(lambda text: [token.text for token in nlp.tokenizer(text)])

    def read(self, docs: Sequence[Doc]) -> Tokens:
        """The tokens of a batch of Docs, as far as the templates look at them.

        Raises `MissingStageError` where they look at tags or at spans of an earlier component, and
        no Doc has any.
        """
        self._share_strings(docs)
        tokens = read_tokens(docs, self.space.reads, self.space.span_keys)
        for key, values in tokens.spans.items():
            self._check_stage(
                values, f"doc.spans['{key}']", f'cascade_segmenter with spans_key = "{key}"'
            )
        if "tags" in self.space.reads:
            self._check_stage(tokens.tags, "token.tag", "cascade_tagger")
        if "parts_of_speech" in self.space.reads:
            self._check_stage(tokens.parts_of_speech, "token.pos", "tagger or morphologizer")
        return tokens

    def _share_strings(self, docs: Sequence[Doc]) -> None:
        """Let Docs of another vocabulary know the labels, and this one their words.

        `spacy find-threshold` gives Docs of one pipeline to another one.
        """
        for doc in docs:
            if doc.vocab is not self.vocab:
                for token in doc:
                    self.vocab.strings.add(token.text)
                for label in self.labels:
                    doc.vocab.strings.add(label)

    def _check_stage(self, values: Keys1d, where: str, component: str) -> None:
        if len(values) and not values.any():
            raise MissingStageError(
                f"The templates of '{self.name}' look at {where}, but these Docs have none. Add a "
                f"{component} before it in the pipeline, or, for training and evaluation, have "
                "that in the corpus."
            )

    def forget_words(self) -> None:
        """Keep the table of words within bounds; called before a batch is predicted."""
        self.space.forget_lexemes(_MAXIMUM_LEXEMES)
