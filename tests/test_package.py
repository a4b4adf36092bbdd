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


@pytest.mark.slow(kind="fresh process")
def test_every_name_resolves_in_a_process_that_imports_spacy_only() -> None:
    code = (
        "import json, sys, spacy\n"
        "from spacy.util import registry\n"
        "print(all(callable(getattr(registry, r).get(n)) for r, n in json.loads(sys.argv[1])))"
    )
    assert len(NAMES) >= 15
    result = run_python("-c", code, json.dumps(NAMES))
    assert result.stdout.strip() == "True", result.stderr


def test_a_blank_pipeline_takes_the_components_without_an_import() -> None:
    code = (
        "import spacy; nlp = spacy.blank('en')\n"
        "nlp.add_pipe('cascade_segmenter'); nlp.add_pipe('cascade_classifier')\n"
        "nlp.add_pipe('cascade_tagger')\n"
        "print(nlp.pipe_names)"
    )
    found = run_python("-c", code).stdout
    assert "cascade_classifier" in found
    assert "cascade_tagger" in found


def test_the_command_is_found() -> None:
    result = run_python("-m", "spacy", "cascade", "--help")
    assert result.returncode == 0, result.stderr
    assert "convert" in result.stdout


def _required(distribution: str) -> set[str]:
    """Names of what it needs without extras."""
    lines = [line for line in requires(distribution) or [] if "extra ==" not in line]
    return {re.match(r"[\w.-]+", line)[0].lower() for line in lines}  # type: ignore[index]


def test_annotating_needs_no_extra() -> None:
    """Importing and adding components loads nothing that only training or plots need."""
    code = (
        "import sys, spacy; nlp = spacy.blank('en'); nlp.add_pipe('cascade_segmenter')\n"
        "print([n for n in ('pycrfsuite', 'matplotlib', 'hypothesis') if n in sys.modules])"
    )
    assert run_python("-c", code).stdout.strip() == "[]"
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
