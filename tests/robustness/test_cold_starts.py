"""Starts of fresh processes: kernels not compiled yet, damaged, out of reach, compiled by many."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import spacy_cascade
from helpers import TEXTS, trained_cascade

pytestmark = pytest.mark.slow(kind="cold starts")

AT_ONCE = 8
START = """
import json, sys
import spacy, spacy_cascade

assert spacy_cascade.__file__.startswith(sys.argv[1]), spacy_cascade.__file__
nlp = spacy.load(sys.argv[2])
docs = [nlp(text) for text in json.loads(sys.argv[3])]
print(json.dumps([[[e.start, e.end, e.label_, e._.confidence] for e in doc.ents] for doc in docs]))
"""
BOUND_BY_PERMISSIONS = """
import ctypes, os, sys
if os.geteuid() == 0:
    drop, override, search = 24, 1, 2
    for capability in (override, search):
        assert ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0) == 0, "this root may not"
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Root, too, may only do what permissions of files allow (capabilities of linux/capability.h)."""
NO_USER = """
import pwd

def getpwuid(_):
    raise KeyError("a container may run as a user whom it does not know")

pwd.getpwuid = getpwuid
"""


@dataclass
class Computer:
    """An installation and a model, and what a process of them finds around it."""

    site: Path
    model: Path
    expected: list[Any]
    environment: dict[str, str]

    def start(self) -> subprocess.Popen[str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HOME", "NUMBA", "XDG", "PYTHON", "COV"))
        }
        arguments = ["-c", START, str(self.site), str(self.model), json.dumps(TEXTS)]
        return subprocess.Popen(
            [sys.executable, "-c", BOUND_BY_PERMISSIONS, *arguments],
            env={**inherited, "PYTHONPATH": str(self.site), **self.environment},
            cwd=self.model,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf8",
        )

    def starts(self, n: int) -> None:
        """So many at once; all annotate as they should, and complain of nothing."""
        for process in [self.start() for _ in range(n)]:
            output, complaints = process.communicate(timeout=600)
            assert (process.returncode, complaints) == (0, "")
            assert json.loads(output) == self.expected


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A saved pipeline, and what it should write."""
    nlp = trained_cascade()
    folder = tmp_path_factory.mktemp("model")
    nlp.to_disk(folder)
    return folder, [
        [[e.start, e.end, e.label_, e._.confidence] for e in doc.ents] for doc in map(nlp, TEXTS)
    ]


def install(folder: Path, kernels: Path | None = None, writable: bool = False) -> Path:
    """A copy of the package; kernels: those kept beside it."""
    package = folder / "site" / "spacy_cascade"
    source = Path(spacy_cascade.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in kernels.glob("*/*") if kernels else ():
        beside = package / path.parent.name.partition("_")[0] / "__pycache__"
        beside.mkdir(exist_ok=True)
        shutil.copy(path, beside)
    if not writable:
        make_read_only(folder / "site")
    return folder / "site"


def make_read_only(folder: Path) -> Path:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return folder


def empty(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


Make = Callable[..., Computer]


@pytest.fixture(scope="module")
def computer(model: tuple[Path, list[Any]], tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Makes one with these variables and the same read-only installation, or another."""
    read_only = install(tmp_path_factory.mktemp("installed"))

    def make(site: Path = read_only, **environment: object) -> Computer:
        return Computer(site, *model, {name: str(value) for name, value in environment.items()})

    return make


@pytest.fixture(scope="module")
def n_cold(cases: Callable[[int], int]) -> int:
    """Starts on an empty cache; at least two, which meet there."""
    return max(2, cases(24))


@pytest.fixture(scope="module")
def filled(computer: Make, n_cold: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that was empty when several processes started at once."""
    folder = tmp_path_factory.mktemp("filled")
    computer(NUMBA_CACHE_DIR=folder, HOME="/nowhere").starts(min(AT_ONCE, n_cold))
    assert list(folder.rglob("*.kernel"))
    return folder


def groups(n: int) -> Iterator[int]:
    """`n` in parts of how many start at once."""
    for begin in range(0, n, AT_ONCE):
        yield min(AT_ONCE, n - begin)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_many_at_once_on_an_empty_cache(
    n_cold: int,
    figure: Callable[[str, str], None],
    computer: Make,
    filled: Path,
    tmp_path: Path,
) -> None:
    """In the folder that a variable names (`filled`), in the home, beside the package."""
    home, site = empty(tmp_path / "home"), install(tmp_path, writable=True)
    others = [(home, computer(HOME=home)), (site, computer(site, HOME=tmp_path / "none"))]
    for (kept, here), size in zip(others, list(groups(n_cold))[1:], strict=False):
        here.starts(size)
        assert len(list(kept.rglob("*.kernel"))) == len(list(filled.rglob("*.kernel")))
    assert {path.suffix for path in contents(filled)} == {".kernel"}, "nothing begun is left"
    at_once = min(n_cold, AT_ONCE)
    figure(f"{n_cold} starts, {at_once} at once on one empty kernel cache", "none failed")


def test_nothing_can_be_written(
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
    computer: Make,
    filled: Path,
    tmp_path: Path,
) -> None:
    """Read-only installation; no home, an unknown user, a home that cannot be written."""
    strange = empty(tmp_path / "strange")
    (strange / "sitecustomize.py").write_text(NO_USER)
    beside = install(tmp_path, kernels=filled)
    unwritable = make_read_only(empty(tmp_path / "home"))
    a_file = tmp_path / "file"
    a_file.write_text("not a folder")
    kept = tmp_path / "kept"
    shutil.copytree(filled, kept)
    make_read_only(kept)
    places = [
        computer(beside, PYTHONPATH=f"{beside}{os.pathsep}{strange}", PYTHONDONTWRITEBYTECODE=1),
        computer(NUMBA_CACHE_DIR=kept, HOME=unwritable),
        computer(beside, NUMBA_CACHE_DIR=unwritable, HOME=unwritable),
        computer(beside, NUMBA_CACHE_DIR=a_file, HOME=a_file),
        computer(HOME=unwritable),
    ]
    n = cases(40)
    each = max(1, n // len(places))
    for place in places[:n]:
        whole = contents(tmp_path)
        place.starts(each)
        assert contents(tmp_path) == whole, "nothing was written"
    ways = f"{min(n, len(places))} ways of a read-only installation"
    figure(f"{n} starts in {ways}, without a home or one that can be written", "none failed")
