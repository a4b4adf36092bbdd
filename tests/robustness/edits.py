"""Damage to model files; each says what the error has to name.

`tests/storage` has every field and every form of an archive one by one; here pipelines of several
kinds are damaged at random.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from model_files import Case, Generator, Model, archive_of, array_bytes, choice, quoted

AROUND = "archive|array|header"
"""Damage around the arrays need not be known to be that of one of them, and it may change nothing:
a date, for instance, says nothing of a model."""


def cut(generator: Generator, model: Model, data: bytes) -> Case:
    return Case(data[: generator.integers(len(data))], "the end of the archive is missing")


def flip(generator: Generator, model: Model, data: bytes) -> Case:
    """One to eight bits; what stands there is named, or all of it where that may be unclear."""
    changed = bytearray(data)
    places = generator.integers(0, len(data), choice(generator, [1, 1, 1, 2, 8]))
    for place in places:
        changed[place] ^= 1 << int(generator.integers(8))
    names = {name_at(data, int(place)) for place in places}
    return Case(bytes(changed), "|".join(names) if bytes(changed) != data else None)


def name_at(data: bytes, place: int) -> str:
    """The array whose content has a byte, or `AROUND` where it is around the arrays."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            lengths = struct.unpack_from("<2H", data, member.header_offset + 26)
            begin = member.header_offset + 30 + sum(lengths)
            if begin <= place < begin + member.compress_size:
                return quoted(member.filename.removesuffix(".npy"))
    return AROUND


def other_member(generator: Generator, model: Model, data: bytes) -> Case:
    """Something that is no array of a model."""
    more = choice(
        generator,
        [
            ("notes.txt", b"some text"),
            ("folder/", b""),
            ("../../escape.npy", array_bytes(np.zeros(3, np.float32))),
            ("/etc/escape.npy", array_bytes(np.zeros(3, np.float32))),
            ("more.npy", array_bytes(np.zeros(3, np.float32))),
            ("pickle.npy", array_bytes(np.array([{}], dtype=object))),
        ],
    )
    shown = re.escape(more[0].removesuffix(".npy"))
    return Case(model.pack([*model.members().items(), more]), shown)


def bomb(generator: Generator, model: Model, data: bytes) -> Case:
    """A member that claims a thousand times its size."""
    name = choice(generator, model.arrays)
    large = f"{name}.npy"
    members = {**model.members(), large: array_bytes(np.zeros(30_000_000, np.uint8))}
    methods = {
        member: zipfile.ZIP_DEFLATED if member == large else zipfile.ZIP_STORED
        for member in members
    }
    return Case(archive_of(members.items(), methods), quoted(name))


def around(generator: Generator, model: Model, data: bytes) -> Case:
    """Before, behind and between what an archive is made of."""
    end = len(data) - 22
    disk, count, size, begin = 4, 10, 12, 16
    variants = [
        b"#!/bin/sh\n" + data,
        data + b"more",
        data[:-2] + b"\x04\x00more",
        data[:end] + b"PK\x06\x07" + bytes(16) + data[end:],
        data[:end] + bytes(20) + data[end:],
        data + data,
    ]
    for offset, form in ((disk, "<H"), (count, "<H"), (size, "<L"), (begin, "<L")):
        value = int(generator.integers(1, 256 ** struct.calcsize(form)))
        patched = bytearray(data)
        struct.pack_into(form, patched, end + offset, value)
        variants.append(bytes(patched) if bytes(patched) != data else b"")
    return Case(choice(generator, variants), AROUND)


# Arrays


def group(name: str) -> str:
    """Which arrays may be named where one of them has another size than the others."""
    if name.startswith("lexicon"):
        return re.escape(name.split(":")[1])
    if name.startswith("evidence"):
        return "evidence"
    if name.startswith("beside"):
        return "beside"
    return "keys|weights|transitions|curvature"


def missing_array(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, [name for name in model.arrays if name != "curvature"])
    del model.arrays[name]
    return Case(model.pack(), group(name))


def other_shape(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, [name for name, array in model.arrays.items() if array.size])
    array = model.arrays[name]
    changes: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda a: a[:-1],
        lambda a: np.concatenate([a, a[:1]]),
        lambda a: a[..., None],
        lambda a: a[:0],
        lambda a: a.reshape(-1)[0],
        lambda a: np.tile(a, 3),
        lambda a: a[None],
    ]
    if array.ndim == 2 and min(array.shape) > 1:
        changes += [lambda a: a.T, lambda a: a[:, :-1], lambda a: a.reshape(-1)]
    model.arrays[name] = choice(generator, changes)(array)
    return Case(model.pack(), group(name))


def other_type(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, model.arrays)
    types = ["f8", "i2", "u2", "c16", "i8", "U3", "S2", "O", "f2", "u1", "u8", "i4", "b1", "f4"]
    old = model.arrays[name].dtype
    floats = {np.dtype("f2"), np.dtype("f4")}
    fits = [t for t in types if np.dtype(t) != old and not {np.dtype(t), old} <= floats]
    with np.errstate(all="ignore"):
        model.arrays[name] = model.arrays[name].astype(choice(generator, fits))
    return Case(model.pack(), group(name))


def placed(generator: Generator, array: np.ndarray, value: Any) -> np.ndarray:
    """With another value at some place."""
    changed = array.copy()
    changed.reshape(-1)[generator.integers(changed.size)] = value
    return changed


def bad_values(generator: Generator, model: Model, data: bytes) -> Case:
    """Values that a kernel must not see."""
    given = [n for n, array in model.arrays.items() if n != "curvature" and array.size]
    name = choice(generator, given)
    array = model.arrays[name]
    if "keys" in name:
        value = choice(generator, [0, choice(generator, array[:-1])])
        model.arrays[name] = np.append(array[:-1], np.uint64(value))
    elif name.endswith("_places"):
        model.arrays[name] = placed(generator, array, 0)
        if np.array_equal(model.arrays[name], array):
            model.arrays[name] = ~array
    elif "labels" in name:
        texts = [b"", b"[", b'["a", 7]', b'{"a": "b"}', b'["\\ud800"]', b"[" * 50_000, b'"a"']
        model.arrays[name] = np.frombuffer(choice(generator, texts), np.uint8)
    elif array.dtype.kind == "f":
        value = choice(generator, [np.nan, np.inf, -np.inf])
        model.arrays[name] = placed(generator, array, value)
    elif array.dtype.kind == "i":
        value = choice(generator, [-1, -(2**31), 2**31 - 1] if "complete" in name else [-1, -9999])
        model.arrays[name] = placed(generator, array, value)
    else:
        value = int(generator.integers(2, 256))
        model.arrays[name] = placed(generator, array.view(np.uint8), value).view(np.bool_)
    return Case(model.pack(), quoted(name))


def other_values(generator: Generator, model: Model, data: bytes) -> Case:
    """Another model, but a valid one."""
    left_out = re.compile("label|places|beside")
    names = [n for n in model.arrays if not left_out.search(n)]
    name = choice(generator, names)
    array = model.arrays[name]
    if "keys" in name:
        array = generator.permutation(np.arange(1, array.size + 1, dtype=np.uint64) * 7919)
    elif array.dtype.kind == "f":
        kind = choice(generator, [np.float16, np.float32])
        largest = float(choice(generator, [1.0, 6e4, np.finfo(kind).max]))
        array = (generator.uniform(-1, 1, array.shape) * largest).astype(kind)
    elif array.dtype.kind == "i" and "complete" not in name:
        array = generator.integers(0, 2**31 - 1, array.shape).astype(np.int32)
    elif array.dtype.kind != "i":
        array = generator.permutation(array.reshape(-1)).reshape(array.shape)
    model.arrays[name] = array
    return Case(model.pack(), None)


# The header


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
    if (field, value) == ("labels", []):
        named = "labels|columns"
    if (field, value) == ("labels", ["x"]):
        is_one_too = len(model.header[field]) == 1
        named = None if is_one_too else "labels|weights|transitions|curvature|columns"
    if field == "version" and value is True:
        named = "version"
    if field == "tokenizer" and (value is None or value in ([], ["x"])):
        named = None  # as of another release, which knows it by other words
    if field == "sentences" and (value is None or value is True):
        named = None
    model.header[field] = value
    return Case(model.pack(), named)


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


DAMAGE = [*[cut] * 4, *[flip] * 5]
"""Without mended checksums."""
EDITS = [
    other_value, other_header, missing_array, *[other_shape] * 2, other_type, *[bad_values] * 3,
    other_values, other_member, bomb, around,
]  # fmt: skip
"""With all checksums right."""
