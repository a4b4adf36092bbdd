"""Saving and loading the linear model of a component."""

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from spacy.pipeline import TrainablePipe
from thinc.api import Model

from ..errors import ModelFileError
from ..features.space import FeatureSpace
from ..features.units import Units
from ..models.linear import get_weights, set_weights
from ..storage import model_file as storage
from ..storage import sparse
from ..storage.arrays import Arrays
from ..storage.header import Header, check_identity

Saved = TypeVar("Saved", bound="SavedPipe")


class SavedPipe(TrainablePipe):  # type: ignore[misc]
    """A component that is one file on disk (`models.storage`)."""

    model: Model[Units, Any]
    name: str
    cfg: dict[str, Any]
    may_be_untrained: ClassVar[bool] = False
    """Whether a saved component without labels is one that was not trained, and no damaged one."""

    @property
    def space(self) -> FeatureSpace:
        """The feature space of the model."""
        space: FeatureSpace = self.model.attrs["space"]
        return space

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The labels, in alphabetical order."""

    @abstractmethod
    def lattice_size(self, n_labels: int) -> tuple[int, int]:
        """Edges `E` and score columns `S` of the lattice of so many labels.

        Known without making it: a saved model may state any number of labels.
        """

    @abstractmethod
    def sync_curvature(self) -> None:
        """Bring all that is saved up to date with training."""

    @abstractmethod
    def reset_fit(self) -> None:
        """Begin anew with the next update, for there are other weights."""

    @abstractmethod
    def _set_labels(self, labels: Iterable[str]) -> None:
        """Have these labels."""

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The component as bytes; see `models.storage` for the format."""
        return storage.pack(*self._state())

    def from_bytes(self: Saved, data: bytes, *, exclude: Iterable[str] = ()) -> Saved:
        """Load from bytes. Raises `ModelFileError` for anything that is not a valid model."""
        self._load_state(*storage.unpack(data, f"the bytes given to '{self.name}'"))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save into the folder `path`, as the single file `cascade.npz`."""
        storage.write_file(path, self.to_bytes())

    def from_disk(self: Saved, path: str | Path, *, exclude: Iterable[str] = ()) -> Saved:
        """Load from the folder `path`. Raises `ModelFileError` where that cannot be done."""
        self._load_state(*storage.unpack(*storage.read_file(path)))
        return self

    def _state(self) -> tuple[Header, Arrays]:
        self.sync_curvature()
        weights, transitions = get_weights(self.model)
        return storage.model_state(
            self.model.name, self._identity(), self.labels, self.space, weights, transitions,
            self.model.attrs["curvature"],
        )  # fmt: skip

    def _identity(self) -> dict[str, Any]:
        """Settings without which the weights mean something else."""
        return {
            "templates": [str(t) for t in self.space.templates.expanded()],
            "patterns": dict(self.space.templates.patterns),
            "label_pairs": self.model.attrs["label_pairs"],
            "scheme": self.cfg.get("scheme"),
        }

    def _load_state(self, header: Header, arrays: Arrays) -> None:
        check_identity(header, self.model.name, self._identity())
        labels = header["labels"]
        n_features = arrays["keys"].size if "keys" in arrays else 0
        if not labels and (n_features or not self.may_be_untrained):
            raise ModelFileError(f"The saved model of '{self.name}' has no labels.")
        n_edges, n_columns = self.lattice_size(len(labels))
        shape = (n_features, n_columns)
        storage.check_arrays(arrays, shape, n_edges, self.space)
        self._set_labels(labels)
        storage.restore_space(self.space, arrays)
        set_weights(self.model, sparse.restore("weights", arrays, shape), arrays["transitions"])
        curvature = arrays.get("curvature")
        self.model.attrs["curvature"] = None if curvature is None else curvature.copy()
        self.reset_fit()
