"""Kernels as Python calls them."""

from __future__ import annotations

import signal
import time
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest
from numba import config
from numba.core.dispatcher import Dispatcher

import spacy_cascade
from spacy_cascade.jit import helper, kernel
from spacy_cascade.types import Floats1d, Ints1d

IS_INTERPRETED = bool(config.DISABLE_JIT)


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


@helper
def _first(values):  # type: ignore[no-untyped-def]
    return values[:1], 1


@kernel
def _first_of(values: Floats1d) -> float:
    return float(_first(values)[0][0])


@pytest.mark.skipif(IS_INTERPRETED, reason="Python counts references")
def test_a_helper_returns_no_array() -> None:
    """It would be freed while it is used."""
    with pytest.raises(Exception, match="returns an array"):
        _first_of(np.ones(3))


@pytest.mark.skipif(IS_INTERPRETED, reason="Python counts references")
def test_helpers_call_helpers_only() -> None:
    """Numba compiles what they call as it compiles them."""
    modules = walk_packages(spacy_cascade.__path__, "spacy_cascade.")
    compiled = {
        value
        for module in modules
        if not module.name.endswith("__main__")
        for value in vars(import_module(module.name)).values()
        if isinstance(value, Dispatcher)
    }
    helpers = [each for each in compiled if "_nrt" in each.targetoptions]
    assert len(helpers) > 50
    for each in helpers:
        function = each.py_func
        for name in function.__code__.co_names:
            callee = function.__globals__.get(name)
            if isinstance(callee, Dispatcher):
                assert {"_nrt", "inline"} & callee.targetoptions.keys(), (function, name)
