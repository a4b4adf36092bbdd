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


HOSTS = {
    **dict.fromkeys(("127.0.0.1:9090", "localhost", "localhost:80", "[::1]:9090"), 200),
    **dict.fromkeys(
        (
            "evil.example.org", "evil.example.org:9090", "localhost.example.org",
            "127.0.0.1.example.org", "", "127.0.0.1@example.org",
        ),
        400,
    ),
}  # fmt: skip


def test_a_host_of_another_name_is_refused(client: Any) -> None:
    """So is a page whose own name somebody lets point at this machine."""
    for host, status in HOSTS.items():
        assert client.get("/health", headers={"Host": host}).status_code == status
        answer = client.post("/webhook", json=event(NEW), headers={"Host": host})
        assert answer.status_code == (201 if status == 200 else 400)


def test_further_hosts_are_named(learner: Learner) -> None:
    with client_of(learner, hosts=["backend", "*.example.org"]) as client:
        for host, status in (("backend", 200), ("a.example.org", 200), ("localhost", 400)):
            assert client.get("/health", headers={"Host": host}).status_code == status


ORIGINS = (
    "https://evil.example.org", "http://127.0.0.1", "http://127.0.0.1:8080",
    "http://127.0.0.1:9090.example.org", "null", "",
)  # fmt: skip


def test_a_page_of_another_site_is_refused(client: Any, learner: Learner) -> None:
    for origin in ORIGINS:
        answer = client.post("/webhook", json=event(NEW), headers={"Origin": origin})
        assert answer.status_code == 403
        assert answer.json() == {"error": "A page of another site may not use this backend."}
    assert learner.status().annotated == 0
    answer = client.post("/webhook", json=event(NEW), headers={"Origin": LOCAL})
    assert (answer.status_code, learner.status().annotated) == (201, 1)


TOKEN = "sécret:words"


def basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


LET_IN = (f"Bearer {TOKEN}", f"Token {TOKEN}", basic("anybody", TOKEN), basic("", TOKEN))
REFUSED = (
    None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN,
    basic(TOKEN, ""), basic("anybody", "wrong"), "Basic !", "Basic",
)  # fmt: skip


def test_a_token_is_needed_where_there_is_one(learner: Learner) -> None:
    with client_of(learner, token=TOKEN) as client:
        for header in (*REFUSED, *LET_IN):
            is_let_in = header in LET_IN
            headers = {} if header is None else {"Authorization": header.encode()}
            for path in ("/", "/health", "/versions"):
                status = client.get(path, headers=headers).status_code
                assert status == (200 if is_let_in else 401)
            answer = client.post("/webhook", json=event(NEW), headers=headers)
            assert answer.status_code == (201 if is_let_in else 401)
            assert learner.status().annotated == is_let_in
            if not is_let_in:
                assert "token is missing or wrong" in answer.json()["error"]
                assert answer.headers["WWW-Authenticate"] == "Bearer"
                assert client.post("/nowhere", content=b"{").status_code == 401, "nothing is told"


def test_without_a_token_none_is_looked_at_and_nothing_is_loaded_from_elsewhere(
    client: Any,
) -> None:
    """FastAPI's own pages about an app load scripts of other sites."""
    assert client.get("/health", headers={"Authorization": "Bearer any"}).status_code == 200
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(path).status_code == 404


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
