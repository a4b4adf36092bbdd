"""What Label Studio sends to a backend, and a client of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOCAL = "http://127.0.0.1:9090"
SECONDS = 60.0
INTERFACE = (
    '<View><Labels name="kind" toName="passage"><Label value="virus"/></Labels>'
    '<Text name="passage" value="$words"/></View>'
)
NEW = "HIV infects primary monocytes ."
VIRUS = {"start": 0, "end": 3, "label": "virus"}
REGION = {"type": "labels", "value": {"start": 0, "end": 3, "text": "HIV", "labels": ["virus"]}}


def event(
    text: str, action: str = "ANNOTATION_CREATED", *, task: Any = 7, **annotation: Any
) -> dict[str, Any]:
    """An annotation of a text; annotation: what differs from number 3, of `REGION`."""
    return {
        "action": action,
        "project": {"id": 1, "label_config": INTERFACE},
        "task": {"id": task, "data": {"words": text}},
        "annotation": {"id": 3, "result": [REGION], **annotation},
    }


@contextmanager
def client_of(learner: Any, base_url: str = LOCAL, **settings: Any) -> Iterator[Any]:
    """A client of the app; settings: of `make_app`."""
    from fastapi.testclient import TestClient

    from spacy_cascade.tools.annotation.label_studio.app import make_app

    app = make_app(learner, **settings)
    with TestClient(app, base_url, raise_server_exceptions=False) as client:
        yield client


def lines_in(path: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, path.read_text(encoding="utf8").splitlines()))
