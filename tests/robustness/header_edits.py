"""Edits of the header of a model file; each says what the error has to name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from model_files import Case, Generator, Model, array_bytes, choice


def other_value(generator: Generator, model: Model, data: bytes) -> Case:
    field = choice(generator, model.header)
    values = [None, 1.5, -1, 0, 10**30, True, "", "other", [], ["x"], {}, {"a": 1}, [[]]]
    value = choice(generator, [v for v in values if v != model.header[field]])
    named: str | None = re.escape(field)
    if field == "identity" and value == {"a": 1}:
        named = "unknown setting 'a'"
    if (field, value) == ("identity", {}):
        named = "templates"
    if (field, value) == ("settings", {}):  # as after `to_bytes(exclude=["cfg"])`
        named = None
    if (field, value) == ("labels", ["x"]):
        is_one_too = len(model.header[field]) == 1
        named = None if is_one_too else "labels|weights|transitions|curvature"
    if field == "version" and value is True:
        named = "version"
    model.header[field] = value
    return Case(model.pack(), named)


def no_value(generator: Generator, model: Model, data: bytes) -> Case:
    field = choice(generator, model.header)
    del model.header[field]
    return Case(model.pack(), re.escape(field))


def other_version(generator: Generator, model: Model, data: bytes) -> Case:
    model.header["version"] = int(choice(generator, [-3, 0, 1, 2, 4, 5, 1000]))
    return Case(model.pack(), "its 'version' is .* Update spacy_cascade")


def other_labels(generator: Generator, model: Model, data: bytes) -> Case:
    labels = model.header["labels"]
    sizes = "labels|weights|transitions|curvature"
    variants: list[tuple[Any, str | None]] = [
        ([*labels, labels[-1]], "labels"),
        ([*labels[:-1], ""], "labels"),
        ([*labels[:-1], 7], "labels"),
        ([*labels, "zzz"], sizes),
        (labels[:-1], sizes),
        (sorted(str(i) for i in range(5_000)), sizes),
        ([str(i) for i in range(100_000)], "header"),
        ([*labels[:-1], labels[-1] + " of another kind"], None),
    ]
    if len(labels) > 1:
        variants.append((labels[::-1], "labels"))
    model.header["labels"], named = choice(generator, variants)
    return Case(model.pack(), named)


def other_identity(generator: Generator, model: Model, data: bytes) -> Case:
    identity = model.header["identity"]
    setting = choice(generator, identity)
    old = identity[setting]
    values = [7, "other", ["other"], {"a": "b"}, [{}], {"a": []}]
    if isinstance(old, list):
        values += [old[:-1], [*old, "bias2"], old[::-1]]
    identity[setting] = choice(generator, [value for value in values if value != old])
    return Case(model.pack(), re.escape(setting))


def other_settings(generator: Generator, model: Model, data: bytes) -> Case:
    """Values of no option, and others than those that the weights were trained with."""
    settings = model.header["settings"]
    setting = choice(generator, [*settings, "other"])
    values = [
        [1],
        {"a": "b"},
        {"a": [{}]},
        [{}],
        -1,
        10**400,
        float("nan"),
        float("inf"),
        "x" * 999,
    ]
    settings[setting] = choice(generator, [v for v in values if not _suits(setting, v)])
    return Case(model.pack(), re.escape(setting))


def _suits(setting: str, value: object) -> bool:
    """Whether an option can have the value; one that names a key or a folder can have any text."""
    is_text = setting in ("gold_key", "spans_key", "joint_key")
    return is_text and isinstance(value, str)


def other_header(generator: Generator, model: Model, data: bytes) -> Case:
    texts = [
        b"",
        b"{",
        b"[1]",
        b"7",
        b"null",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"version": ' + b"9" * 10_000 + b"}",
        b'{"version": ' + b"9" * 4_000 + b', "format": "spacy_cascade"}',
        b"[" + b"[]," * 80_000 + b"[]]",
        b'"' + "𐌰".encode() * 60_000 + b'"',
    ]
    members = model.members()
    members["header.npy"] = array_bytes(np.frombuffer(choice(generator, texts), np.uint8))
    return Case(model.pack(members), "header|version")


HEADER_EDITS = [
    other_value,
    no_value,
    other_version,
    other_labels,
    other_identity,
    other_settings,
    other_header,
]
