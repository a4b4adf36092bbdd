"""The site of the documentation: it builds without a warning, and asks no other host."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from helpers import BROWSER, PROJECT, needs_browser, run_python

pytest.importorskip("material", reason="the extra `docs` is not installed")
pytest.importorskip("mkdocstrings", reason="the extra `docs` is not installed")
pytestmark = pytest.mark.slow
PARTS = ["Tutorial", "How-to guides", "Reference", "Explanation"]
RESOURCE = re.compile(r"<(?:script|img|iframe)[^>]* src=\"([^\"]*)|<link[^>]* href=\"([^\"]*)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    config = str(PROJECT / "mkdocs.yml")
    result = run_python(
        "-m", "mkdocs", "build", "--strict", "-f", config, "-d", str(folder), timeout=300
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_every_page_is_there_in_one_of_four_parts(site: Path) -> None:
    pages = [page.stem for page in (PROJECT / "docs").glob("*.md") if page.stem != "README"]
    assert sorted(name for name in pages if not (site / f"{name}.html").exists()) == []
    home = (site / "index.html").read_text(encoding="utf8")
    tabs = home.split('<nav class="md-tabs"')[1].split("</nav>")[0]
    assert re.findall(r"\n\s*([A-Z][\w -]+)\n", tabs) == ["Home", *PARTS]


def test_links_out_of_docs_lead_to_pages_of_the_site(site: Path) -> None:
    robustness = (site / "robustness.html").read_text(encoding="utf8")
    assert 'href="project/SECURITY.html"' in robustness
    contributing = (site / "project/CONTRIBUTING.html").read_text(encoding="utf8")
    assert 'href="../method.html"' in contributing
    assert (site / "project/benchmarks/results/suite.html").exists()


def test_the_reference_comes_from_the_code(site: Path) -> None:
    python = (site / "python_reference.html").read_text(encoding="utf8")
    assert 'id="spacy_cascade.CascadeSegmenter.nbest"' in python
    assert 'id="spacy_cascade.CascadeSegmenter.sync_weights"' not in python
    commands = (site / "command_reference.html").read_text(encoding="utf8")
    assert 'id="debug-data"' in commands


def test_pages_name_no_resource_of_another_host(site: Path) -> None:
    found = {
        (page.name, source)
        for page in site.rglob("*.html")
        for pair in RESOURCE.findall(page.read_text(encoding="utf8"))
        for source in pair
        if source.startswith(("http:", "https:", "//"))
    }
    assert found == set()


@needs_browser
@pytest.mark.parametrize("page", ["index", "method", "python_reference", "project/CONTRIBUTING"])
def test_a_browser_asks_no_other_host(page: str, address: str, tmp_path: Path) -> None:
    assert BROWSER is not None
    log = tmp_path / "net.json"
    options = (
        "--headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run "
        f"--disable-component-update --disable-sync --log-net-log={log} "
        f"--user-data-dir={tmp_path / 'profile'} --virtual-time-budget=3000 --dump-dom"
    )
    shown = subprocess.run(
        [BROWSER, *options.split(), f"{address}/{page}.html"],
        capture_output=True, text=True, encoding="utf8", timeout=120, check=True,
    ).stdout  # fmt: skip
    assert "md-search__input" in shown
    hosts = {urlsplit(url).netloc for url in requested(log)} - {""}
    assert hosts == {urlsplit(address).netloc}


def requested(log: Path) -> set[str]:
    """Addresses that pages asked for, from a browser's log of its network."""
    text = log.read_text(encoding="utf8")
    try:
        events = json.loads(text)["events"]
    except json.JSONDecodeError:  # the browser ended before it closed the list
        events = json.loads(text.rstrip().rstrip(",") + "]}")["events"]
    found = (event.get("params", {}) for event in events)
    return {
        params["url"]
        for params in found
        if "url" in params and params.get("initiator", "not an origin") != "not an origin"
    }
