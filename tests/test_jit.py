"""Kernels as Python calls them."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

from spacy_cascade.jit import kernel
from spacy_cascade.types import Floats1d, Ints1d


@kernel
def _ends(values: Floats1d) -> tuple[Floats1d, Ints1d]:
    return values[:1].copy(), np.arange(2).astype(np.int32)


@kernel
def _twice(values: Floats1d) -> tuple[Floats1d, Ints1d]:
    first, numbers = _ends(values)
    return 2.0 * first, numbers


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_ctrl_c_is_no_other_error() -> None:
    """Numba makes arrays and tuples by Python functions, in which Ctrl-C may come."""
    values, interrupts = np.ones(3), 0
    _twice(values)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005)
                while True:
                    _twice(values)
            except KeyboardInterrupt:
                interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 20


def test_kernels_call_each_other() -> None:
    first, numbers = _twice(np.array([3.0, 1.0]))
    assert first.tolist() == [6.0]
    assert numbers.tolist() == [0, 1]
