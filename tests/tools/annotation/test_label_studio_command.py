"""`spacy cascade label-studio`: its options and messages; the app is not served."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from helpers import segmenter_alone
from spacy_cascade.cli import app
from spacy_cascade.tools.annotation.label_studio.journal import Journal

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")
TOKEN = "SPACY_CASCADE_TOKEN"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("command") / "model"
    segmenter_alone().to_disk(path)
    return path


class Served:
    """What uvicorn would serve."""

    app: Any
    settings: dict[str, Any]

    def __call__(self, app: Any, **settings: Any) -> None:
        self.app, self.settings = app, settings

    def status(self, base_url: str, **headers: str) -> int:
        from fastapi.testclient import TestClient

        with TestClient(self.app, base_url) as client:
            return int(client.get("/health", headers=headers).status_code)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
    served = Served()
    monkeypatch.setattr(uvicorn, "run", served)
    monkeypatch.delenv(TOKEN, raising=False)
    return served


def run(*arguments: object, exit_code: int = 0) -> str:
    result = CliRunner().invoke(app, ["label-studio", *map(str, arguments)])
    assert result.exit_code == exit_code, result.output
    return " ".join(result.output.split())


def test_it_is_served_to_this_machine_alone(model: Path, tmp_path: Path, served: Served) -> None:
    output = run(model, "--output", tmp_path / "out")
    assert output == "ℹ Connect http://127.0.0.1:9090 as a model in the settings of a project"
    assert (served.settings["host"], served.settings["port"]) == ("127.0.0.1", 9090)
    for url, status in (("http://localhost:9090", 200), ("http://studio.example.org", 400)):
        assert served.status(url) == status


def test_hosts_and_a_token_are_options(
    model: Path, tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = ("--host", "::", "--allow-host", "studio.example.org", "--allow-host", "*.local")
    output = run(model, "--output", tmp_path / "one", *hosts)
    assert "Anybody who reaches" in output
    for host in ("studio.example.org:9090", "a.local", "[::]:9090", "127.0.0.1"):
        assert served.status(f"http://{host}") == 200
    output = run(model, "--output", tmp_path / "two", *hosts, "--token", "secret")
    assert "Anybody who reaches" not in output
    monkeypatch.setenv(TOKEN, "secret")
    run(model, "--output", tmp_path / "three")
    assert served.status("http://127.0.0.1") == 401
    assert served.status("http://127.0.0.1", Authorization="Bearer secret") == 200


def test_errors_are_one_line(model: Path, tmp_path: Path, served: Served) -> None:
    out = ("--output", tmp_path / "out")
    for arguments, message in (
        ((*out, "--allow-host", "http://studio"), "'http://studio' is no name of a host"),
        ((*out, "--allow-host", "studio:9090"), "'studio:9090' is no name of a host"),
        ((*out, "--allow-host", "st*dio"), "'st*dio' is no name of a host"),
        ((*out, "--token", ""), "The token is empty"),
        ((*out, "--dev", tmp_path / "no.spacy"), "There is no corpus at"),
    ):
        assert message in run(model, *arguments, exit_code=1)
    with closing(Journal(tmp_path / "out")):
        assert "Another run is at work in" in run(model, *out, exit_code=1)
