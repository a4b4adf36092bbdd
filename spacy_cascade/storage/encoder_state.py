"""The state of an encoder in a model file: the bytes that thinc makes of a model, as an array.

A state is taken only where each of its arrays has the shape that the encoder's own sizes ask for:
layers look rows up by number, and some check no bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from thinc.api import Model

from ..errors import ModelFileError
from .arrays import Array, Arrays

ENCODER = "tok2vec"
"""Name of the array."""
Encoder: TypeAlias = Model[Any, Any]
_SHAPES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "hashembed": {"E": ("nV", "nO")},
    "embed": {"E": ("nV", "nO")},
    "static_vectors": {"W": ("nO", "nM")},
    "linear": {"W": ("nO", "nI"), "b": ("nO",)},
    "mish": {"W": ("nO", "nI"), "b": ("nO",)},
    "relu": {"W": ("nO", "nI"), "b": ("nO",)},
    "maxout": {"W": ("nO", "nP", "nI"), "b": ("nO", "nP")},
    "layernorm": {"G": ("nI",), "b": ("nI",)},
}
"""Of the parameters of layers, by the names of sizes."""


def encoder_arrays(encoder: Encoder | None) -> Arrays:
    """What a file holds of an encoder; nothing where there is none."""
    return {} if encoder is None else {ENCODER: np.frombuffer(encoder.to_bytes(), dtype=np.uint8)}


@dataclass(frozen=True)
class CheckedEncoder:
    """An encoder with a state that it can have; width: of its vectors then."""

    encoder: Encoder
    state: bytes
    width: int

    def restore(self) -> None:
        """Have the state."""
        self.encoder.from_bytes(self.state)


def checked_encoder(
    encoder: Encoder | None, state: Array | None, is_needed: bool
) -> CheckedEncoder | None:
    """What a file says of an encoder; nothing where there is none, or it has no state yet.

    is_needed: whether there are weights for its vectors. Raises `ModelFileError` for a state that
    is missing, that belongs to no encoder, or that this one cannot have.
    """
    if (encoder is None) != (state is None) and (encoder is None or is_needed):
        has, lacks = ("configuration", "file") if state is None else ("file", "configuration")
        raise ModelFileError(
            f"The {has} has a tok2vec, and the {lacks} has none. Load the model with its own "
            "config.cfg."
        )
    if encoder is None or state is None:
        return None
    content = state.tobytes()
    tried = encoder.copy()
    try:
        tried.from_bytes(content)
    except Exception as error:
        raise ModelFileError(
            "The state of the tok2vec in the saved model is damaged, or of another tok2vec "
            f"({str(error)[:100]}). Load the model with its own config.cfg."
        ) from None
    width = tried.maybe_get_dim("nO")
    if width is None:
        raise ModelFileError(
            "The tok2vec in the saved model does not say how wide its vectors are."
        )
    _check_shapes(encoder, tried)
    return CheckedEncoder(encoder, content, width)


def _check_shapes(encoder: Encoder, tried: Encoder) -> None:
    """Raise `ModelFileError` where arrays do not have the shapes that sizes of layers ask for.

    encoder: as the config makes it. tried: the same with the state of the file, which may have
    other names for the layers.
    """
    for own, node in zip(encoder.walk(), tried.walk(), strict=True):
        for name in node.param_names:
            if node.has_param(name):
                values: Any = node.ops.to_numpy(node.get_param(name))  # type: ignore[no-untyped-call]
                _check_param(node, own.name, name, np.asarray(values))


def _check_param(node: Encoder, layer: str, name: str, values: Array) -> None:
    sizes = _SHAPES.get(layer, {}).get(name)
    if sizes is not None and values.shape != tuple(map(node.maybe_get_dim, sizes)):
        raise _wrong(layer, f"'{name}' has the shape {values.shape}")
    if not np.issubdtype(values.dtype, np.floating) or not np.isfinite(values).all():
        raise _wrong(layer, f"'{name}' has values that are no finite numbers")


def _wrong(layer: str, why: str) -> ModelFileError:
    return ModelFileError(
        f"The state of the tok2vec in the saved model cannot be used: in '{layer}', {why}. "
        "Load the model with its own config.cfg, or train it again."
    )
