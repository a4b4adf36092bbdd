"""What a release is made with: pinned releases for the gate, and the list of dependencies."""

from __future__ import annotations

import hashlib
import io
import json
import re
from ast import literal_eval
from email.message import Message
from importlib import util
from importlib.metadata import metadata, requires
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from srsly import yaml_loads

from helpers import PROJECT
from spacy_cascade._version import NEWEST_PYTHON
from spacy_cascade.systems.words.files import read_table
from spacy_cascade.systems.words.sources import make_english

PINS = [
    Requirement(line)
    for line in (PROJECT / ".ci/constraints.txt").read_text(encoding="utf8").splitlines()
    if line and not line.startswith("#")
]
REQUIRED = [Requirement(line) for line in requires("spacy-cascade") or ()]
GATE = ("", "test", "bench", "docs", "release", "browser")


def text_of(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf8")


DECLARED = text_of("pyproject.toml")
PYTHONS = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', DECLARED)


def load_script() -> Any:
    path = PROJECT / "scripts/list_dependencies.py"
    spec = util.spec_from_file_location("list_dependencies", path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("python", PYTHONS)
def test_the_gate_pins_all_that_it_installs(python: str) -> None:
    """Mend with `.ci/lock`."""
    environment = {"python_version": python, "python_full_version": f"{python}.1"}
    pinned = {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in PINS
        if pin.marker is None or pin.marker.evaluate(environment)
    }
    for needed in REQUIRED:
        if any(
            needed.marker is None or needed.marker.evaluate({**environment, "extra": extra})
            for extra in GATE
        ):
            version = pinned[canonicalize_name(needed.name)]
            assert needed.specifier.contains(version, prereleases=True), needed


def test_the_same_pythons_are_declared_tried_and_named() -> None:
    first, last = PYTHONS[0], PYTHONS[-1]
    assert [f"3.{minor}" for minor in range(10, NEWEST_PYTHON[1] + 1)] == PYTHONS
    assert f'requires-python = ">={first},<3.{NEWEST_PYTHON[1] + 1}"' in DECLARED
    runs = literal_eval(re.findall(r"^PYTHONS = (.*)$", text_of("noxfile.py"), re.MULTILINE)[0])
    assert runs == PYTHONS
    for page in ("README.md", "CONTRIBUTING.md"):
        assert f"Python {first} to {last}" in text_of(page)


def test_public_runs_try_each_python_on_each_system() -> None:
    """With the releases of the gate, and no more rights than reading."""
    workflow = yaml_loads(text_of(".github/workflows/tests.yml"))
    (job,) = workflow["jobs"].values()
    systems = ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert job["strategy"]["matrix"] == {"system": systems, "python": PYTHONS}
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in job
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in used)
    assert (PROJECT / job["env"]["PIP_CONSTRAINT"]).is_file()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    (tests,) = re.findall(r'pytest .*"', text_of("README.md"))
    assert any(tests in command for command in commands)


def test_pins_are_exact_and_name_no_host() -> None:
    assert all(re.fullmatch(r"==[\w.+]+", str(pin.specifier)) for pin in PINS)
    assert not any(pin.url for pin in PINS)


def test_the_page_lists_what_users_install() -> None:
    """Mend with `python scripts/list_dependencies.py`."""
    script = load_script()
    page = script.PAGE.read_text(encoding="utf8")
    listed = dict(re.findall(r"^\| `([^`]+)` \| .*? \| `([^`]+)` \|", page, re.MULTILINE))
    assert listed == {
        requirement.name: str(requirement.specifier) or "any"
        for requirement, _ in script.requirements()
    }
    assert "unknown" not in page


def test_data_are_named_with_their_licences(tmp_path: Path) -> None:
    """In the page and in a bill; what the tables say of themselves is the truth."""
    script = load_script()
    page = script.PAGE.read_text(encoding="utf8")
    bill = tmp_path / "bill.json"
    stated = {"name": "spacy", "licenses": [{"expression": "MIT"}]}
    bill.write_text(json.dumps({"components": [stated, {"name": "numpy"}, {"name": "not-there"}]}))
    script.complete(bill)
    first, second, third, *components = json.loads(bill.read_text())["components"]
    assert (first, third) == (stated, {"name": "not-there"})
    assert second["licenses"] == [{"license": {"name": script.licence_of("numpy")}}]
    licences = {each["name"]: each["licenses"][0]["license"]["id"] for each in components}
    assert set(licences) == {"pieces.words", "glove.words", "sample"}
    for component in components:
        name = component["name"]
        assert re.search(rf"^\| `{name}` \| .* \| {licences[name]} \|$", page, re.MULTILINE)
    for source in make_english().values():
        about = read_table(source.name, str(source.path)).about
        (component,) = (each for each in components if each["name"] == source.path.name)
        assert about.license.split(" (")[0].replace(" ", "-") == licences[source.path.name]
        assert component["externalReferences"][0]["url"] == about.url
        digest = hashlib.sha256(source.path.read_bytes()).hexdigest()
        assert component["hashes"] == [{"alg": "SHA-256", "content": digest}]


def test_a_package_that_states_no_licence_may_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    script = load_script()
    silent = type("Distribution", (), {"metadata": Message()})
    monkeypatch.setattr(script, "distribution", lambda _: silent)
    assert script.licence_of("cuda-toolkit") == "NVIDIA Proprietary Software"
    assert script.licence_of("another") == "unknown"


def test_dates_come_from_the_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = load_script()
    files = [{"upload_time": "2025-03-05T20:05:00"}, {"upload_time": "2025-03-06T01:00:00"}]
    bounds = (each for requirement, _ in script.requirements() for each in requirement.specifier)
    releases = {each.version: files for each in bounds if each.operator == ">="}
    releases["9999"] = [{"upload_time": "2025-03-07T01:00:00"}]
    answer = json.dumps({"releases": releases})
    monkeypatch.setattr(script, "INDEX", "index/{}.json")
    monkeypatch.setattr(script, "urlopen", lambda *_, **__: io.BytesIO(answer.encode()))
    rows = script.dependencies("")
    for row in rows:
        assert row.last_release == ("2025-03-06" if "<" in row.releases else "2025-03-07")
    assert {"numba", "spacy", "fastapi"} <= {row.name for row in rows}
    assert "pytest" not in {row.name for row in rows}
    page = script.text_of(rows)

    def fail(*_: Any, **__: Any) -> None:
        raise URLError("no network")

    monkeypatch.setattr(script, "urlopen", fail)
    assert script.text_of(script.dependencies(page)) == page


def test_the_page_says_what_each_extra_is_for() -> None:
    table = text_of("docs/put_to_work.md").split("| extra | for |")[1].split("\n\n")[0]
    cells = [row.split("|")[1] for row in table.splitlines()[1:]]
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(metadata("spacy-cascade").get_all("Provides-Extra") or ())


def test_extras_are_installed_by_one_line() -> None:
    """It works where the package is installed, whether from an index, a wheel or a checkout."""
    files = [*PROJECT.glob("docs/*.md"), *PROJECT.glob("spacy_cascade/**/*.py")]
    lines = [line for file in files for line in file.read_text(encoding="utf8").splitlines()]
    found = [line for line in lines if re.search(r"pip install [^`]*\[", line)]
    assert len(found) > 8
    assert [line for line in found if not re.search(r'"spacy(-cascade)?\[', line)] == []


def test_the_container_can_be_built_from_what_there_is() -> None:
    (image,) = re.findall(r"```text\n(FROM .*?)```", text_of("docs/put_to_work.md"), re.DOTALL)
    assert re.findall(r"FROM python:(3\.\d+)-slim", image)[0] in PYTHONS
    (extra,) = re.findall(r"spacy-cascade\[(\w+)\]", image)
    assert extra in (metadata("spacy-cascade").get_all("Provides-Extra") or ())
    (script,) = re.findall(r"COPY (\S+) /srv/", image)
    assert "\napp = " in text_of(f"examples/{script}")
    assert 'os.environ.get("MODEL"' in text_of(f"examples/{script}")
    *_, user, model, command = image.replace("\\\n", "").strip().splitlines()
    assert (user, model) == ("USER nobody", "ENV MODEL=en_sample")
    assert command.startswith("CMD [")
    assert '"serve:app"' in command
