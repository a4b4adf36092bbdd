"""The backend under a real Label Studio server, from PyPI; skipped where there is none.

`pip install label-studio` into an environment of its own, and name its command in the variable
LABEL_STUDIO: `LABEL_STUDIO=…/bin/label-studio python -m pytest tests/annotation -m slow`
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers import SENTENCES, take_interrupts, trained_cascade

COMMAND = os.environ.get("LABEL_STUDIO") or shutil.which("label-studio") or ""
TOKEN = "0123456789abcdef0123456789abcdef01234567"
OF_BACKEND = "words-nobody-guesses"
INTERFACE = """
<View><Labels name="kind" toName="passage">
<Label value="protein"/><Label value="DNA"/><Label value="cell"/><Label value="virus"/></Labels>
<Text name="passage" value="$words"/></View>
"""
NEW = "HIV infects primary monocytes ."
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMMAND, reason="label-studio is not installed"),
]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def ask(url: str, body: object = None, method: str | None = None) -> Any:
    """The answer to a request, as JSON; url: may have a password for the backend."""
    data = None if body is None else json.dumps(body).encode()
    scheme, _, rest = url.partition("://")
    user, _, place = rest.rpartition("@")
    basic = base64.b64encode(user.encode()).decode()
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Basic {basic}" if user else f"Token {TOKEN}",
    }
    request = urllib.request.Request(f"{scheme}://{place}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{url}: {error.code} {error.read()[:2000]!r}") from None


def wait_for(condition: Callable[[], Any], seconds: float) -> Any:
    """The first value of the condition that is true; an error where there is none in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if found := condition():
                return found
        except OSError:
            pass
        time.sleep(0.5)
    raise AssertionError(f"not within {seconds} seconds")


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Addresses of Label Studio and of the backend, which end with the test."""
    trained_cascade().to_disk(tmp_path / "model")
    ports = free_port(), free_port()
    studio = f"http://127.0.0.1:{ports[0]}"
    backend = f"http://cascade:{OF_BACKEND}@127.0.0.1:{ports[1]}"
    settings = {
        "ML_BLOCK_LOCAL_IP": "false", "SSRF_PROTECTION_ENABLED": "false",
        "SPACY_CASCADE_TOKEN": OF_BACKEND, "COLLECT_ANALYTICS": "0",
        "LABEL_STUDIO_BASE_DATA_DIR": str(tmp_path / "studio"),
    }  # fmt: skip
    commands = [
        [COMMAND, "start", "--no-browser", "--port", str(ports[0]), "--username", "one@example.org",
         "--password", "a-long-password", "--user-token", TOKEN, "--enable-legacy-api-token",
         "--internal-host", "127.0.0.1"],
        [sys.executable, "-m", "spacy", "cascade", "label-studio", str(tmp_path / "model"),
         "--output", str(tmp_path / "out"), "--port", str(ports[1])],
    ]  # fmt: skip
    running = []
    try:
        for number, command in enumerate(commands):
            log = (tmp_path / f"server-{number}.log").open("wb")
            running.append(
                subprocess.Popen(
                    command, stdout=log, stderr=log, cwd=tmp_path,
                    env={**os.environ, **settings}, preexec_fn=take_interrupts,
                )
            )  # fmt: skip
        wait_for(lambda: ask(f"{backend}/health"), 60)
        wait_for(lambda: ask(f"{studio}/api/version"), 600)
        yield studio, backend
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(20)
        for path in tmp_path.glob("server-*.log"):
            print(path.name, path.read_text(errors="replace")[-3000:])


def test_predictions_come_and_a_submitted_annotation_is_learnt_until_it_is_deleted(
    servers: tuple[str, str],
) -> None:
    studio, backend = servers
    project = ask(f"{studio}/api/projects", {"title": "Cells", "label_config": INTERFACE})["id"]
    tasks = [{"data": {"words": text}} for text, _ in SENTENCES[:2]] + [{"data": {"words": NEW}}]
    ask(f"{studio}/api/projects/{project}/import", tasks)
    connected = ask(f"{studio}/api/ml", {"url": backend, "project": project, "title": "cascade"})
    assert connected["state"] == "CO"  # connected
    listed = ask(f"{studio}/api/tasks?project={project}&fields=all")["tasks"]
    numbers = {task["data"]["words"]: task["id"] for task in listed}

    text, _ = SENTENCES[1]
    task = ask(f"{studio}/api/tasks/{numbers[text]}")
    if not task["predictions"]:
        ask(
            f"{studio}/api/dm/actions?project={project}&id=retrieve_tasks_predictions",
            {"selectedItems": {"all": True, "excluded": []}},
        )
        task = ask(f"{studio}/api/tasks/{numbers[text]}")
    (prediction,) = task["predictions"]
    values = [region["value"] for region in prediction["result"]]
    assert [(v["text"], v["labels"]) for v in values] == [
        ("STAT5", ["protein"]),
        ("AP-1 site", ["DNA"]),
    ]
    assert 0 < prediction["score"] <= 1
    assert prediction["model_version"] == "model-0"

    region = {
        "from_name": "kind", "to_name": "passage", "type": "labels", "id": "1",
        "value": {"start": 0, "end": 3, "text": "HIV", "labels": ["virus"]},
    }  # fmt: skip
    submitted = ask(f"{studio}/api/tasks/{numbers[NEW]}/annotations", {"result": [region]})
    wait_for(lambda: ask(f"{backend}/health")["version"] == "model-1", 60)
    assert ask(f"{backend}/health")["error"] is None
    asked = {"tasks": [{"id": 1, "data": {"words": NEW}}], "label_config": INTERFACE}
    (result,) = ask(f"{backend}/predict", asked)["results"]
    assert [region["value"]["text"] for region in result["result"]] == ["HIV"]
    ask(f"{studio}/api/ml/{connected['id']}/train", {})

    ask(f"{studio}/api/annotations/{submitted['id']}", method="DELETE")
    wait_for(lambda: ask(f"{backend}/health")["version"] == "model-0", 60)
    assert ask(f"{backend}/health")["annotated"] == 0
