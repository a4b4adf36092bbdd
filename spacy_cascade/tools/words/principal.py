"""Linear maps of vectors: to the directions in which they differ most, and to other vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...types import Reals2d

_RIDGE = 0.01
"""Of the variance, what is added to that of each number, so that few words do not fit too well."""


def principal_components(points: Reals2d, width: int) -> Reals2d:
    """Coordinates of points `[n, H]` on their first `width` principal axes, float32.

    There are fewer where `H` is smaller. Of the two directions of an axis, the one is taken in
    which its largest number is positive, so equal points give equal coordinates.
    """
    centred = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :width]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return np.asarray(centred @ (axes * np.sign(largest)), dtype=np.float32)


def linear_map(given: Reals2d, wanted: Reals2d) -> Callable[[Reals2d], Reals2d]:
    """The map with the least squared error from vectors `[n, D]` to vectors `[n, E]` (ridge)."""
    mean, target = given.mean(axis=0, dtype=np.float64), wanted.mean(axis=0, dtype=np.float64)
    centred = given.astype(np.float64) - mean
    products = centred.T @ centred
    ridge = _RIDGE * np.trace(products) / len(products) * np.eye(len(products))
    weights = np.linalg.lstsq(products + ridge, centred.T @ (wanted - target), rcond=None)[0]
    return lambda points: np.asarray((points - mean) @ weights + target, dtype=np.float32)
