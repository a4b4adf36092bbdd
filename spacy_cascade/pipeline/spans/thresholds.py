"""Which spans are sure enough to be kept: thresholds on their confidences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ConfigError
from ...types import Floats1d

GENERAL, BY_LABEL = "threshold", "label_thresholds"
"""Names of the settings."""


def check_thresholds(settings: Mapping[str, Any], name: str) -> None:
    """Raise `ConfigError` for thresholds that are no probabilities, or without confidences."""
    general, by_label = settings[GENERAL], settings[BY_LABEL]
    for value in (general, *by_label.values()):
        if not 0 <= value <= 1:
            raise ConfigError(f"A threshold of '{name}' must be from 0 to 1, not {value}.")
    if (general or by_label) and not settings["confidence"]:
        raise ConfigError(
            f"'{name}' has a threshold but no confidences. Set confidence = true, or leave out "
            f"{GENERAL} and {BY_LABEL}."
        )


def thresholds_of(settings: Mapping[str, Any], labels: Sequence[str], name: str) -> Floats1d:
    """The threshold of each label, float64 `[C]`.

    Raises `ConfigError` for a threshold of a label that the component does not know.
    """
    by_label: Mapping[str, float] = settings[BY_LABEL]
    unknown = sorted(set(by_label) - set(labels))
    if unknown:
        raise ConfigError(
            f"'{name}' has a threshold for '{unknown[0]}', which it does not know. Its labels: "
            f"{', '.join(labels)}."
        )
    return np.array([by_label.get(label, settings[GENERAL]) for label in labels], dtype=np.float64)
