"""Saved models: a NumPy `.npz` archive, read without pickle and checked before use.

Arrays: `header` (UTF-8 JSON: format, version, kind, labels, identity), `keys` uint64
`[K]`, `weights` `[K, S]` and `transitions` `[E]` (half or single precision); where training
has shown it the `curvature` uint8 `[K, S]` (`models.linear.keep_curvature`); where
templates ask for them the counts of `features.evidence`, and the lexicons (`models.lexicons`).
Everything a kernel relies on is checked here, because kernels check no bounds.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import ModelFileError
from ..features.evidence import SHARES, Evidence
from ..features.index import KeyIndex
from ..features.space import FeatureSpace
from ..files import replace_file
from .lexicons import Shapes, check_lexicon, expected_arrays, lexicon_arrays, restore_lexicon

FILE_NAME = "cascade.npz"
FORMAT = "spacy_cascade"
VERSION = 1

Header: TypeAlias = dict[str, Any]
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
_HEADER_TYPES = {"format": str, "version": int, "kind": str, "labels": list, "identity": dict}


def model_state(
    kind: str,
    identity: dict[str, Any],
    labels: Sequence[str],
    space: FeatureSpace,
    weights: npt.NDArray[Any],
    transitions: npt.NDArray[Any],
    curvature: npt.NDArray[Any] | None = None,
) -> tuple[Header, Arrays]:
    """Header and arrays of a model."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "labels": list(labels),
        "identity": identity,
    }
    arrays: Arrays = {
        "keys": space.index.keys,
        "weights": _smallest(weights),
        "transitions": _smallest(transitions),
    }
    if curvature is not None:
        arrays["curvature"] = curvature
    if space.uses_evidence:
        arrays["evidence_keys"] = space.evidence.index.keys
        arrays["evidence_counts"] = space.evidence.counts
    for attribute, lexicon in space.lexicons.items():
        arrays.update(lexicon_arrays(attribute, lexicon))
    return header, arrays


def _smallest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In half precision where that loses nothing, else in single precision."""
    with np.errstate(over="ignore"):
        half = values.astype(np.float16)
    return half if np.array_equal(half.astype(values.dtype), values) else values.astype(np.float32)


def pack(header: Header, arrays: Arrays) -> bytes:
    """The archive as bytes; equal states give equal bytes."""
    text = json.dumps(header, sort_keys=True, ensure_ascii=False).encode("utf8", "surrogatepass")
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, allow_pickle=False, header=np.frombuffer(text, dtype=np.uint8), **arrays
    )
    return buffer.getvalue()


def unpack(data: bytes, where: str) -> tuple[Header, Arrays]:
    """Header and arrays of an archive. Raises `ModelFileError`, naming `where` and why."""
    try:
        arrays = {name.removesuffix(".npy"): array for name, array in _read_members(data).items()}
        header = json.loads(arrays.pop("header").tobytes().decode("utf8", "surrogatepass"))
    except Exception as error:
        # Damage makes zipfile, its decompressors, NumPy and json raise all sorts of errors.
        raise _damaged(where, str(error)) from None
    for field, kind in _HEADER_TYPES.items():
        if not isinstance(header, dict) or not isinstance(header.get(field), kind):
            raise _damaged(where, f"the header has no valid '{field}'")
    if header["format"] != FORMAT:
        raise ModelFileError(f"Cannot load {where}: it is no model of spacy_cascade.")
    if header["version"] < 1:
        raise _damaged(where, f"the format never had version {header['version']}")
    if header["version"] > VERSION:
        raise ModelFileError(
            f"Cannot load {where}: it has format version {header['version']}, this release reads "
            f"up to {VERSION}. Update spacy_cascade."
        )
    labels = header["labels"]
    if not all(isinstance(label, str) and label for label in labels) or len(labels) != len(
        set(labels)
    ):
        raise _damaged(where, "the labels are not distinct, non-empty texts")
    if "keys" not in arrays or arrays["keys"].ndim != 1:
        raise _damaged(where, "it has no valid array 'keys'")
    return header, arrays


def _damaged(where: str, why: str) -> ModelFileError:
    return ModelFileError(
        f"Cannot load {where}: the file is damaged or not a model of spacy_cascade ({why}). "
        "Copy it again from where it was saved, or train the model again."
    )


def _read_members(data: bytes) -> Arrays:
    """All arrays; the size that a member claims is checked before memory is taken for it."""
    arrays: Arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                if version != (1, 0):
                    raise ValueError(f"'{member.filename}' has an unknown array version")
                shape, _, dtype = np.lib.format.read_array_header_1_0(file)
                if dtype.hasobject or dtype.kind not in "uifb":
                    raise ValueError(f"'{member.filename}' holds {dtype}, not numbers")
                size = math.prod(shape) * dtype.itemsize
                # Deflate cannot shrink by more than about a thousand.
                if min(shape, default=0) < 0 or size > 1032 * len(data):
                    raise ValueError(f"'{member.filename}' claims the impossible shape {shape}")
            with archive.open(member) as file:
                arrays[member.filename] = np.lib.format.read_array(file, allow_pickle=False)
    return arrays


def check_identity(header: Header, kind: str, identity: dict[str, Any]) -> None:
    """Raise `ModelFileError` where weights and configuration do not belong together."""
    if header["kind"] != kind:
        raise ModelFileError(
            f"The saved model is a '{header['kind']}', but the configuration asks for a '{kind}'."
        )
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
                return f"'{value}' is not in the configuration"
        for value in stated:
            if value not in saved:
                return f"'{value}' is only in the configuration"
    return f"{saved!r} instead of {stated!r}"[:200]


def check_arrays(arrays: Arrays, shape: tuple[int, int], n_edges: int, space: FeatureSpace) -> None:
    """Raise `ModelFileError` for a missing, misshapen or not finite array."""
    expected: Shapes = {
        "keys": ((shape[0],), "u8"),
        "weights": (shape, "f"),
        "transitions": ((n_edges,), "f"),
    }
    if "curvature" in arrays:
        expected["curvature"] = (shape, "u1")
    if space.uses_evidence:
        n_words = _size(arrays, "evidence_keys")
        expected["evidence_keys"] = ((n_words,), "u8")
        expected["evidence_counts"] = ((n_words, 1 + len(SHARES)), "i4")
    for attribute in space.memberships:
        expected.update(expected_arrays(attribute, arrays, space.leaves_out(attribute)))
    for name, (size, kind) in expected.items():
        array = arrays.get(name)
        if array is None or not array.dtype.str[1:].startswith(kind):
            raise ModelFileError(f"The saved model has no valid array '{name}'.")
        if array.shape != size:
            raise ModelFileError(
                f"The array '{name}' of the saved model has shape {array.shape}, not {size}."
            )
        if kind == "f" and not _is_finite(array):
            raise ModelFileError(f"The array '{name}' of the saved model is not finite.")
        if kind == "i4" and (array < 0).any():
            raise ModelFileError(f"The array '{name}' of the saved model has negative numbers.")
        if kind == "u8" and (_repeats(array) or (array == 0).any()):
            raise ModelFileError(f"The array '{name}' of the saved model repeats a key.")
    for attribute in space.memberships:
        check_lexicon(attribute, arrays)


def _size(arrays: Arrays, name: str) -> int:
    return arrays[name].size if name in arrays else 0


def _repeats(keys: npt.NDArray[Any]) -> bool:
    """Whether a key is there twice; for millions of them sorting is faster than `np.unique`."""
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def _is_finite(array: npt.NDArray[Any]) -> bool:
    """Whether all values are numbers in single precision, in which models keep them."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(array.astype(np.float32)).all())


def write_file(folder: str | Path, data: bytes) -> None:
    """Write an archive into a folder, which is made where it is not there (`replace_file`)."""
    replace_file(Path(folder) / FILE_NAME, data)


def read_file(folder: str | Path) -> tuple[bytes, str]:
    """An archive from a folder, and its name. Raises `ModelFileError` where it is not there."""
    file = Path(folder) / FILE_NAME
    try:
        return file.read_bytes(), str(file)
    except OSError as error:
        raise ModelFileError(
            f"Cannot read {file}: {error.strerror}. Is the pipeline complete?"
        ) from None


def restore_space(space: FeatureSpace, arrays: Arrays) -> None:
    """Put the keys of checked arrays into a feature space."""
    space.index = KeyIndex(arrays["keys"].astype(np.uint64))
    if space.uses_evidence:
        space.evidence = Evidence(
            KeyIndex(arrays["evidence_keys"].astype(np.uint64)),
            arrays["evidence_counts"].astype(np.int32),
        )
    space.forget_lexemes(0)
    space.lexicons = {
        attribute: restore_lexicon(attribute, arrays, space.leaves_out(attribute))
        for attribute in space.memberships
    }
