"""What the key of a kept kernel is made of, and what is made again as it is read."""

from __future__ import annotations

import math
import os
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.environment import _rebuild_env
from numba.extending import intrinsic

from spacy_cascade.jit import kernel
from spacy_cascade.kernel_cache import _described, _environment, _layout, _sources

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")


def scaled_by(factor: float) -> Callable[..., Any]:
    @kernel
    def scaled(x: float) -> float:
        return factor * x

    return scaled


def with_inner(is_square: bool) -> Callable[..., Any]:
    """Two kernels that differ in the code of a function in them alone."""
    if is_square:

        @kernel
        def changed(x: float) -> float:
            def inner(y: float) -> float:
                return y * y

            return inner(x)
    else:

        @kernel
        def changed(x: float) -> float:
            def inner(y: float) -> float:
                return y + y

            return inner(x)

    return changed


def with_intrinsic(is_square: bool) -> Callable[..., Any]:
    """Two kernels whose intrinsic functions differ in what they write."""

    @intrinsic
    def power(typing: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            times = [arguments[0]] * (2 if is_square else 1)
            return builder.fmul(*times, arguments[0])

        return x(x), generate

    @kernel
    def changed(x: float) -> float:
        return power(x)

    return changed


@pytest.mark.parametrize("made", [scaled_by, with_inner, with_intrinsic])
def test_values_and_functions_within_count(made: Callable[[Any], Any]) -> None:
    assert list(_sources(made(1))) == list(_sources(made(1)))
    assert list(_sources(made(1))) != list(_sources(made(0)))


class _Pair(NamedTuple):
    first: int
    second: int


_Swapped = namedtuple("_Pair", "second first")


def test_fields_within_fields_count() -> None:
    """Two classes of one name, whose fields have another order."""
    layouts = [_layout(numba.typeof((1.0, made(1, 2)))) for made in (_Pair, _Pair, _Swapped)]
    assert layouts[0] == layouts[1] != layouts[2]


def test_values_are_described_by_what_they_are() -> None:
    one, other = np.array([1, 2]), np.array([[1, 2]])
    texts = [
        _described(x) for x in (one, other, one.astype(np.int32), _Pair, _Swapped, len, 1, "1")
    ]
    assert len(set(texts)) == len(texts)
    assert _described(one) == _described(np.array([1, 2]))
    long = np.arange(5000)  # of which NumPy shows the ends only
    assert _described(long) != _described(np.where(long == 2500, 0, long))


@pytest.mark.parametrize("module", ["math", "no.such.module"])
def test_what_a_kernel_reads_of_the_interpreter_is_made_once(module: str) -> None:
    """As numba makes it, but without an import of the module."""
    made = _environment(module, [np.dtype("f8"), 2], f"of this test {module}")
    assert made.consts == [np.dtype("f8"), 2]
    assert made.globals == (vars(math) if module == "math" else {"__name__": module})
    assert made is _environment(module, [], made.env_name)
    assert made is _rebuild_env("math", [], f"of this test {module}")
