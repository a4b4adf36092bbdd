"""Lexicons in saved models.

Arrays of `lexicon(NAME)`, those of `lexicon_exact(NAME)` likewise: `lexicon_keys:NAME` uint64
`[n]`, keys of all beginnings of terms; `lexicon_complete:NAME` `[n]`, which of them are whole
terms, bool, or int32 with the number of the term's label where terms have labels; these as a
JSON list of texts in `lexicon_labels:NAME`, uint8; `lexicon_single:NAME` bool `[n]` where own
entries are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import ModelFileError
from ..features.lexicons import Lexicon
from ..features.templates import argument_of

Array: TypeAlias = npt.NDArray[Any]
Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], str]]
"""Shape and kind of arrays by name."""
_UNLABELLED = [""]


def _name(attribute: str, part: str) -> str:
    return f"{attribute.partition('(')[0]}_{part}:{argument_of(attribute)}"


def lexicon_arrays(attribute: str, lexicon: Lexicon) -> dict[str, Array]:
    """The arrays of a lexicon."""
    arrays: dict[str, Array] = {_name(attribute, "keys"): lexicon.keys}
    if list(lexicon.labels) == _UNLABELLED:
        arrays[_name(attribute, "complete")] = lexicon.label > 0
    else:
        arrays[_name(attribute, "complete")] = lexicon.label
        text = json.dumps(lexicon.labels, ensure_ascii=False).encode("utf8", "surrogatepass")
        arrays[_name(attribute, "labels")] = np.frombuffer(text, dtype=np.uint8)
    if lexicon.is_single is not None:
        arrays[_name(attribute, "single")] = lexicon.is_single
    return arrays


def expected_arrays(attribute: str, arrays: Mapping[str, Array], leaves_out: bool) -> Shapes:
    """Shape and kind of the arrays that a lexicon must have.

    leaves_out: whether it needs to know which terms are left out in training.
    """
    keys, labels = _name(attribute, "keys"), _name(attribute, "labels")
    size = (arrays[keys].size if keys in arrays else 0,)
    kind = "i4" if labels in arrays else "b"
    expected: Shapes = {keys: (size, "u8"), _name(attribute, "complete"): (size, kind)}
    if labels in arrays:
        expected[labels] = ((arrays[labels].size,), "u1")
    if leaves_out:
        expected[_name(attribute, "single")] = (size, "b")
    return expected


def check_lexicon(attribute: str, arrays: Mapping[str, Array]) -> None:
    """Raise `ModelFileError` where terms have no such label; arrays have their shapes."""
    try:
        n_labels = len(_labels(attribute, arrays))
    except Exception as error:
        # As for headers: damaged JSON raises all sorts of errors.
        raise ModelFileError(
            f"The array '{_name(attribute, 'labels')}' of the saved model is no list of labels "
            f"({error})."
        ) from None
    name = _name(attribute, "complete")
    if arrays[name].astype(np.int64).max(initial=0) > n_labels:
        raise ModelFileError(f"The array '{name}' of the saved model has labels beyond its own.")


def restore_lexicon(attribute: str, arrays: Mapping[str, Array], leaves_out: bool) -> Lexicon:
    """A lexicon of checked arrays."""
    return Lexicon(
        arrays[_name(attribute, "keys")].astype(np.uint64),
        arrays[_name(attribute, "complete")].astype(np.int32),
        _labels(attribute, arrays),
        arrays[_name(attribute, "single")].astype(np.bool_) if leaves_out else None,
    )


def _labels(attribute: str, arrays: Mapping[str, Array]) -> Sequence[str]:
    array = arrays.get(_name(attribute, "labels"))
    if array is None:
        return _UNLABELLED
    labels = json.loads(array.astype(np.uint8).tobytes().decode("utf8", "surrogatepass"))
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError("not a list of texts")
    return labels
