"""What parts of the proof run outside of this process: commands, artefacts, fresh environments."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
_SECONDS = 3600.0
_LONGEST = 2000
"""Characters that are kept of what a command printed."""


@dataclass(frozen=True)
class Ran:
    """What came of a command; said: all that it printed."""

    status: int
    said: str

    @property
    def end(self) -> str:
        return self.said[-_LONGEST:]

    @property
    def last_line(self) -> str:
        return self.said.strip().rpartition("\n")[2].strip("= ")


def run(*arguments: object, cwd: Path, **variables: str) -> Ran:
    """Run a command; this process does not tell it where modules are.

    variables: of the environment, beside those of this process.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [str(argument) for argument in arguments], cwd=cwd, env={**environment, **variables},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf8",
        errors="replace", timeout=_SECONDS,
    )  # fmt: skip
    return Ran(ran.returncode, ran.stdout)


def files_of_checkout() -> list[str]:
    """Those that git has or would add."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=PROJECT)
    return [name for name in listed.said.split("\0") if name and (PROJECT / name).is_file()]


def copy_checkout(folder: Path) -> None:
    """Copy its files: a build leaves folders behind, and takes up what lies there.

    folder: it is made anew.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for name in files_of_checkout():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, folder / name)


def closing_line(ran: Ran) -> str:
    """That of pytest; empty where there is none."""
    found: list[str] = re.findall(r"\d+ (?:passed|failed|skipped|error).* in [^=\n]*", ran.said)
    return found[-1].strip() if found else ""


class Session(NamedTuple):
    """What came of a session of nox; result: `success`, `failed` or `skipped`."""

    result: str
    ran: Ran


def run_session(name: str, checkout: Path, *arguments: str) -> Session:
    """Run a session of a checkout's noxfile; its environment is removed afterwards."""
    environments, report = checkout / ".nox", checkout / "nox.json"
    options = ["--envdir", environments, "--report", report, "--no-error-on-missing-interpreters"]
    options += ["--download-python", "never"]
    report.unlink(missing_ok=True)
    try:
        ran = run(
            sys.executable, "-m", "nox", *options, "-s", name, "--", *arguments, cwd=checkout
        )  # fmt: skip
    finally:
        shutil.rmtree(environments, ignore_errors=True)
    if not report.exists():
        return Session("failed", ran)
    (session,) = json.loads(report.read_text(encoding="utf8"))["sessions"]
    return Session(session["result"], ran)


class Artefacts(NamedTuple):
    """A built sdist and wheel."""

    sdist: Path
    wheel: Path


def artefacts(checkout: Path) -> Artefacts | None:
    """Those that the session `package` made in a checkout; None where it did not come to an end."""
    sdists, wheels = ((checkout / "dist").glob(pattern) for pattern in ("*.tar.gz", "*.whl"))
    found = [*sdists, *wheels]
    return Artefacts(*found) if len(found) == 2 else None


class Environment:
    """A virtual environment that uv makes anew."""

    def __init__(self, folder: Path, python: str) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        made = self._uv("venv", "--quiet", "--python", python, folder)
        if made.status:
            raise RuntimeError(made.said)

    def install(self, *needed: object) -> Ran:
        """Requirements, artefacts and options of `uv pip install`."""
        return self._uv("pip", "install", "--quiet", "--python", self.python, *needed)

    def versions(self) -> dict[str, str]:
        """Those of all that is installed."""
        listed = self._uv("pip", "list", "--python", self.python, "--format", "json", "--quiet")
        return {each["name"]: each["version"] for each in json.loads(listed.said)}

    def remove(self) -> None:
        shutil.rmtree(self._folder)

    def _uv(self, *arguments: object) -> Ran:
        return run(sys.executable, "-m", "uv", *arguments, cwd=self._folder.parent)
