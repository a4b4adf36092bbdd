"""Checks of what a config gives: its type, and settings that several blocks have."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import signature
from numbers import Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import ConfigError

Made = TypeVar("Made", bound=Callable[..., Any])
_SHOWN = 100
"""Characters of what is of another type."""
_SIMPLE: Mapping[Any, tuple[type, ...]] = {
    str: (str, os.PathLike),
    Path: (str, os.PathLike),
    bool: (int,),
}
"""What is taken for them. Which numbers are whole, spaCy has seen to."""


def configured(made: Made) -> Made:
    """A function or class that a config calls, as it is, but arguments have to be of their types.

    spaCy looks at values of JSON, but not at what a block has made that stands in place of one, or
    of a block of another kind. Raises `ConfigError` for what is no value of a parameter's type.
    """
    is_class = isinstance(made, type)
    function: Any = made.__init__ if is_class else made

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        check_types(made.__name__, _hints(function), _bound(function, args, kwargs))
        return function(*args, **kwargs)

    if is_class:
        made.__init__ = checked  # type: ignore[method-assign]
        return made
    return checked  # type: ignore[return-value]


def check_types(of: str, types: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for what is given by names to something, of a type that is not stated."""
    for name, value in given.items():
        if name in types and not _fits(value, types[name]):
            raise ConfigError(
                f"{name} of {of} must be {_name(types[name])}, not {repr(value)[:_SHOWN]}. Change "
                "it in the block of the config that gives it."
            )


def _name(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind)) if get_origin(kind) is None else str(kind)


@functools.cache
def _hints(function: Any) -> Mapping[str, Any]:
    return get_type_hints(function)


def _bound(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments by their names; a `TypeError` is that of the call."""
    return signature(function).bind(*args, **kwargs).arguments


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is Literal:
        return value in inner
    if kind in (int, float):
        is_number = isinstance(value, Real)
        return is_number and (not isinstance(value, int) or abs(value) <= _LARGEST)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_fits(each, inner[1]) for each in value.values())
    if origin is not None and issubclass(origin, Sequence):
        is_list = isinstance(value, Collection) and not isinstance(value, str | Mapping)
        return is_list and all(_fits(each, inner[0]) for each in value)
    return kind is Any or isinstance(value, _SIMPLE.get(kind, origin or kind))


_LARGEST = 1e100
"""Of settings; their squares, and one over them, are still numbers."""


def check_positive(block: str, **settings: float) -> None:
    """Raise `ConfigError` for settings of a block that are not finite and above 0."""
    for name, value in settings.items():
        if not 1 / _LARGEST <= value <= _LARGEST:
            raise ConfigError(
                f"{name} must be a finite number above 0 (from {1 / _LARGEST:g} to "
                f"{_LARGEST:g}), not {value}. Change it in the [{block}] block."
            )


_MOST = 2**32 - 1
"""Of counts and seeds, as elsewhere in spaCy and NumPy."""


def check_counts(block: str, **settings: int) -> None:
    """Raise `ConfigError` for settings of a block that are below 0 or too large for kernels."""
    for name, value in settings.items():
        if not 0 <= value <= _MOST:
            raise ConfigError(
                f"{name} must be a number from 0 to {_MOST:,}, not {value}. Change it in the "
                f"[{block}] block."
            )
