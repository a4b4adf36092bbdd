"""What is said where numba cannot be imported, as in a Python that is newer than its releases."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers import PROJECT, run_python
from spacy_cascade import jit

OLD = """
import sys
from types import SimpleNamespace
sys.modules["spacy_cascade._version"] = SimpleNamespace(NEWEST_PYTHON=(3, 9), __version__="0")
"""
"""As if this Python was newer than those that are known."""


def message(code: str, tmp_path: Path, error: str = "") -> str:
    """The last line of a process in which importing numba raises an error, if there is one."""
    if error:
        (tmp_path / "numba").mkdir()
        (tmp_path / "numba/__init__.py").write_text(f"raise {error}", encoding="utf8")
    path = os.pathsep.join([str(tmp_path), str(PROJECT)])
    result = run_python("-c", code, PYTHONPATH=path)
    return (result.stdout + result.stderr).splitlines()[-1]


@pytest.mark.parametrize("error", ["ImportError('so new.')", "RuntimeError('so new')"])
def test_a_new_python_is_named_at_import(error: str, tmp_path: Path) -> None:
    found = message(f"{OLD}import spacy_cascade", tmp_path, error)
    assert re.fullmatch(
        r"ImportError: spacy_cascade cannot import numba, which compiles its kernels: so new\. "
        r"It has no release for Python 3\.\d+ yet\. Use Python 3\.10 to 3\.9\.",
        found,
    )


@pytest.mark.parametrize(
    ("python", "advice"),
    [
        ((3, 9), "Install it again for Python 3.9: pip install --force-reinstall numba."),
        ((3, 14, 2), "Install it again for Python 3.14: pip install --force-reinstall numba."),
        ((3, 15, 0), "It has no release for Python 3.15 yet. Use Python 3.10 to 3.14."),
    ],
)
def test_the_newest_python_with_a_release_is_no_new_one(
    python: tuple[int, ...], advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "NEWEST_PYTHON", (3, 14))
    monkeypatch.setattr(jit, "sys", SimpleNamespace(version_info=python))
    assert jit._advice() == advice


def test_a_broken_numba_is_to_be_installed_again(tmp_path: Path) -> None:
    """At the first use: with a Python that is known, the import waits for it."""
    code = "import spacy_cascade; print('imported', flush=True); spacy_cascade.fit"
    found = message(code, tmp_path, "ImportError('broken')")
    assert re.search(r": broken\. Install it again for Python 3\.\d+: pip install --force", found)


def test_a_new_python_that_numba_has_a_release_for_is_no_obstacle(tmp_path: Path) -> None:
    assert (
        message(f"{OLD}import spacy_cascade; print(spacy_cascade.fit.__name__)", tmp_path) == "fit"
    )
