"""Tables of keys whose hash function happens to be a bad one."""

from __future__ import annotations

import secrets

import pytest


@pytest.fixture
def unlucky(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next table gets a factor under which small keys all belong in its first place.

    The one after it gets a factor that spreads them evenly (the golden ratio, Knuth 1997, section
    6.4): of random ones, one of 24 is unlucky, too.
    """
    factors = iter([1, 0x9E3779B97F4A7C15])
    draw = secrets.randbits
    monkeypatch.setattr("secrets.randbits", lambda n: next(factors, None) or draw(n))
