"""Hooks of msgpack are looked up once, and again where another one is registered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import catalogue
import numpy as np
import pytest
import srsly
from srsly import msgpack

import spacy_cascade
from spacy_cascade.msgpack_hooks import RememberedHooks, remember_hooks

PLACE = ("srsly", "msgpack_encoders", "of_this_test")


class Point:
    pass


def as_text(text: str) -> Any:
    def encode(value: Any, chain: Any = None) -> Any:
        if isinstance(value, Point):
            return text
        return value if chain is None else chain(value)

    return encode


@pytest.fixture
def place() -> Iterator[tuple[str, ...]]:
    yield PLACE
    catalogue.REGISTRY.pop(PLACE, None)


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the registries that go through all entry points."""
    found: list[str] = []
    real = catalogue.Registry.get_entry_points

    def counted(registry: catalogue.Registry) -> dict[str, Any]:
        found.append(registry.namespace[-1])
        return real(registry)

    monkeypatch.setattr(catalogue.Registry, "get_entry_points", counted)
    return found


def test_the_package_has_made_srsly_remember_them() -> None:
    assert spacy_cascade.__version__
    for registry in (msgpack.msgpack_encoders, msgpack.msgpack_decoders):
        assert isinstance(registry.get_all, RememberedHooks)
        before = registry.get_all
        remember_hooks()
        assert registry.get_all is before
        assert registry.get_all() == catalogue.Registry.get_all(registry)


@pytest.mark.parametrize("kept", ["msgpack_encoders", "msgpack_decoders"])
def test_a_registry_that_srsly_has_no_more_is_no_obstacle(
    kept: str, lookups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = catalogue.create("of_this_test", kept, entry_points=True)
    monkeypatch.setitem(catalogue.REGISTRY, ("of_this_test", kept, "size"), len)
    for name in ("msgpack_encoders", "msgpack_decoders"):
        monkeypatch.setattr(msgpack, name, registry if name == kept else None)
    remember_hooks()
    assert isinstance(registry.get_all, RememberedHooks)
    for _ in range(2):
        assert registry.get_all() == {"size": len}
    assert lookups == [kept]


def test_values_come_back_and_nothing_is_looked_up_again(lookups: list[str]) -> None:
    value = {"n": 1, "array": np.arange(3)}
    srsly.msgpack_loads(srsly.msgpack_dumps(value))
    lookups.clear()
    for _ in range(3):
        read = srsly.msgpack_loads(srsly.msgpack_dumps(value))
    assert read["n"] == 1
    assert read["array"].tolist() == [0, 1, 2]
    assert lookups == []


def test_another_hook_is_used_at_once(place: tuple[str, ...], lookups: list[str]) -> None:
    with pytest.raises(TypeError):
        srsly.msgpack_dumps(Point())
    msgpack.msgpack_encoders.register(place[-1], func=as_text("one"))
    assert srsly.msgpack_loads(srsly.msgpack_dumps(Point())) == "one"
    msgpack.msgpack_encoders.register(place[-1], func=as_text("other"))
    assert srsly.msgpack_loads(srsly.msgpack_dumps(Point())) == "other"
    assert "msgpack_encoders" in lookups


def test_a_hook_that_is_taken_away_is_not_used(place: tuple[str, ...]) -> None:
    msgpack.msgpack_encoders.register(place[-1], func=as_text("one"))
    srsly.msgpack_dumps(Point())
    del catalogue.REGISTRY[place]
    with pytest.raises(TypeError):
        srsly.msgpack_dumps(Point())


def test_who_changes_the_answer_changes_nothing() -> None:
    msgpack.msgpack_encoders.get_all().clear()
    assert "numpy" in msgpack.msgpack_encoders.get_all()
