"""How many requests may wait for the backend."""

from __future__ import annotations

from collections import Counter

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

MOST = {"/predict": 24, "/webhook": 100}
"""Requests at once, by their paths. Predictions leave threads to annotation, which is sent once."""
MOST_OTHERS = 100
"""Requests at once to all other paths."""
_OTHERS = "others"


class CrowdMiddleware:
    """Refuses what is too much at once before it is read, so that nobody waits for long."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._at_once: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        kind = scope["path"] if scope["path"] in MOST else _OTHERS
        if self._at_once[kind] >= MOST.get(kind, MOST_OTHERS):
            message = {"error": "There are too many requests. Try again later."}
            await JSONResponse(message, 503, {"Retry-After": "1"})(scope, receive, send)
            return
        self._at_once[kind] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._at_once[kind] -= 1
