"""Saved models: a NumPy `.npz` archive, read without pickle and checked before use.

Arrays: `header` (UTF-8 JSON: format, version, kind, labels, identity, settings), and nothing else
for a component that was not trained; `keys` uint64 `[K]`,
`weights` `[K, S]` and `transitions` `[E]` (half or single precision); `curvature` uint8 `[K, S]`
where training has shown it (`scorers.linear.keep_hessian_diagonal`); both without their zeros where
that is shorter (`sparse`); and the arrays of all resources (`features.resources`).

Everything a kernel relies on is checked here, because kernels check no bounds.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelFileError
from ..features.space import FeatureSpace
from ..files import replace_file
from ..numeric.index import KeyIndex
from . import archive, sparse
from .arrays import Arrays, Shapes, check_shapes
from .header import Header, read_header, write_header

FILE_NAME = "cascade.npz"


def model_arrays(
    space: FeatureSpace,
    weights: npt.NDArray[Any],
    transitions: npt.NDArray[Any],
    hessian_diagonal: npt.NDArray[Any] | None = None,
) -> Arrays:
    """The arrays of a model."""
    arrays: Arrays = {
        "keys": space.index.keys,
        **sparse.shortest("weights", _smallest(weights)),
        "transitions": _smallest(transitions),
    }
    if hessian_diagonal is not None:
        arrays |= sparse.shortest("curvature", hessian_diagonal)
    return arrays | space.resources.arrays()


def _smallest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In half precision where that loses nothing, else in single precision."""
    with np.errstate(over="ignore"):
        half = values.astype(np.float16)
    return half if np.array_equal(half.astype(values.dtype), values) else values.astype(np.float32)


def pack(header: Header, arrays: Arrays) -> bytes:
    """The archive as bytes; equal states give equal bytes."""
    return archive.write({"header": write_header(header), **arrays})


def unpack(data: bytes, where: str) -> tuple[Header, Arrays]:
    """Header and arrays of an archive. Raises `ModelFileError`, naming `where` and why."""
    members = archive.read(data)
    try:
        name, text = next(members, ("", None))
        if name != "header" or text is None:
            raise ValueError("it does not begin with a header")
        return read_header(text, where), dict(members)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(
            f"Cannot load {where}: the file is damaged or not a model of spacy_cascade ({error}). "
            "Copy it again from where it was saved, or train the model again."
        ) from None


def check_arrays(
    arrays: Arrays, n_features: int, shape: tuple[int, int], n_edges: int, space: FeatureSpace
) -> None:
    """Raise `ModelFileError` for an array that is missing or unknown, misshapen or not valid.

    shape: of the weights, which may be mostly zero (`sparse`): `[K, S]`, and further rows where
    vectors are scored, too. n_features: `K`.
    """
    expected: Shapes = {
        "keys": ((n_features,), "u8"),
        **sparse.expected_arrays("weights", arrays, shape, "f"),
        "transitions": ((n_edges,), "f"),
    }
    has_curvature = sparse.is_there("curvature", arrays)
    if has_curvature:
        expected |= sparse.expected_arrays("curvature", arrays, shape, "u1")
    expected |= space.resources.shapes(arrays, is_trained=n_features > 0)
    check_shapes(arrays, expected)
    sparse.check("weights", arrays, shape)
    if has_curvature:
        sparse.check("curvature", arrays, shape)
    space.resources.check(arrays)


def write_file(folder: str | Path, data: bytes) -> None:
    """Write an archive into a folder, which is made where it is not there (`replace_file`)."""
    replace_file(Path(folder) / FILE_NAME, data)


def read_file(folder: str | Path) -> tuple[bytes, str]:
    """An archive from a folder, and its name. Raises `ModelFileError` where it is not there."""
    file = Path(folder) / FILE_NAME
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            # Reading a device or a pipe might never end.
            raise ModelFileError(f"Cannot read {file}: it is no file. Is the pipeline complete?")
        return file.read_bytes(), str(file)
    except OSError as error:
        raise ModelFileError(
            f"Cannot read {file}: {error.strerror}. Is the pipeline complete?"
        ) from None


def restore_space(space: FeatureSpace, arrays: Arrays) -> None:
    """Put the keys and resources of checked arrays into a feature space."""
    space.index = KeyIndex(arrays["keys"].astype(np.uint64))
    space.resources.restore(arrays)
    space.forget_lexemes(0)
