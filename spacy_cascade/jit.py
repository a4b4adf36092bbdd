"""How kernels are compiled: without the interpreter lock, cached where a cache can be had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile on first use and keep the machine code in numba's cache.

    Where neither the installation nor the user's cache folder can be written to, a kernel
    is compiled anew in each process.
    """
    try:
        return cast(Kernel, njit(nogil=True, cache=True)(function))
    except RuntimeError:
        return cast(Kernel, njit(nogil=True)(function))


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel for use in its own module, whose arguments are those of its callers."""
    return kernel(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A helper that is compiled into every kernel that calls it.

    Without the compiler NumPy would warn where a product of keys wraps around, as it may.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore")(function)
    compiled: Callable[..., Any] = njit(inline="always")(function)
    return compiled
