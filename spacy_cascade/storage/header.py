"""The header of a saved model: a JSON table that says what the arrays are of."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import numpy as np

from ..errors import ModelFileError
from ..features.strings import is_valid
from .arrays import Array

FORMAT = "spacy_cascade"
VERSION = 3
_WITHOUT_SETTINGS = 2
"""The version that release 0.2 wrote; it said nothing of settings that can be changed."""

Header: TypeAlias = dict[str, Any]
_TYPES = {
    "format": str, "version": int, "kind": str, "labels": list, "identity": dict, "settings": dict,
}  # fmt: skip
_MAXIMUM_BYTES, _MAXIMUM_VALUES = 1 << 18, 1 << 13
_SHOWN = 100


def make_header(
    kind: str, labels: list[str], identity: dict[str, Any], settings: dict[str, Any]
) -> Header:
    """The header of a model.

    identity: what the model was trained with. settings: what can be changed later on.
    """
    stated = {"format": FORMAT, "version": VERSION, "kind": kind}
    return {**stated, "labels": labels, "identity": identity, "settings": settings}


def write_header(header: Header) -> Array:
    """The header as UTF-8 text. Raises `ModelFileError` where it is too long to be read again."""
    text = _text(header)
    excess = _excess(text)
    if excess is not None:
        raise ModelFileError(
            f"Cannot save the model: {excess}. Have fewer labels, or fewer and shorter templates "
            "and patterns."
        )
    return np.frombuffer(text, dtype=np.uint8)


def header_excess(header: Header) -> str | None:
    """What is too much in a header, with both sizes; None where it can be saved and read again."""
    return _excess(_text(header))


def _text(header: Header) -> bytes:
    return json.dumps(header, sort_keys=True, ensure_ascii=False).encode("utf8", "surrogatepass")


def _excess(text: bytes) -> str | None:
    """As `header_excess`, of its text. Values are limited because they take memory when read."""
    n_values = sum(map(text.count, b",[{"))
    if n_values > _MAXIMUM_VALUES:
        return (
            f"its labels, templates, patterns and settings are {n_values:,} values, and a file can "
            f"hold {_MAXIMUM_VALUES:,}"
        )
    if len(text) > _MAXIMUM_BYTES:
        return (
            f"its labels, templates, patterns and settings take {len(text):,} bytes as text, and a "
            f"file can hold {_MAXIMUM_BYTES:,}"
        )
    return None


def read_header(text: Array) -> Header:
    """The table of a header. Raises `ValueError` where its text is none."""
    if text.dtype != np.uint8 or text.ndim != 1:
        raise ValueError("the header is no text")
    if text.size > _MAXIMUM_BYTES or _excess(text.tobytes()) is not None:
        raise ValueError("the header is too long")
    try:
        header = json.loads(str(text.data, "utf8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the header is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise ValueError("the header is no table")
    return header


def check_version(header: Header, where: str) -> None:
    """Raise `ModelFileError` for other or later formats, `ValueError` for unwritten versions."""
    for field in ("format", "version"):
        _check_type(header, field)
    if header["format"] != FORMAT:
        raise ModelFileError(
            f"Cannot load {where}: it is no model of spacy_cascade, its 'format' is another."
        )
    version = header["version"]
    if version > VERSION:
        raise ModelFileError(
            f"Cannot load {where}: it has format version {str(version)[:_SHOWN]}, this release "
            f"reads version {VERSION}. Update spacy_cascade."
        )
    if version < _WITHOUT_SETTINGS:
        shown = str(version)[:_SHOWN]
        raise ValueError(f"the header states the 'version' {shown}, which no release has written")


def check_fields(header: Header) -> None:
    """Raise `ValueError` where a field is not what a model of its version has there."""
    fields = _TYPES.keys() - ({"settings"} if header["version"] == _WITHOUT_SETTINGS else set())
    for field in sorted(fields):
        _check_type(header, field)
    for field in header.keys() - fields:
        raise ValueError(f"the header has an unknown field {field[:_SHOWN]!r}")
    if not is_valid(json.dumps(header.get("settings"), ensure_ascii=False)):
        raise ValueError("the 'settings' of the header are not all valid texts")
    labels = header["labels"]
    if not all(isinstance(label, str) and label and is_valid(label) for label in labels):
        raise ValueError("the 'labels' of the header are not all valid texts, or one is empty")
    if labels != sorted(set(labels)):
        raise ValueError("the 'labels' of the header are not in order, or one is there twice")
    for setting, value in header["identity"].items():
        if not _is_setting(value):
            raise ValueError(f"the header has no valid 'identity', {setting[:_SHOWN]!r}")


def _check_type(header: Header, field: str) -> None:
    value = header.get(field)
    if not isinstance(value, _TYPES[field]) or isinstance(value, bool):
        raise ValueError(f"the header has no valid '{field}'")


def _is_setting(value: object) -> bool:
    """Whether it is a plain value, a list of texts or a table of texts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return all(isinstance(text, str) for text in value)
    return value is None or isinstance(value, str | bool | int | float)


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
