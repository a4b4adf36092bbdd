"""Lexicons in saved models.

Arrays of `lexicon(NAME)`, those of `lexicon_exact(NAME)` likewise: `lexicon_keys:NAME` uint64
`[n]`, keys of all beginnings of terms; `lexicon_complete:NAME` `[n]`, which of them are whole
terms, bool, or int32 with the number of the term's label where terms have labels; these as a
JSON list of texts in `lexicon_labels:NAME`, uint8; `lexicon_single:NAME` bool `[n]` where own
entries are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import ModelFileError
from ..features.lexicons import MAXIMUM_LABELS, Lexicon
from ..features.templates import argument_of
from .arrays import Array, Shapes, blocks

_UNLABELLED = [""]
_LABEL = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")(, |\])')
"""A label in the list, and what comes after it."""
_LONGEST = 1 << 15
"""Bytes of a label; none of `features.lexicons.LONGEST_LABEL` characters takes more."""


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
    if leaves_out or _name(attribute, "single") in arrays:
        expected[_name(attribute, "single")] = (size, "b")
    return expected


def check_lexicon(attribute: str, arrays: Mapping[str, Array]) -> None:
    """Raise `ModelFileError` where terms have no such label; arrays have their shapes."""
    name = _name(attribute, "labels")
    try:
        n_labels = _count_labels(arrays[name].data) if name in arrays else 1
    except ValueError as error:
        raise ModelFileError(
            f"The array '{name}' of the saved model is no list of labels ({error})."
        ) from None
    name = _name(attribute, "complete")
    if any(block.max(initial=0) > n_labels for block in blocks(arrays[name])):
        raise ModelFileError(f"The array '{name}' of the saved model has labels beyond its own.")


def _count_labels(text: memoryview) -> int:
    """How many labels a list of them has. Raises `ValueError` where it is none.

    Reads one label after the other: a list of them all takes many times the memory of its text.
    """
    if bytes(text[:1]) != b"[":
        raise ValueError("it does not begin like a list")
    position = 1
    for n in range(1, MAXIMUM_LABELS + 1):
        found = _LABEL.match(text[position : position + _LONGEST])
        if found is None:
            raise ValueError(f"there is no label at byte {position}")
        label: str = json.loads(str(found[1], "utf8"))
        label.encode()  # lone surrogates raise an error
        position += found.end()
        if found[2] == b"]":
            if position != len(text):
                raise ValueError("it goes on behind its end")
            return n
    raise ValueError(f"it has more than {MAXIMUM_LABELS:,} labels")


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
    labels: list[str] = json.loads(str(array.data, "utf8"))
    return labels
