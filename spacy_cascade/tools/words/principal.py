"""Fewer numbers in a vector: the directions in which vectors differ most."""

from __future__ import annotations

import numpy as np

from ...types import Reals2d


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
