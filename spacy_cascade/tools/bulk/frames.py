"""Batches of columns as engines pass them: Arrow, pandas, dictionaries of arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ConfigError
from .extras import arrow
from .results import Entity, arrow_type, as_dicts

EntityColumns = Mapping[str, Sequence[list[Entity] | None]]
TextColumns = Mapping[str, Sequence[str | None]]


class Frame(ABC):
    """A batch: columns can be read, and added to a copy of it. kind: for messages."""

    kind: str

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the columns."""

    @abstractmethod
    def column(self, name: str) -> list[Any]:
        """Values of a column as Python has them."""

    @abstractmethod
    def extended(self, entities: EntityColumns, texts: TextColumns) -> Any:
        """A batch of the same kind with further columns; this one does not change."""

    def values(self, name: str) -> list[Any]:
        """As `column`; raises `ConfigError` if there is none of that name."""
        if name not in self.names:
            raise ConfigError(
                f"The {self.kind} has no column '{name}' with texts; its columns are "
                f"{', '.join(map(str, self.names)) or 'none'}. Name the column with text=."
            )
        return self.column(name)

    def with_results(self, entities: EntityColumns, texts: TextColumns) -> Any:
        """As `extended`; raises `ConfigError` if there are columns of these names already."""
        taken = [name for name in (*entities, *texts) if name in self.names]
        if taken:
            raise ConfigError(
                f"The {self.kind} has a column '{taken[0]}' already. Give the results another "
                "name with entities=."
            )
        return self.extended(entities, texts)


class ArrowFrame(Frame):
    """A `pyarrow.Table` or `RecordBatch`."""

    kind = "Arrow batch"

    @property
    def names(self) -> list[str]:
        return list(self.batch.schema.names)

    def column(self, name: str) -> list[Any]:
        values: list[Any] = self.batch.column(name).to_pylist()
        return values

    def extended(self, entities: EntityColumns, texts: TextColumns) -> Any:
        pa, batch = arrow("An Arrow batch"), self.batch
        for name, values in entities.items():
            batch = batch.append_column(name, pa.array(as_dicts(values), arrow_type(pa)))
        for name, reasons in texts.items():
            batch = batch.append_column(name, pa.array(reasons, pa.string()))
        return batch


class PandasFrame(Frame):
    """A `pandas.DataFrame`; its index stays."""

    kind = "DataFrame"

    @property
    def names(self) -> list[str]:
        return list(self.batch.columns)

    def column(self, name: str) -> list[Any]:
        column = self.batch[name]
        values: list[Any] = column.astype(object).where(column.notna(), None).tolist()
        return values

    def extended(self, entities: EntityColumns, texts: TextColumns) -> Any:
        return self.batch.assign(**_object_columns(entities, texts))


class DictFrame(Frame):
    """A dictionary of columns, which are arrays or lists."""

    kind = "batch"

    @property
    def names(self) -> list[str]:
        return list(self.batch)

    def column(self, name: str) -> list[Any]:
        return list(self.batch[name])

    def extended(self, entities: EntityColumns, texts: TextColumns) -> Any:
        return {**self.batch, **_object_columns(entities, texts)}


def frame_of(batch: Any) -> Frame:
    """The columns of a batch. Raises `ConfigError` for what is none."""
    package, name = type(batch).__module__.partition(".")[0], type(batch).__name__
    if package == "pyarrow" and name in ("Table", "RecordBatch"):
        return ArrowFrame(batch)
    if package == "pandas" and name == "DataFrame":
        return PandasFrame(batch)
    if isinstance(batch, Mapping):
        return DictFrame(batch)
    raise ConfigError(
        f"A batch is a pyarrow Table or RecordBatch, a pandas DataFrame or a dictionary of "
        f"columns, not {package}.{name}. Convert it to one of these."
    )


def _object_columns(entities: EntityColumns, texts: TextColumns) -> dict[str, Any]:
    columns: dict[str, Sequence[Any]] = {name: as_dicts(of) for name, of in entities.items()}
    columns.update(texts)
    return {name: _objects(values) for name, values in columns.items()}


def _objects(values: Sequence[Any]) -> Any:
    """An array of objects; NumPy itself would make a table of lists of one length."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array
