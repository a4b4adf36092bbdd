"""Services: the example, and the backend of Label Studio, called as a server calls them.

An input is a request as JSON: a path, a method, headers and a body, which is JSON; anything else is
a body as it is.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from tests.fuzzing.target import JSON_PIECES, Fuzzed, folder

HOST = "127.0.0.1:9090"
_OF_ANSWER, _PER_BYTE = 4096, 400
"""Bytes that an answer has at most, and for each byte of a request."""


class Request(NamedTuple):
    """What is sent."""

    path: str
    method: str
    headers: list[tuple[bytes, bytes]]
    body: bytes


def request_of(data: bytes, path: str) -> Request:
    """The request of an input; path: for one that is a body alone."""
    headers = {"host": HOST, "content-type": "application/json"}
    try:
        given = json.loads(data)
        body = json.dumps(given["body"]).encode()
        headers |= {str(name).lower(): str(value) for name, value in given["headers"].items()}
        path, method = str(given["path"]), str(given["method"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        method, body = "POST", data
    encoded = [
        (name.encode("latin-1", "replace"), value.encode("latin-1", "replace"))
        for name, value in headers.items()
    ]
    return Request(path, method, encoded, body)


def seed(path: str, body: Any, **headers: str) -> bytes:
    request = {"path": path, "method": "POST", "headers": headers, "body": body}
    return json.dumps(request).encode()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def _send(app: Any, request: Request) -> tuple[int, bytes]:
    """Status and content of the answer. Raises what the app raises."""
    text = request.path.encode("utf8", "replace").decode()
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
        "method": request.method, "path": text, "raw_path": text.encode(), "query_string": b"",
        "root_path": "", "headers": request.headers, "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 9090),
    }  # fmt: skip
    waiting = [{"type": "http.request", "body": request.body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    _loop().run_until_complete(app(scope, receive, send))
    status = next(message["status"] for message in sent if "status" in message)
    return status, b"".join(message.get("body", b"") for message in sent)


def _check(app: Any, request: Request) -> None:
    """Raises `CascadeError` for a request that is refused, `AssertionError` for an odd answer."""
    from spacy_cascade.errors import CascadeError

    status, content = _send(app, request)
    assert status < 500, f"status {status}: {content[:200]!r}"
    size = len(request.body)
    assert len(content) <= _OF_ANSWER + _PER_BYTE * size, f"{len(content)} bytes for {size}"
    if status >= 400:
        raise CascadeError(f"status {status}: {content[:40]!r}")


# The example


@cache
def _example() -> Any:
    import serve
    import spacy

    from helpers import trained_cascade

    place = tempfile.mkdtemp(dir=folder())
    trained_cascade().to_disk(place)
    serve.app.state.annotator = serve.Annotator(lambda: spacy.load(place))
    return serve.app


def _serve(data: bytes) -> None:
    _check(_example(), request_of(data, "/entities"))


# The backend of Label Studio


@cache
def _learner() -> Any:
    """It collects what is annotated, and never learns."""
    from helpers import trained_cascade
    from spacy_cascade.tools.annotation.label_studio.learner import Learner

    base, place = folder() / "base", folder() / "learner"
    trained_cascade().to_disk(base)
    learner = Learner(base, place)
    learner.begin = lambda: None  # type: ignore[method-assign]
    return learner


@cache
def _backend() -> Any:
    from spacy_cascade.tools.annotation.label_studio.app import make_app

    return make_app(_learner())


def _label_studio(data: bytes) -> None:
    """A request, and what is left to learn of it; annotation of earlier inputs is gone."""
    from spacy_cascade.tools.annotation.label_studio.journal import Journal

    learner = _learner()
    learner._journal.close()
    shutil.rmtree(learner.folder)
    learner._journal = Journal(learner.folder)
    try:
        _check(_backend(), request_of(data, "/webhook"))
    finally:
        learner._examples(learner.texts(), learner.pipeline()[0])


def _label_studio_seeds() -> list[bytes]:
    from studio import INTERFACE, NEW, REGION, event

    task = {"id": 7, "data": {"words": NEW}}
    annotated = {**task, "annotations": [{"id": 3, "result": [REGION], "was_cancelled": False}]}
    return [
        seed("/webhook", event(NEW), host="localhost:9090"),
        seed("/webhook", event(NEW, was_cancelled=True), authorization="Bearer x"),
        seed("/webhook", {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 3}]}),
        seed("/webhook", {"action": "TASKS_DELETED", "tasks": [{"id": 7}]}),
        seed("/predict", {"tasks": [task, {"data": {"words": "a b"}}], "label_config": INTERFACE}),
        seed("/train", {"annotations": [annotated], "label_config": INTERFACE}),
        seed("/setup", {"schema": INTERFACE}, origin=f"http://{HOST}"),
    ]


def _endpoint(run: Callable[[bytes], None], seeds: Callable[[], list[bytes]]) -> Fuzzed:
    pieces = (*JSON_PIECES, b'"texts"', b"\\u0000", b"\xff", b"http://x", b"Basic eDp4", b"<Labels")
    return Fuzzed(run, seeds, pieces)


ENDPOINTS: dict[str, Fuzzed] = {
    "serve": _endpoint(
        _serve,
        lambda: [
            seed("/entities", {"texts": ["IL-2 gene", ""]}), seed("/entities", {"texts": []}),
            b'{"texts": ["IL-2 gene", ""]}',
        ],
    ),
    "label-studio": _endpoint(_label_studio, _label_studio_seeds),
}  # fmt: skip
