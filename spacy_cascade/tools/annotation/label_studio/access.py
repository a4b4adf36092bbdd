"""Who may ask the backend: hosts by name, requests without a page behind them, a token."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from secrets import compare_digest
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from starlette.authentication import AuthenticationBackend, AuthenticationError
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import Response

from .crowds import CrowdMiddleware

MOST_BYTES = 16_000_000
"""Of a request."""
LOCAL = ("127.0.0.1", "localhost", "[::1]")


class _Refused(AuthenticationError):
    """status: of the answer."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class _Requests(AuthenticationBackend):
    """Lets through what no page of another site sent, with the token, if there is one."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    async def authenticate(self, conn: HTTPConnection) -> None:
        origin = conn.headers.get("origin")
        if origin is not None and _host_of(origin) != conn.headers.get("host"):
            raise _Refused("A page of another site may not use this backend.", 403)
        if self._token is not None and not compare_digest(_given(conn), self._token.encode()):
            raise _Refused(
                "The token is missing or wrong. Send it as 'Authorization: Bearer TOKEN', or as "
                "the password of http://NAME:TOKEN@HOST.", 401,
            )  # fmt: skip


def _host_of(origin: str) -> str | None:
    """The host of a page, with its port; None for what is no address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _given(conn: HTTPConnection) -> bytes:
    """What a header has as a token, or as the password of a user of any name."""
    scheme, _, value = conn.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return value.encode("latin-1")
    try:
        return b64decode(value, validate=True).partition(b":")[2]
    except ValueError:
        return b""


def _answer(_: HTTPConnection, error: AuthenticationError) -> Response:
    assert isinstance(error, _Refused)
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return JSONResponse({"error": str(error)}, error.status, headers)


def restrict(app: FastAPI, hosts: Iterable[str], token: str | None) -> None:
    """Refuse, before anything is read: other hosts, foreign pages, no token, too large or too much.

    hosts: names by which a request may call the backend; a page whose name somebody points at this
    machine has another one. token: None if none is needed.
    """
    app.add_middleware(CrowdMiddleware)
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=MOST_BYTES)
    app.add_middleware(AuthenticationMiddleware, backend=_Requests(token), on_error=_answer)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*hosts], www_redirect=False)
