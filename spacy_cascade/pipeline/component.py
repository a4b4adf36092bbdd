"""What the steps of a component's life see of it: initializing, training, saving.

`pipeline.base` is the class that has all this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from spacy.training import Example
from thinc.api import Model

from ..features.resources import Resource
from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.structure import Weights
from ..scorers.linear import Names, get_weights, hessian_of, places, taken, with_rows
from ..trainers.base import Fit
from ..types import Floats2d, Ints1d, Ints2d, Pointers1d
from .corpus import GetExamples
from .encoder import Backprop
from .examples import Awaited, Corpus, CorpusReader, Parts, Reads, Seen
from .reading import Scoring
from .sequences import Shown


class GoldReader(Protocol):
    """What a component learns of examples.

    What it reads of one example is of a type of its own, and stays where it is: in memory, or in
    the file of a large corpus.
    """

    def read(self, example: Example) -> Any:
        """Gold annotation of an example. Raises `TrainingError` where nobody could learn it."""

    def reads(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Attributes of tokens of the reference, and keys of its groups, that gold is read of."""

    def flags(self, tokens: Tokens, gold: Sequence[Any]) -> Ints2d:
        """What the gold annotation says of the tokens (`features.resources`)."""

    def told_apart(self, labels: set[str]) -> set[str]:
        """Those of the labels, given by a user, that the component learns."""

    def labels_present(self, gold: Any) -> Iterable[str]:
        """All labels of one example, also those that the component does not tell apart."""

    def n_cut(self, gold: Any) -> int:
        """How many spans of one example cut tokens of the pipeline, so that they are not learnt."""

    def check_found(
        self, found: Collection[str], present: Counter[str], n_cut: int, get_examples: GetExamples
    ) -> None:
        """Raise `TrainingError` where there is nothing to learn.

        found: the labels to be. present, n_cut: those of `labels_present` and `n_cut`, of all
        examples.
        """


@dataclass(frozen=True)
class Origin:
    """Weights `[K, S]` and `[E]` of a trained model, and how surely its corpus determined them.

    What an adaptation began with: its penalty stays there when examples are corrected meanwhile.
    Like the fit, it stays behind when its component is pickled or copied. steps: the diagonal of
    the Hessian `[K, S]`, as the model keeps it; None where it is not known. names: what columns and
    transitions are known by. resources: what templates look at, by key.
    """

    weights: Weights
    steps: npt.NDArray[np.uint8] | None
    names: Names
    resources: dict[str, Resource]

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    @classmethod
    def of(cls, model: Model[Any, Any], names: Names) -> Origin:
        """What the model has now."""
        weights, resources = Weights(*get_weights(model)), model.attrs["space"].resources.made
        return cls(weights, model.attrs["hessian_diagonal"], names, resources)

    @property
    def hessian_diagonal(self) -> Floats2d | None:
        """That of the loss of the earlier corpus, `[K, S]`."""
        return hessian_of(self.steps)

    def grown(self, n_rows: int, n_dense: int, names: Names) -> Origin:
        """The same for a model that has got more features and labels, with zeros for these.

        n_rows: of its weights, `n_dense` of them those of vectors.
        """
        columns, edges = (places(*pair) for pair in zip(self.names, names, strict=True))
        missing = n_rows - len(self.weights.features), n_dense
        features = taken(with_rows(self.weights.features, *missing), columns)
        steps = None if self.steps is None else taken(with_rows(self.steps, *missing), columns)
        weights = Weights(features, taken(self.weights.transitions, edges))
        return Origin(weights, steps, names, self.resources)


class Component(Scoring, Protocol):
    """A component that learns from examples; what its attributes are says `pipeline.base`."""

    loss: Any
    trainer: Any
    penalty: Any
    warm_start: bool
    n_examples: int | None
    before_induction: Any
    _shown: Shown
    _labels: tuple[str, ...]
    _fit: Fit[Any] | None
    _corpus: Corpus
    _seen: Seen
    _parts: Parts
    _reader: CorpusReader
    _awaited: Awaited | None
    _origin: Origin | None
    _annotation_read: int
    _may_be_untrained: ClassVar[bool]
    _backprop: Backprop | None

    @property
    def cfg(self) -> dict[str, Any]: ...

    @property
    def family(self) -> Any: ...

    @property
    def gold(self) -> GoldReader: ...

    def update(self, examples: Iterable[Example]) -> dict[str, float]: ...

    def reads(self) -> Reads: ...

    @property
    def structure_labels(self) -> list[str]: ...

    def labels_in(self, gold: Any) -> Iterable[str]: ...

    def gold_units(self, tokens: Tokens, gold: Sequence[Any]) -> Units: ...

    def fitted(
        self, tokens: Tokens, gold: Sequence[Any], examples: Sequence[Example]
    ) -> tuple[Units, Ints1d, Pointers1d]: ...

    def add_labels(self, labels: Iterable[str]) -> int: ...

    def sync_weights(self) -> None: ...

    def sync_curvature(self) -> None: ...

    def reset_fit(self) -> None: ...

    def _told_apart(self, labels: Iterable[str]) -> set[str]: ...

    def _set_labels(self, labels: Iterable[str]) -> None: ...

    def _names(self) -> Names: ...

    def _identity(self) -> dict[str, Any]: ...

    def _structure_size(self, n_labels: int) -> tuple[int, int]: ...

    def _forget_weights(self) -> None: ...
