"""Kernels as Python calls them."""

from __future__ import annotations

import gc
import signal
import time
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from numba import config, types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

import spacy_cascade
from spacy_cascade.jit import helper, inlined, kernel, maker
from spacy_cascade.types import Floats1d, Ints1d

IS_INTERPRETED = bool(config.DISABLE_JIT)


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests compile what they define, and leave nothing for others."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))


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


def interrupted(cause: BaseException | None, context: BaseException | None) -> SystemError:
    """As numba reports it, which raises one error within another, or because of another."""
    error = SystemError("a result is missing")
    error.__cause__, error.__context__ = cause, context
    return error


OTHER = ValueError("no interrupt")
INTERRUPT = KeyboardInterrupt()


@pytest.mark.skipif(IS_INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (interrupted(INTERRUPT, None), KeyboardInterrupt),
        (interrupted(None, INTERRUPT), KeyboardInterrupt),
        (interrupted(interrupted(None, INTERRUPT), OTHER), KeyboardInterrupt),
        (interrupted(None, None), SystemError),
        (interrupted(OTHER, OTHER), SystemError),
        (OTHER, ValueError),
    ],
)
def test_only_errors_that_come_from_ctrl_c_are_interrupts(
    error: Exception, expected: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(CPUDispatcher, "__call__", fail)
    with pytest.raises(expected) as raised:
        kernel(lambda x: x)(1)
    assert error in (raised.value, raised.value.__cause__)


@pytest.mark.parametrize("compiler", [kernel, maker, helper, inlined])
def test_functions_stay_plain_without_a_compiler(
    compiler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "DISABLE_JIT", 1)

    def product(x: Any, y: Any) -> Any:
        return x * y

    compiled = compiler(product)
    assert compiled(3, 4) == 12
    assert not isinstance(compiled, Dispatcher)
    if compiler is inlined:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert compiled(np.uint64(2**63 + 1), np.uint64(2)) == 2, "keys wrap around"


@pytest.mark.skipif(IS_INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("compiler", [kernel, maker, helper])
def test_only_kernels_have_a_wrapper_for_python_and_release_the_lock_there(
    compiler: Any,
) -> None:
    """Nothing has one for C, and helpers count no references; what is called has its results."""
    compiled = compiler(lambda x: (x[1:], 1))
    compiled.compile((types.float64[::1],))
    (code,) = compiled.inspect_llvm().values()
    for name in ("PyArg_UnpackTuple", "PyEval_SaveThread", "PyEval_RestoreThread"):
        assert (name in code) == (compiler is kernel), name
    assert ("NRT_incref" in code) == (compiler is not helper)
    assert "cfunc" not in code
    assert compiled(np.arange(3.0))[0].tolist() == [1.0, 2.0]


def test_kernels_call_each_other() -> None:
    first, numbers = _twice(np.array([3.0, 1.0]))
    assert first.tolist() == [6.0]
    assert numbers.tolist() == [0, 1]


@pytest.mark.skipif(IS_INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("is_enabled", [True, False])
def test_no_garbage_is_looked_for_during_compilation(
    is_enabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError(f"it is looked for: {gc.isenabled()}")

    monkeypatch.setattr(CPUDispatcher, "compile", fail)
    (gc.enable if is_enabled else gc.disable)()
    try:
        with pytest.raises(ValueError, match="it is looked for: False"):
            kernel(lambda x: x).compile((types.float64,))
        assert gc.isenabled() == is_enabled
    finally:
        gc.enable()


@pytest.mark.parametrize("compiler", [kernel, maker, helper, inlined])
def test_kernels_call_what_is_compiled_in_any_way(compiler: Any) -> None:
    after = compiler(lambda values: values[len(values) - 1] + 1.0)
    assert kernel(lambda values: 2.0 * after(values))(np.arange(3.0)) == 6.0


@pytest.mark.skipif(IS_INTERPRETED, reason="Python counts references")
def test_a_helper_returns_no_array() -> None:
    """It would be freed while it is used."""
    first = helper(lambda values: (values[:1], 1))
    with pytest.raises(Exception, match="returns an array"):
        kernel(lambda values: first(values)[0][0])(np.ones(3))


@pytest.mark.skipif(IS_INTERPRETED, reason="Python counts references")
def test_helpers_call_helpers_only() -> None:
    """Numba compiles what they call as it compiles them."""
    compiled = set[Dispatcher]()
    for module in walk_packages(spacy_cascade.__path__, "spacy_cascade."):
        if not module.name.endswith("__main__"):
            try:
                values = vars(import_module(module.name)).values()
            except ModuleNotFoundError as error:
                if str(error.name).startswith("spacy_cascade"):
                    raise
                continue  # it needs an extra that is not installed
            compiled |= {value for value in values if isinstance(value, Dispatcher)}
    helpers = [each for each in compiled if "_nrt" in each.targetoptions]
    assert len(helpers) > 50
    for each in helpers:
        function = each.py_func
        for name in function.__code__.co_names:
            callee = function.__globals__.get(name)
            if isinstance(callee, Dispatcher):
                assert {"_nrt", "inline"} & callee.targetoptions.keys(), (function, name)
