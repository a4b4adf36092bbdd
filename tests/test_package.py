"""What the package promises to those who install it."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from importlib.metadata import entry_points, requires
from importlib.resources import files

import pytest

import spacy_cascade
from helpers import PROJECT, run_python

GROUPS = {
    "spacy_architectures": "architectures",
    "spacy_misc": "misc",
    "spacy_augmenters": "augmenters",
    "spacy_batchers": "batchers",
    "spacy_tokenizers": "tokenizers",
    "spacy_scorers": "scorers",
    "spacy_callbacks": "callbacks",
}
NAMES = [
    (registry, entry.name)
    for group, registry in GROUPS.items()
    for entry in entry_points(group=group)
    if entry.value.startswith("spacy_cascade")
]


_FRESH = """
import json, sys
import spacy.cli
from spacy.cli._util import app
from spacy.util import registry
from typer.testing import CliRunner

names = json.loads(sys.argv[1])
found = {"spaCy": sorted(sys.modules)}
registry.cli.get_all()  # as spaCy does before it reads its command line
for command in (["--help"], ["cascade", "--help"]):
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    found[" ".join(["spacy", *command])] = sorted(sys.modules)
nlp = spacy.blank("xx")
for name in ("segmenter", "classifier", "tagger"):
    nlp.add_pipe(f"cascade_{name}")
found["components"] = sorted(sys.modules)
found["resolved"] = [name for r, name in names if callable(getattr(registry, r).get(name))]
print(json.dumps(found))
"""
"""Imports nothing of the package by name. Says which modules there are after each step."""


@pytest.fixture(scope="module")
def fresh() -> dict[str, set[str]]:
    """The modules of a new process after each of its steps, and the names that it resolves."""
    result = run_python("-c", _FRESH, json.dumps(NAMES), timeout=300)
    assert result.returncode == 0, result.stderr
    return {step: set(names) for step, names in json.loads(result.stdout).items()}


def test_a_list_of_commands_imports_next_to_nothing(fresh: dict[str, set[str]]) -> None:
    """So `spacy cascade --help` takes about as long as `spacy --help` without this package."""
    of_spacy, plain, listed = (fresh[x] for x in ("spaCy", "spacy --help", "spacy cascade --help"))
    assert len(plain - of_spacy) < 0.04 * len(of_spacy)
    assert len(listed - plain) <= 5
    assert not {name for name in listed - plain if name.startswith("spacy_cascade")}
    assert "numba" not in listed


def test_components_and_names_are_there_without_an_import(fresh: dict[str, set[str]]) -> None:
    """And adding components loads nothing that only training or plots need."""
    assert len(NAMES) >= 15
    assert fresh["resolved"] == {name for _, name in NAMES}
    assert not fresh["components"] & {"pycrfsuite", "matplotlib", "hypothesis"}


def _required(distribution: str) -> set[str]:
    """Names of what it needs without extras."""
    lines = [line for line in requires(distribution) or [] if "extra ==" not in line]
    return {re.match(r"[\w.-]+", line)[0].lower() for line in lines}  # type: ignore[index]


def test_annotating_needs_no_extra() -> None:
    assert _required("spacy-cascade") - _required("spacy") == {
        "filelock",
        "lazy-loader",
        "spacy",
        "numba",
        "regex",
    }


def test_types_and_public_names() -> None:
    assert files("spacy_cascade").joinpath("py.typed").is_file()
    assert all(hasattr(spacy_cascade, name) for name in spacy_cascade.__all__)


def test_files_that_are_not_code_are_installed_too() -> None:
    """Tests may run on the sources, where nothing is missing."""
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf8")
    section = text.split("[tool.setuptools.package-data]\n")[1].split("\n\n")[0]
    patterns = [
        (name.strip().strip('"').split("."), literal_eval(globs.strip()))
        for name, globs in (line.split("=") for line in section.splitlines())
    ]
    installed = {
        path
        for package, globs in patterns
        for glob in globs
        for path in PROJECT.joinpath(*package).glob(glob)
    }
    others = {
        path
        for path in (PROJECT / "spacy_cascade").rglob("*")
        if path.is_file() and path.suffix != ".py" and path.parent.name != "__pycache__"
    }
    assert len(others) >= 4
    assert installed == others


@pytest.mark.parametrize("error", ["ConfigError", "CorpusError", "ModelFileError", "TrainingError"])
def test_errors_have_one_base(error: str) -> None:
    assert issubclass(getattr(spacy_cascade, error), spacy_cascade.CascadeError)
