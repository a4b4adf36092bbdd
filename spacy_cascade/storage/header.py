"""The header of a saved model: a JSON table that says what the arrays are of."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import ConfigDict, Field

from ..errors import ModelFileError
from .arrays import Array
from .tables import STRICT, read_table

FORMAT = "spacy_cascade"
VERSION = 3

Header: TypeAlias = dict[str, Any]
_MAXIMUM_BYTES, _MAXIMUM_VALUES = 1 << 18, 1 << 13
_SHOWN = 100


@dataclass
class _Version:
    """What headers of all versions have."""

    __pydantic_config__ = ConfigDict(strict=True)
    format: str
    version: int


@dataclass
class _Fields:
    __pydantic_config__ = STRICT
    format: str
    version: int
    kind: str
    labels: list[Annotated[str, Field(min_length=1)]]
    identity: dict[str, str | bool | int | float | list[str] | dict[str, str] | None]
    settings: dict[str, Any]
    sentences: bool | None = None
    tokenizer: list[str] | None = None


def make_header(
    kind: str,
    labels: list[str],
    identity: dict[str, Any],
    settings: dict[str, Any],
    sentences: bool | None = None,
    tokenizer: list[str] | None = None,
) -> Header:
    """The header of a model.

    identity: what the model was trained with. settings: what can be changed later on. sentences:
    whether training took sentences as sequences, or whole Docs; None where that is not known.
    tokenizer: what tells it from others (`pipeline.splitting`).
    """
    stated = {"format": FORMAT, "version": VERSION, "kind": kind}
    model = {"labels": labels, "identity": identity, "settings": settings}
    return {**stated, **model, "sentences": sentences, "tokenizer": tokenizer}


def write_header(header: Header) -> Array:
    """The header as UTF-8 text. Raises `ModelFileError` where it is too long to be read again."""
    excess = header_excess(header)
    if excess is not None:
        raise ModelFileError(
            f"Cannot save the model: {excess}. Have fewer labels, or fewer and shorter templates "
            "and patterns."
        )
    return np.frombuffer(_text(header), dtype=np.uint8)


def header_excess(header: Header) -> str | None:
    """What is too much in a header, with both sizes; None where it can be saved and read again."""
    return _excess(_text(header))


def _text(header: Header) -> bytes:
    return json.dumps(header, sort_keys=True, ensure_ascii=False).encode("utf8", "surrogatepass")


def _excess(text: bytes) -> str | None:
    """As `header_excess`, of its text. Values are limited because they take memory when read."""
    n_values = sum(map(text.count, b",[{"))
    for size, most, unit in (
        (n_values, _MAXIMUM_VALUES, "values"),
        (len(text), _MAXIMUM_BYTES, "bytes as text"),
    ):
        if size > most:
            return (
                f"its labels, templates, patterns and settings take {size:,} {unit}, and a file "
                f"can hold {most:,}"
            )
    return None


def read_header(text: Array, where: str) -> Header:
    """The table of a header, every field of which is valid.

    Raises `ValueError` where it is not, and `ModelFileError` for the format of another program or
    of another release, naming `where`.
    """
    if text.dtype != np.uint8 or text.ndim != 1:
        raise ValueError("the header is no text")
    content = text[: _MAXIMUM_BYTES + 1].tobytes()
    if _excess(content) is not None:
        raise ValueError("the header is too long")
    stated = read_table(_Version, content)
    if stated.format != FORMAT:
        raise ModelFileError(
            f"Cannot load {where}: it is no model of spacy_cascade, its 'format' is another."
        )
    if stated.version != VERSION:
        raise ModelFileError(
            f"Cannot load {where}: its 'version' is {str(stated.version)[:_SHOWN]}, and this "
            f"release reads version {VERSION} of the format. Update spacy_cascade, or train the "
            "model again."
        )
    header = read_table(_Fields, content)
    if header.labels != sorted(set(header.labels)):
        raise ValueError("the 'labels' of the header are not in order, or one is there twice")
    return vars(header)


def check_identity(header: Header, kind: str, identity: dict[str, Any]) -> None:
    """Raise `ModelFileError` where weights and configuration do not belong together."""
    if header["kind"] != kind:
        raise ModelFileError(
            f"The saved model is of the kind {header['kind'][:_SHOWN]!r}, but the configuration "
            f"asks for a '{kind}'."
        )
    for setting in header["identity"].keys() - identity.keys():
        raise ModelFileError(f"The saved model has an unknown setting {setting[:_SHOWN]!r}.")
    for setting, expected in identity.items():
        if header["identity"].get(setting) != expected:
            raise ModelFileError(
                f"The saved model was trained with another '{setting}' than the configuration "
                f"states ({_first_difference(header['identity'].get(setting), expected)}). Load it "
                "with its own config.cfg."
            )


def _first_difference(saved: Any, stated: Any) -> str:
    if isinstance(saved, list) and isinstance(stated, list):
        for value in saved:
            if value not in stated:
                return f"{value[:_SHOWN]!r} is not in the configuration"
        for value in stated:
            if value not in saved:
                return f"'{value}' is only in the configuration"
    return f"{saved!r} instead of {stated!r}"[: 2 * _SHOWN]
