"""Properties that are computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """As `functools.cached_property` of Python 3.12: no lock is held while the value is computed.

    The one of Python 3.10 and 3.11 has a lock for all objects of a class. Threads wait for each
    other there, and a process that is forked meanwhile waits forever. Without it two threads may
    compute a value at the same time; values must not depend on which one is kept.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> cached_property[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type[Any]) -> Value: ...

    def __get__(self, instance: object | None, owner: type[Any]) -> cached_property[Value] | Value:
        if instance is None:
            return self
        # Later the value is found in the object itself, and this is not called.
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
