"""What both components share: labels, training sessions, saving."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from spacy.attrs import POS, TAG
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from thinc.api import Model, Optimizer

from ..errors import ModelFileError, TrainingError
from ..features.sequences import Tokens, join_tokens, read_tokens
from ..features.space import FeatureSpace
from ..inference.lattice import Lattice
from ..models import storage
from ..models.linear import Units, get_weights, set_weights
from ..objectives.costs import Costs
from ..objectives.problem import ChainCorpus
from ..trainers.base import Trainer
from .annotation import GoldSpans, gold_flags, same_tokens
from .training import OnlineTraining, Training, make_training, progress

_MAXIMUM_LEXEMES = 1 << 16
"""Words whose scores are kept between batches; beyond that the cache starts anew."""
_READ_AT_ONCE = 256


class CascadePipe(TrainablePipe):  # type: ignore[misc]
    """A component around one linear model, its objective and its trainer."""

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
        self.vocab = nlp.vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.objective = objective
        self.trainer = trainer
        self.cfg: dict[str, Any] = settings
        self._labels: tuple[str, ...] = ()
        self.n_examples: int | None = None
        self._training: Training | None = None
        self._is_published = True
        trainer.check(objective)

    # What a component has to say

    @property
    @abstractmethod
    def lattice(self) -> Lattice:
        """The legal transitions between labels."""

    @abstractmethod
    def labels_changed(self) -> None:
        """Forget what depends on the labels."""

    @abstractmethod
    def read_gold(self, example: Example) -> GoldSpans:
        """Gold spans of an example."""

    @abstractmethod
    def labels_in(self, gold: GoldSpans) -> Iterable[str]:
        """Labels that the component learns from one example."""

    @abstractmethod
    def all_units(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Units:
        """The units of a corpus from which features are learnt."""

    @abstractmethod
    def make_corpus(self, examples: Sequence[Example], gold: Sequence[GoldSpans]) -> ChainCorpus:
        """What examples teach, as arrays."""

    # Labels and features

    @property
    def space(self) -> FeatureSpace:
        """The feature space of the model."""
        space: FeatureSpace = self.model.attrs["space"]
        return space

    @property
    def labels(self) -> tuple[str, ...]:
        """The span labels, in alphabetical order."""
        return self._labels

    @property
    def label_data(self) -> tuple[str, ...]:
        """The labels, as `spacy init labels` saves them."""
        return self._labels

    def add_label(self, label: str) -> int:
        """Add a label before training; 0 if it is there already, else 1.

        Raises `TrainingError` on a trained component, whose weights have no room for it.
        """
        if label in self._labels:
            return 0
        if self.model.has_param("W"):
            raise TrainingError(
                f"Cannot add the label '{label}' to '{self.name}': it has been initialized with "
                f"{list(self._labels)}. Train it again on data that has the label."
            )
        self._set_labels((*self._labels, label))
        return 1

    def _set_labels(self, labels: Iterable[str]) -> None:
        self._labels = tuple(sorted(set(labels)))
        self.labels_changed()

    def read(self, docs: Sequence[Doc]) -> Tokens:
        """The tokens of a batch of Docs, as far as the templates look at them.

        Warns where they look at tags, and no Doc has any.
        """
        tokens = read_tokens(docs, self.space.reads)
        for name, where in (("tags", "token.tag"), ("parts_of_speech", "token.pos")):
            if name in self.space.reads and len(tokens.words) and not getattr(tokens, name).any():
                warnings.warn(
                    f"The templates of '{self.name}' look at {where}, but these Docs have none. "
                    "Put a component that sets it earlier in the pipeline, in training among the "
                    "annotating_components.",
                    stacklevel=3,
                )
        return tokens

    def forget_words(self) -> None:
        """Keep the table of words within bounds; called before a batch is predicted."""
        self.space.forget_lexemes(_MAXIMUM_LEXEMES)

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
        gold: list[GoldSpans] = []
        self.n_examples = 0
        for examples in _batches(progress(f"Reading for {self.name}", iterable=get_examples())):
            validate_examples(examples, f"{type(self).__name__}.initialize")
            batches.append(self.read([_with_tags(example) for example in examples]))
            gold.extend(self.read_gold(example) for example in examples)
            self.n_examples += len(examples)
        if not gold:
            raise TrainingError(
                f"'{self.name}' got no examples to initialize from. Check [corpora.train] path."
            )
        found = labels or {label for g in gold for label in self.labels_in(g)} | set(self._labels)
        if not found:
            raise TrainingError(
                f"'{self.name}' found no labelled gold span in {len(gold)} examples. Check that "
                "[corpora.train] has entities, or gold spans under the component's gold_key."
            )
        self._set_labels(found)
        tokenizer = (lambda text: [t.text for t in nlp.tokenizer(text)]) if nlp else str.split
        self.space.read_lexicons(tokenizer)
        tokens = join_tokens(batches)
        self.space.learn_evidence(tokens, gold_flags(tokens, gold))
        units = self.all_units(tokens, gold)
        self.space.learn(units.positions, units.first, units.last, self.model.attrs["min_count"])
        shape = (len(self.space), self.lattice.n_columns)
        set_weights(self.model, np.zeros(shape), np.zeros(self.lattice.n_edges))
        self._training = None
        self._is_published = True

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Run the trainer's iterations on the examples.

        drop, sgd: of no effect; they belong to neural components. losses: the objective
        is added under the component's name. Raises `TrainingError` on a partial batch.
        """
        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        if self._training is None:
            self._training = make_training(self.trainer)
        losses[self.name] += self._training.update(self, examples)
        self._is_published = False
        if not isinstance(self._training, OnlineTraining):
            self.publish()
        return losses

    def publish(self) -> None:
        """Bring the weights of the model up to date with training.

        After the updates of an online trainer only where they are needed: it takes longer than
        a small update itself.
        """
        if self._training is not None and not self._is_published:
            set_weights(self.model, *self._training.weights())
        self._is_published = True

    def __reduce__(self) -> Any:
        self.publish()
        return super().__reduce__()

    def finish_update(self, sgd: Optimizer) -> None:
        """Nothing: the weights are published when they are needed."""

    # Saving

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The component as bytes; see `models.storage` for the format."""
        return storage.pack(*self._state())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "CascadePipe":
        """Load from bytes. Raises `ModelFileError` for anything that is not a valid model."""
        self._load_state(*storage.unpack(data, f"the bytes given to '{self.name}'"))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save into the folder `path`, as the single file `cascade.npz`."""
        storage.write_file(path, self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "CascadePipe":
        """Load from the folder `path`. Raises `ModelFileError` where that cannot be done."""
        self._load_state(*storage.unpack(*storage.read_file(path)))
        return self

    def _state(self) -> tuple[storage.Header, storage.Arrays]:
        self.publish()
        weights, transitions = get_weights(self.model)
        return storage.model_state(
            self.model.name, self._identity(), self.labels, self.space, weights, transitions
        )

    def _identity(self) -> dict[str, Any]:
        """Settings without which the weights mean something else."""
        return {
            "templates": [str(t) for t in self.space.templates.expanded()],
            "patterns": dict(self.space.templates.patterns),
            "label_pairs": self.model.attrs["label_pairs"],
            "scheme": self.cfg.get("scheme"),
        }

    def _load_state(self, header: storage.Header, arrays: storage.Arrays) -> None:
        storage.check_identity(header, self.model.name, self._identity())
        if not header["labels"]:
            raise ModelFileError(f"The saved model of '{self.name}' has no labels.")
        previous = self._labels
        self._set_labels(header["labels"])
        shape = (arrays["keys"].size if "keys" in arrays else 0, self.lattice.n_columns)
        try:
            storage.check_arrays(arrays, shape, self.lattice.n_edges, self.space)
            storage.restore_space(self.space, arrays)
        except ModelFileError:
            self._set_labels(previous)
            raise
        set_weights(self.model, arrays["weights"], arrays["transitions"])
        self._training = None
        self._is_published = True


def _batches(examples: Iterable[Example]) -> Iterator[list[Example]]:
    iterator = iter(examples)
    while batch := list(islice(iterator, _READ_AT_ONCE)):
        yield batch


def _with_tags(example: Example) -> Doc:
    """The Doc to learn features from: as it will be seen, but with tags where known."""
    predicted, reference = example.predicted, example.reference
    tags_known = reference.has_annotation("TAG") and not predicted.has_annotation("TAG")
    if not tags_known or not same_tokens(example):
        return predicted
    # Not the reference itself: its sentence starts are not seen in training.
    tags: Any = reference.to_array([TAG, POS])
    return predicted.copy().from_array([TAG, POS], tags)
