"""Edits of the arrays of a model file; each says what the error has to name."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from model_files import Case, Generator, Model, choice, quoted


def group(name: str) -> str:
    """Which arrays may be named where one of them has another size than the others."""
    if name.startswith("lexicon"):
        return re.escape(name.split(":")[1])
    if name.startswith("evidence"):
        return "evidence"
    return "keys|weights|transitions|curvature"


def missing_array(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, [name for name in model.arrays if name != "curvature"])
    del model.arrays[name]
    return Case(model.pack(), group(name))


def renamed_array(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, model.arrays)
    other = choice(generator, [name + "x", "", "../" + name, "\x00", "header", "größe", "a" * 2000])
    members = [
        (f"{other}.npy" if member == f"{name}.npy" else member, content)
        for member, content in model.members().items()
    ]
    shown = re.escape(repr(other[:50])[1:-1])
    return Case(model.pack(members), f"{shown}|name of array|{re.escape(name)}|too many|no array")


def array_twice(generator: Generator, model: Model, data: bytes) -> Case:
    members = list(model.members().items())
    name, content = choice(generator, members)
    at = int(generator.integers(1, len(members) + 1))
    members.insert(at, (name, content))
    return Case(model.pack(members), re.escape(name.removesuffix(".npy")))


def other_order(generator: Generator, model: Model, data: bytes) -> Case:
    members = list(model.members().items())
    return Case(model.pack([*members[1:], members[0]]), "header")


def other_shape(generator: Generator, model: Model, data: bytes) -> Case:
    name = choice(generator, model.arrays)
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


def other_description(generator: Generator, model: Model, data: bytes) -> Case:
    """What an array says of itself: sizes that are not there, nested and endless texts."""
    name = choice(generator, [*model.arrays, "header"])
    texts = [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }\n",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (99999999999999999999,), }\n",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (-3,), }\n",
        "{'descr': '<u8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }\n",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }\n",
        "__import__('os').system('true')\n",
        "(" * 60_000,
        "{'descr': '<f4', 'fortran_order': 2, 'shape': (3,), }\n",
        "",
        "\x00" * 60,
    ]
    text = choice(generator, texts).encode()
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)
    if generator.random() < 0.2:
        content = choice(
            generator, [b"", b"\x93NUMPY", b"text", content[:11], b"\x93NUMPY\x03\x00"]
        )
    return Case(model.pack({**model.members(), f"{name}.npy": content}), quoted(name))


def placed(generator: Generator, array: np.ndarray, value: Any) -> np.ndarray:
    """With another value at some place."""
    changed = array.copy()
    changed.reshape(-1)[generator.integers(changed.size)] = value
    return changed


def bad_values(generator: Generator, model: Model, data: bytes) -> Case:
    """Values that a kernel must not see."""
    name = choice(generator, [n for n in model.arrays if n != "curvature"])
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
    names = [n for n in model.arrays if "label" not in n and "places" not in n]
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


ARRAY_EDITS = [
    missing_array,
    renamed_array,
    array_twice,
    other_order,
    *[other_shape] * 2,
    other_type,
    other_description,
    *[bad_values] * 3,
    other_values,
]
