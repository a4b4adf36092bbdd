"""What is found in a text, as plain values, and batches of columns as engines pass them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span

from ...errors import ConfigError
from ...pipeline.spans.confidences import confidences_of, key_of
from .extras import arrow


class Entity(NamedTuple):
    """An entity of a text.

    start, end (exclusive): characters of the text, from 0. kb_id: identifier that a linker gave,
    None if there is none. confidence: from 0 to 1, None if no component gave one.
    """

    start: int
    end: int
    label: str
    kb_id: str | None
    confidence: float | None


def entities_of(doc: Doc, spans_key: str | None = None) -> list[Entity]:
    """The entities in `doc.ents`, or the spans of a group. spans_key: key of the group.

    A Doc without such a group has none.
    """
    spans: Iterable[Span] = doc.ents if spans_key is None else doc.spans.get(spans_key, ())
    known = confidences_of(doc)
    found = []
    for span in spans:
        key = key_of(span)
        found.append(Entity(*key[:2], span.label_, span.kb_id_ or None, known.get(key)))
    return found


def arrow_type(arrow: Any) -> Any:
    """The Arrow type of the entities of a text. arrow: the module `pyarrow`."""
    return arrow.list_(
        arrow.struct(
            [
                ("start", arrow.int32()),
                ("end", arrow.int32()),
                ("label", arrow.string()),
                ("kb_id", arrow.string()),
                ("confidence", arrow.float64()),
            ]
        )
    )


def as_dicts(values: Sequence[list[Entity] | None]) -> list[list[dict[str, Any]] | None]:
    """Entities as Arrow and JSON have them."""
    return [None if of is None else [entity._asdict() for entity in of] for of in values]


def as_json(value: Any) -> str:
    """A value as JSON, which has no NaN and no infinity: they become null.

    Half a surrogate pair is escaped, since UTF-8 cannot have it.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, default=_plain)
    except ValueError:
        # Python writes names for them, which it reads again and can so replace.
        named = json.dumps(value, default=_plain)
        return as_json(json.loads(named, parse_constant=lambda _: None))
    return text


def _plain(value: Any) -> Any:
    """What JSON can hold of a value that it has no type for, such as a date."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


EntityColumns = Mapping[str, Sequence[list[Entity] | None]]
TextColumns = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True)
class Frame:
    """A batch: columns can be read, and added to a copy of it.

    kind: for messages. names: of the columns. column: gives the values of a column as Python has
    them. extended: gives a batch of the same kind with further columns.
    """

    kind: str
    names: list[str]
    column: Callable[[str], list[Any]]
    extended: Callable[[EntityColumns, TextColumns], Any]

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


def frame_of(batch: Any) -> Frame:
    """The columns of a batch: a table or record batch of Arrow, a DataFrame, a dictionary.

    A DataFrame keeps its index. Raises `ConfigError` for anything else.
    """
    package, name = type(batch).__module__.partition(".")[0], type(batch).__name__
    if package == "pyarrow" and name in ("Table", "RecordBatch"):
        names = list(batch.schema.names)
        return Frame(
            "Arrow batch", names, lambda name: list(batch.column(name).to_pylist()),
            partial(_with_arrow, batch),
        )  # fmt: skip
    if package == "pandas" and name == "DataFrame":
        return Frame(
            "DataFrame", list(batch.columns), lambda name: _of_pandas(batch[name]),
            lambda *columns: batch.assign(**_object_columns(*columns)),
        )  # fmt: skip
    if isinstance(batch, Mapping):
        return Frame(
            "batch", list(batch), lambda name: list(batch[name]),
            lambda *columns: {**batch, **_object_columns(*columns)},
        )  # fmt: skip
    raise ConfigError(
        f"A batch is a pyarrow Table or RecordBatch, a pandas DataFrame or a dictionary of "
        f"columns, not {package}.{name}. Convert it to one of these."
    )


def _with_arrow(batch: Any, entities: EntityColumns, texts: TextColumns) -> Any:
    pa = arrow("An Arrow batch")
    for name, values in entities.items():
        batch = batch.append_column(name, pa.array(as_dicts(values), arrow_type(pa)))
    for name, reasons in texts.items():
        batch = batch.append_column(name, pa.array(reasons, pa.string()))
    return batch


def _of_pandas(column: Any) -> list[Any]:
    values: list[Any] = column.astype(object).where(column.notna(), None).tolist()
    return values


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
