"""Compiles kernels, which release the interpreter lock and are cached on disk if possible."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np

from ._version import NEWEST_PYTHON
from .caching import cached_property


def _advice() -> str:
    """What to do where numba cannot be imported."""
    python = ".".join(map(str, sys.version_info[:2]))
    if sys.version_info[:2] > NEWEST_PYTHON:
        newest = ".".join(map(str, NEWEST_PYTHON))
        return f"It has no release for Python {python} yet. Use Python 3.10 to {newest}."
    return f"Install it again for Python {python}: pip install --force-reinstall numba."


try:
    from numba import config, njit, types
except Exception as error:  # It may be missing, or refuse this Python or NumPy by any error.
    raise ImportError(
        "spacy_cascade cannot import numba, which compiles its kernels: "
        f"{str(error).rstrip('.')}. {_advice()}"
    ) from error

try:
    from .kernel_cache import KernelCache
except (ImportError, AttributeError):  # A numba with other internals: use its own cache.
    KernelCache = None  # type: ignore[assignment,misc]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_OPTIONS: Any = {"nogil": True, "no_cfunc_wrapper": True}
"""Nothing calls kernels as functions of C, for which they would be compiled once more."""


def kernel(function: Kernel) -> Kernel:
    """Compile on first use, and cache the machine code (`kernel_cache`) if a folder is writable."""
    return _compile(function, _interruptible)


def _compile(function: Kernel, called: Callable[[Any], Any], **options: Any) -> Kernel:
    """called: makes of numba's class of dispatchers one that answers calls."""
    compiled: Any = njit(**_OPTIONS, **options)(function)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return cast(Kernel, compiled)
    compiled.__class__ = called(compiled.__class__)
    if KernelCache is not None:
        compiled._cache = KernelCache(compiled)
    else:
        with suppress(RuntimeError):  # No folder is writable.
            compiled.enable_caching()
    return cast(Kernel, compiled)


@cache
def _uncollected(dispatcher: Any) -> Any:
    """A dispatcher whose compilation no search for garbage interrupts: that takes a ninth of it."""

    class Uncollected(dispatcher):  # type: ignore[misc]
        def compile(self, signature: Any) -> Any:
            is_enabled = gc.isenabled()
            gc.disable()
            try:
                return dispatcher.compile(self, signature)
            finally:
                if is_enabled:
                    gc.enable()

    return Uncollected


@cache
def _interruptible(dispatcher: Any) -> Any:
    """A dispatcher whose calls end by a `KeyboardInterrupt` when Ctrl-C comes.

    Numba calls Python functions while it makes the results. It reports a Ctrl-C that comes then
    as a `SystemError`, which error handlers of a pipeline would take for a failure of the Docs.
    """

    class Interruptible(_uncollected(dispatcher)):  # type: ignore[misc]
        def __call__(self, *arguments: Any) -> Any:
            try:
                return dispatcher.__call__(self, *arguments)
            except SystemError as error:
                if _is_interrupt(error):
                    raise KeyboardInterrupt from error
                raise

    return Interruptible


def _is_interrupt(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def maker(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that kernels call, and that makes or returns arrays.

    Compilation takes a sixth less without what Python calls. Where Python calls it, too, it is
    compiled as a kernel besides.
    """
    return _compile(function, _within, no_cpython_wrapper=True)


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that kernels call, as `maker`, but that makes and returns no array.

    It counts no references to arrays: a short function that does takes ten times as long. What it
    calls is compiled so too, and so must be helpers.
    """
    return _compile(function, _borrowing, no_cpython_wrapper=True, _nrt=False)


@cache
def _within(dispatcher: Any) -> Any:
    """A dispatcher of what has no wrapper for Python; for Python, it has another one."""

    class Within(_uncollected(dispatcher)):  # type: ignore[misc]
        @cached_property
        def _for_python(self) -> Callable[..., Any]:
            return kernel(cast(Callable[..., Any], self.py_func))

        def __call__(self, *arguments: Any) -> Any:
            return self._for_python(*arguments)

    return Within


@cache
def _borrowing(dispatcher: Any) -> Any:
    """A dispatcher that refuses a function which returns arrays: nobody would keep them."""

    class Borrowing(_within(dispatcher)):  # type: ignore[misc]
        def get_call_template(self, *arguments: Any) -> Any:
            found = dispatcher.get_call_template(self, *arguments)
            for signature in self.nopython_signatures:
                if _has_arrays(signature.return_type):
                    raise TypeError(f"{self.py_func} returns an array: make it a maker.")
            return found

    return Borrowing


def _has_arrays(kind: Any) -> bool:
    return isinstance(kind, types.Array) or any(map(_has_arrays, getattr(kind, "types", ())))


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A helper that is compiled into every kernel that calls it.

    If the compiler is disabled, NumPy must not warn about products of keys that wrap around.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore")(function)
    compiled: Callable[..., Any] = njit(inline="always")(function)
    return compiled
