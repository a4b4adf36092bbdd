"""How kernels are compiled: without the interpreter lock, cached where a cache can be had."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit

try:
    from .kernel_cache import KernelCache
except (ImportError, AttributeError):  # A numba of other insides: its own cache will do.
    KernelCache = None  # type: ignore[assignment,misc]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile on first use and keep the machine code (`kernel_cache`).

    Where it can be kept nowhere, a kernel is compiled anew in each process.
    """
    compiled = njit(nogil=True)(function)
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        _keep(compiled)
    return cast(Kernel, compiled)


def _keep(compiled: Any) -> None:
    if KernelCache is not None:
        compiled._cache = KernelCache(compiled)
    else:
        with suppress(RuntimeError):  # There is no folder to keep it in.
            compiled.enable_caching()


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
