"""`spacy package`: a pipeline as a wheel, installed where nothing else is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest
import spacy

from helpers import CONFIGS, PROJECT, run_spacy
from spacy_cascade._version import __version__

TEXT = "NF-kappa B binds the IL-2 promoter in Jurkat cells."
ANNOTATE = """
import json, sys
import en_sample
doc = en_sample.load()(sys.argv[1])
print(json.dumps([[e.text, e.label_, e._.confidence] for e in doc.ents]))
"""


def run(*arguments: object) -> str:
    """A command without the folders that this process finds modules in."""
    result = subprocess.run(
        [str(argument) for argument in arguments],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=600.0,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


@pytest.fixture(scope="module")
def wheels(first_use: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of a pipeline and of this project.

    The proof names the wheel that is released in the environment variable `BUILT_WHEEL`.
    """
    folder = tmp_path_factory.mktemp("packaging")
    options = ("--name", "sample", "--version", "1.0.0", "--build", "wheel")
    run_spacy("package", first_use / "OUT" / "model-best", folder, *options)
    wheels = folder / "wheels"
    if released := os.environ.get("BUILT_WHEEL"):
        wheels.mkdir()
        shutil.copy(released, wheels)
    else:
        _build(folder / "project", wheels)
    for wheel in folder.glob("en_sample-1.0.0/dist/*.whl"):
        shutil.copy(wheel, wheels)
    return wheels


def _build(sources: Path, wheels: Path) -> None:
    """Of a copy of the project; wheels: the folder that the wheel is written to."""
    sources.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, sources)
    skipped = shutil.ignore_patterns("__pycache__")
    for name in ("spacy_cascade", "configs"):
        shutil.copytree(PROJECT / name, sources / name, ignore=skipped)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", wheels, sources)


@pytest.mark.slow(kind="packages")
def test_the_package_names_what_it_needs(wheels: Path) -> None:
    (wheel,) = wheels.glob("en_sample*.whl")
    metadata = ZipFile(wheel).read("en_sample-1.0.0.dist-info/METADATA").decode()
    (needed,) = (line for line in metadata.splitlines() if "spacy-cascade" in line)
    assert needed.startswith("Requires-Dist: spacy-cascade")
    assert f">={__version__}" in needed


@pytest.mark.slow(kind="packages")
def test_the_wheel_of_the_project_has_its_configs(wheels: Path) -> None:
    """Where `init --from` finds them."""
    (wheel,) = map(ZipFile, wheels.glob("spacy_cascade*.whl"))
    for config in CONFIGS:
        name = f"spacy_cascade/tools/init/configs/{config.name}"
        assert wheel.read(name) == config.read_bytes()


@pytest.mark.slow(kind="packages")
def test_it_annotates_in_a_fresh_environment(wheels: Path, first_use: Path, tmp_path: Path) -> None:
    """pip is told of the pipeline only, and finds this project by what that requires."""
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "--find-links", wheels, "en-sample==1.0.0")
    found = json.loads(run(python, "-c", ANNOTATE, TEXT))
    doc = spacy.load(first_use / "OUT" / "model-best")(TEXT)
    assert [entity[:2] for entity in found] == [[e.text, e.label_] for e in doc.ents]
    assert [entity[2] for entity in found] == pytest.approx([e._.confidence for e in doc.ents])
