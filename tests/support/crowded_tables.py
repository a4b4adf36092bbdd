"""Tables of keys whose hash function happens to be a bad one."""

from __future__ import annotations

import secrets

import pytest


@pytest.fixture
def unlucky(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next table gets a factor under which small keys all belong in its first place."""
    factors = iter([1])
    draw = secrets.randbits
    monkeypatch.setattr("secrets.randbits", lambda n: next(factors, None) or draw(n))
