"""Memory that was freed, and that the C library has not given back to the system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


def return_freed() -> None:
    """Give it back, where the C library can; it takes milliseconds.

    glibc keeps the room of arrays below 32 MB when they are freed. Other sizes do not fit into it.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        of_library: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # Not glibc; Windows takes no None.
        return None
    return of_library
