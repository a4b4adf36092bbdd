"""Compiles kernels, which release the interpreter lock and are cached on disk if possible."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit

try:
    from .kernel_cache import KernelCache
except (ImportError, AttributeError):  # A numba with other internals: use its own cache.
    KernelCache = None  # type: ignore[assignment,misc]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile on first use, and cache the machine code (`kernel_cache`) if a folder is writable."""
    compiled: Any = njit(nogil=True)(function)
    if KernelCache is not None and not config.DISABLE_JIT:  # type: ignore[attr-defined]
        compiled._cache = KernelCache(compiled)
    elif not config.DISABLE_JIT:  # type: ignore[attr-defined]
        with suppress(RuntimeError):  # No folder is writable.
            compiled.enable_caching()
    return cast(Kernel, compiled)


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that only other kernels call."""
    return kernel(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A helper that is compiled into every kernel that calls it.

    If the compiler is disabled, NumPy must not warn about products of keys that wrap around.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore")(function)
    compiled: Callable[..., Any] = njit(inline="always")(function)
    return compiled
