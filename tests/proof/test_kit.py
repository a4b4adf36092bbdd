"""The kit finds what an artefact lacks, builds that differ, and licences that are not stated."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.proof import kit
from tests.proof.environments import Ran, Session, files_of_checkout
from tests.proof.kit import Kit
from tests.proof.part import Tried

FILES = {".gitignore", "LICENSE", "LICENSES/A.txt", "configs/a.cfg", "spacy_cascade/a.py", "x.md"}
IN_SDIST = {*FILES, "PKG-INFO", "a.egg-info/b"} - {".gitignore"}
IN_WHEEL = {
    "spacy_cascade/a.py", "spacy_cascade/tools/init/configs/a.cfg", "p.dist-info/METADATA",
    "p.dist-info/licenses/LICENSE", "p.dist-info/licenses/LICENSES/A.txt",
}  # fmt: skip


def write_sdist(path: Path, names: Iterable[str], time: int = 0) -> None:
    with tarfile.open(path, "w") as archive:
        for name in sorted(names):
            member = tarfile.TarInfo(f"p-1/{name}")
            member.mtime = time
            archive.addfile(member, io.BytesIO())


def write_wheel(path: Path, names: Iterable[str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(names):
            archive.writestr(zipfile.ZipInfo(name), "")


def attempt(item: str, folder: Path) -> tuple[str, bool]:
    part = Kit()
    (row,) = part.rows({item: part.attempt(item, Tried(folder, is_short=False))})
    return row.found, row.is_gap


@pytest.mark.parametrize(
    ("in_sdist", "in_wheel", "times", "found"),
    [
        (IN_SDIST, IN_WHEEL, (0, 0), "twice the same"),
        (IN_SDIST, IN_WHEEL, (0, 1), "two builds differ: p-1.tar.gz"),
        (IN_SDIST - {"x.md"}, IN_WHEEL, (0, 0), "superfluous: x.md"),
        ({*IN_SDIST, "y.md"}, IN_WHEEL, (0, 0), "superfluous: y.md"),
        (IN_SDIST, IN_WHEEL - {"spacy_cascade/a.py"}, (0, 0), "superfluous: spacy_cascade/a.py"),
        (IN_SDIST, {*IN_WHEEL, "tests/a.py"}, (0, 0), "superfluous: tests/a.py"),
        (IN_SDIST, IN_WHEEL - {"p.dist-info/licenses/LICENSE"}, (0, 0), "superfluous: LICENSE"),
        (IN_SDIST, {name for name in IN_WHEEL if "a.cfg" not in name}, (0, 0), "configs/a.cfg"),
    ],
)
def test_builds(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    in_sdist: set[str],
    in_wheel: set[str],
    times: tuple[int, int],
    found: str,
) -> None:
    left = list(times)

    def build(name: str, checkout: Path) -> Session:
        dist = checkout / "dist"
        dist.mkdir(parents=True)
        write_sdist(dist / "p-1.tar.gz", in_sdist, left.pop())
        write_wheel(dist / "p-1.whl", in_wheel)
        return Session("success", Ran(0, ""))

    monkeypatch.setattr(kit, "run_session", build)
    monkeypatch.setattr(kit, "copy_checkout", lambda folder: None)
    monkeypatch.setattr(kit, "files_of_checkout", lambda: FILES)
    said, is_gap = attempt("sdist and wheel", tmp_path)
    assert found in said
    assert is_gap == (found != "twice the same")


@pytest.mark.parametrize(
    ("licenses", "found", "is_gap"),
    [
        (
            [{"license": {"id": "PDDL-1.0"}}],
            "1 packages, each with a licence; data: w (PDDL-1.0)",
            0,
        ),
        ([{"expression": "MIT AND 0BSD"}], "data: w (MIT AND 0BSD)", 0),
        ([{"license": {"name": "A"}}, {"license": {"id": "B"}}], "data: w (A and B)", 0),
        ([], "no licence is stated of w", 1),
    ],
)
def test_a_bill(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    licenses: list[dict[str, Any]],
    found: str,
    is_gap: int,
) -> None:
    package = {"name": "numpy", "type": "library", "licenses": [{"license": {"id": "MIT"}}]}
    data = {"name": "w", "type": "data", "licenses": licenses}
    (tmp_path / "dist").mkdir()
    bill = tmp_path / "dist/a.cdx.json"
    bill.write_text(json.dumps({"components": [package, data]}))
    page = (kit.PROJECT / "DEPENDENCIES.md").read_text(encoding="utf8")
    (tmp_path / "DEPENDENCIES.md").write_text(page, encoding="utf8")
    monkeypatch.setattr(kit, "_built", lambda folder: tmp_path)
    monkeypatch.setattr(kit, "run_session", lambda *_: Session("success", Ran(0, "")))
    said, gap = attempt("bill of materials", tmp_path)
    assert found in said
    assert gap == bool(is_gap)


def test_a_command_that_fails_is_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Ran(1, "whole output\nthe last line\n")
    monkeypatch.setattr(kit, "_built", lambda folder: tmp_path)
    monkeypatch.setattr(kit, "run_session", lambda *_: Session("failed", failed))
    monkeypatch.setattr(kit, "run", lambda *_, **__: failed)
    for item in ("first use of the wheel", "bill of materials", "CITATION.cff"):
        assert attempt(item, tmp_path) == ("failed: the last line", True)
    for item in ("a packaged pipeline", "SECURITY.md, sentence by sentence"):
        assert attempt(item, tmp_path)[1]


@pytest.mark.skipif(not (kit.PROJECT / ".git").exists(), reason="this is no checkout")
def test_a_checkout_has_what_git_would_have() -> None:
    files = set(files_of_checkout())
    assert {"pyproject.toml", ".gitignore", "spacy_cascade/__init__.py", "CITATION.cff"} <= files
    assert not {name for name in files if name.endswith(".pyc")}
