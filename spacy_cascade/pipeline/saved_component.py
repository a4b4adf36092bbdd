"""Components that are saved as one file, with their settings."""

from abc import abstractmethod
from collections.abc import Container, Iterable
from pathlib import Path
from typing import TypeVar

from ..storage import model_file
from ..storage.arrays import Arrays
from ..storage.header import Header

Made = TypeVar("Made", bound="SavedComponent")


class SavedComponent:
    """A component with a header and arrays; see `storage.model_file` for the format.

    exclude, of all methods: as for spaCy's own components. `"cfg"` leaves the settings out of what
    is saved, or keeps those that there are when something is loaded.
    """

    name: str

    @abstractmethod
    def _saved(self, exclude: Container[str]) -> tuple[Header, Arrays]:
        """What to save."""

    @abstractmethod
    def _load(self, header: Header, arrays: Arrays, exclude: Container[str]) -> None:
        """Take what was saved. Raises `ModelFileError`, and changes nothing, where it is wrong."""

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The component as bytes."""
        return model_file.pack(*self._saved(list(exclude)))

    def from_bytes(self: Made, data: bytes, *, exclude: Iterable[str] = ()) -> Made:
        """Load from bytes. Raises `ModelFileError` for anything that is not a valid model.

        Where `spacy.load` loads the component, its settings stay: the config says what they are.
        """
        where = f"the bytes given to '{self.name}'"
        self._load(*model_file.unpack(data, where), list(exclude))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save into the folder `path`, as the single file `cascade.npz`."""
        model_file.write_file(path, self.to_bytes(exclude=exclude))

    def from_disk(self: Made, path: str | Path, *, exclude: Iterable[str] = ()) -> Made:
        """Load from the folder `path`; else as `from_bytes`."""
        self._load(*model_file.unpack(*model_file.read_file(path)), list(exclude))
        return self
