"""Who may use the backend: names of hosts, pages of other sites, a token, the size of a request."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from spacy_cascade.tools.annotation.label_studio.learner import Learner
from studio import LOCAL, NEW, client_of, event

pytest.importorskip("fastapi")
from spacy_cascade.tools.annotation.label_studio import access


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is trained."""
    monkeypatch.setattr(Learner, "begin", lambda self: None)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:9090", 200),
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("[::1]:9090", 200),
        ("evil.example.org", 400),
        ("evil.example.org:9090", 400),
        ("localhost.example.org", 400),
        ("127.0.0.1.example.org", 400),
        ("", 400),
        ("127.0.0.1@example.org", 400),
    ],
)
def test_a_host_of_another_name_is_refused(client: Any, host: str, status: int) -> None:
    """So is a page whose own name somebody lets point at this machine."""
    assert client.get("/health", headers={"Host": host}).status_code == status
    answer = client.post("/webhook", json=event(NEW), headers={"Host": host})
    assert answer.status_code == (201 if status == 200 else 400)


def test_further_hosts_are_named(learner: Learner) -> None:
    with client_of(learner, hosts=["backend", "*.example.org"]) as client:
        for host, status in (("backend", 200), ("a.example.org", 200), ("localhost", 400)):
            assert client.get("/health", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (LOCAL, 201),
        ("https://evil.example.org", 403),
        ("http://127.0.0.1", 403),
        ("http://127.0.0.1:8080", 403),
        ("http://127.0.0.1:9090.example.org", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_a_page_of_another_site_is_refused(
    client: Any, learner: Learner, origin: str, status: int
) -> None:
    answer = client.post("/webhook", json=event(NEW), headers={"Origin": origin})
    assert answer.status_code == status
    assert learner.status().annotated == (status == 201)


TOKEN = "sécret:words"


@pytest.fixture
def guarded(learner: Learner) -> Iterator[Any]:
    with client_of(learner, token=TOKEN) as client:
        yield client


def basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


@pytest.mark.parametrize(
    ("header", "is_let_in"),
    [
        (f"Bearer {TOKEN}", True),
        (f"Token {TOKEN}", True),
        (basic("anybody", TOKEN), True),
        (basic("", TOKEN), True),
        (None, False),
        ("", False),
        ("Bearer", False),
        ("Bearer ", False),
        (f"Bearer {TOKEN}x", False),
        (f"Bearer {TOKEN[:-1]}", False),
        (TOKEN, False),
        (basic(TOKEN, ""), False),
        (basic("anybody", "wrong"), False),
        ("Basic !", False),
        ("Basic", False),
    ],
)
def test_a_token_is_needed_where_there_is_one(
    guarded: Any, learner: Learner, header: str | None, is_let_in: bool
) -> None:
    headers = {} if header is None else {"Authorization": header.encode()}
    for path in ("/", "/health", "/versions"):
        assert guarded.get(path, headers=headers).status_code == (200 if is_let_in else 401)
    answer = guarded.post("/webhook", json=event(NEW), headers=headers)
    assert answer.status_code == (201 if is_let_in else 401)
    assert learner.status().annotated == is_let_in
    if not is_let_in:
        assert "token is missing or wrong" in answer.json()["error"]
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert guarded.post("/nowhere", content=b"{").status_code == 401, "nothing is told"


def test_without_a_token_none_is_looked_at(client: Any) -> None:
    assert client.get("/health", headers={"Authorization": "Bearer any"}).status_code == 200


def test_too_large_a_body_is_not_read(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST_BYTES", 10_000)
    read = 0

    def parts() -> Iterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += 1000
            yield b" " * 1000

    with client_of(learner) as client:
        fits = event(NEW + " " * 9_000)
        assert client.post("/webhook", json=fits).status_code == 201
        for body in (b" " * 10_001, parts()):
            answer = client.post("/webhook", content=body)
            assert answer.status_code == 413
        body = b"[" * 10_001
        for path in ("/", "/predict", "/train", "/setup", "/nowhere"):
            assert 400 <= client.post(path, content=body).status_code < 500
    assert learner.status().annotated == 1


def test_nothing_is_loaded_from_elsewhere(client: Any) -> None:
    """FastAPI's own pages about an app load scripts of other sites."""
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(path).status_code == 404
