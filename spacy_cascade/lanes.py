"""Numbers side by side, which a processor adds and multiplies at once, for kernels.

The compiler finds such steps only where that does not change the order of a sum, nor its last bits,
and keeps no sum in a register that is as wide as the row of a matrix. So the kernels that most of
the time of training is spent in say themselves what goes side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add, mul
from typing import Any, TypeAlias

import numpy as np
from numba import config, types
from numba.core import cgutils as untyped
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

cgutils: Any = untyped
ir = cgutils.ir
Generate: TypeAlias = tuple[Any, Callable[..., Any]]
"""The signature of a call, and what writes its code."""


class Lanes(types.Type):
    """The type of `n` numbers side by side."""

    def __init__(self, dtype: Any, n: int) -> None:
        super().__init__(f"Lanes({dtype}, {n})")
        self.dtype, self.n = dtype, n


@register_model(Lanes)
class _InRegister(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        number = manager.lookup(lanes.dtype).get_value_type()
        vector = ir.VectorType(number, lanes.n)
        super().__init__(manager, lanes, vector)  # type: ignore[no-untyped-call]


def _places(context: Any, builder: Any, signature: Any, arguments: Any, n: int) -> list[Any]:
    """Pointers to `n` numbers of an array; the first two arguments are the array and an index.

    One pointer, to all of them, where they stand side by side in memory.
    """
    kind, index = signature.args[:2]
    array = context.make_array(kind)(context, builder, arguments[0])
    indices = cgutils.unpack_tuple(builder, arguments[1])
    typed = zip(indices, index.types, strict=True)
    *before, first = [context.cast(builder, *each, types.intp) for each in typed]
    numbers = ir.VectorType(context.get_data_type(kind.dtype), n)
    found = []
    for i in range(1 if kind.layout == "C" else n):
        place = builder.add(first, context.get_constant(types.intp, i))
        at = [*before, place]
        found.append(cgutils.get_item_pointer(context, builder, kind, array, at))
    return found if len(found) > 1 else [builder.bitcast(found[0], numbers.as_pointer())]


def _number(i: int) -> Any:
    return ir.Constant(ir.IntType(32), i)


def _joined(builder: Any, numbers: list[Any]) -> Any:
    vector = ir.VectorType(numbers[0].type, len(numbers))
    found = ir.Constant(vector, ir.Undefined)
    for i, each in enumerate(numbers):
        found = builder.insert_element(found, each, _number(i))
    return found


def _load(typing: Any, array: Any, index: Any, n: Any) -> Generate:
    lanes = Lanes(array.dtype, n.literal_value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _places(context, builder, signature, arguments, lanes.n)
        parts = [builder.load(place, align=array.dtype.bitwidth // 8) for place in places]
        return parts[0] if len(parts) == 1 else _joined(builder, parts)

    return lanes(array, index, n), generate


def _store(typing: Any, array: Any, index: Any, numbers: Any) -> Generate:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _places(context, builder, signature, arguments, numbers.n)
        parts = [builder.extract_element(arguments[2], _number(i)) for i in range(numbers.n)]
        for place, part in zip(places, parts if len(places) > 1 else arguments[2:], strict=True):
            builder.store(part, place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, numbers), generate


def _in_precision_of(lanes: Lanes, context: Any, builder: Any, found: Any) -> Any:
    wanted = context.get_value_type(lanes)
    return found if found.type == wanted else builder.fpext(found, wanted)


def _doubles(typing: Any, numbers: Any) -> Generate:
    wide = Lanes(types.float64, numbers.n)
    return wide(numbers), lambda context, builder, signature, arguments: _in_precision_of(
        wide, context, builder, arguments[0]
    )


def _plus(typing: Any, x: Any, y: Any) -> Generate:
    return x(x, y), lambda context, builder, signature, arguments: builder.fadd(
        arguments[0], _in_precision_of(x, context, builder, arguments[1])
    )


def _times(typing: Any, x: Any, y: Any) -> Generate:
    return x(x, y), lambda context, builder, signature, arguments: builder.fmul(
        arguments[0], _in_precision_of(x, context, builder, arguments[1])
    )


def _filled(typing: Any, number: Any, n: Any) -> Generate:
    lanes = Lanes(types.float64, n.literal_value)
    return lanes(types.float64, n), lambda context, builder, signature, arguments: _joined(
        builder, [arguments[0]] * lanes.n
    )


def _one_of(typing: Any, numbers: Any, i: Any) -> Generate:
    return types.float64(
        numbers, i
    ), lambda context, builder, signature, arguments: builder.extract_element(
        arguments[0], _number(i.literal_value)
    )


def _view(array: Any, index: Any, n: int) -> Any:
    return array[index[:-1]][index[-1] : index[-1] + n]


def _put(array: Any, index: Any, numbers: Any) -> None:
    _view(array, index, len(numbers))[:] = numbers


def _compiled(written: Any, plain: Any) -> Any:
    """What kernels call; plain: the same where the compiler is disabled."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return plain
    return intrinsic(prefer_literal=True)(written)


load = _compiled(_load, lambda array, index, n: _view(array, index, n).copy())
"""`load(array, index, n)`: `n` numbers of an array, from an index on: a tuple, none below zero."""
store = _compiled(_store, _put)
"""`store(array, index, lanes)`: put them there; the array has numbers of the same kind."""
doubles = _compiled(_doubles, lambda numbers: numbers.astype(np.float64))
"""`doubles(lanes)`: the same numbers in double precision."""
plus, times = _compiled(_plus, add), _compiled(_times, mul)
"""Of two, in the precision of the first, which is not less; rounded as `+` and `*` are."""
filled = _compiled(_filled, lambda number, n: np.full(n, number))
"""`filled(number, n)`: the same double `n` times."""
one_of = _compiled(_one_of, lambda numbers, i: float(numbers[i]))
"""`one_of(lanes, i)`: one of the doubles."""
