"""Cells of the matrix: which there are, and what is said of what came of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers import PROJECT
from tests.proof import matrix
from tests.proof.environments import Ran, Session
from tests.proof.matrix import ALL_EXTRAS, EXTRAS, NEEDED_BY_TESTS, NO_EXTRA, Matrix
from tests.proof.part import Tried

VERSIONS = {"spacy": "3.8.13", "numpy": "1.26.0", "click": "8.1"}


def test_every_python_and_every_extra_is_tried(tmp_path: Path) -> None:
    declared = (PROJECT / "pyproject.toml").read_text(encoding="utf8")
    section = declared.split("[project.optional-dependencies]")[1].split("\n\n")[0]
    extras = [NO_EXTRA, *re.findall(r"^([\w-]+) = \[", section, re.MULTILINE), ALL_EXTRAS]
    pythons = re.findall(r"Python :: (3\.\d+)", declared)
    assert Matrix().items(Tried(tmp_path, is_short=False)) == [
        *(f"Python {python}, {age}" for python in pythons for age in ("oldest", "newest")),
        *(f"{artefact}, {extra}" for artefact in ("sdist", "wheel") for extra in extras),
    ]
    in_short = Matrix().items(Tried(tmp_path, is_short=True))
    assert {f"Python {pythons[0]}, oldest", f"Python {pythons[-1]}, newest"} < set(in_short)
    assert matrix.TESTS.keys() <= set(EXTRAS)
    assert all(
        (PROJECT / "tests" / test).exists() for each in matrix.TESTS.values() for test in each
    )
    assert all((PROJECT / test).exists() for test in matrix.FEW_TESTS)
    assert all(f'"{needed}"' in declared for needed in NEEDED_BY_TESTS)


def test_a_cell_of_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the versions that uv lists, and the closing line of pytest."""
    said = (
        "Package  Version\n-------  -------\nnumba    0.61.0\nthinc    8.3.12\n"
        "....\n======= 7 passed, 2 skipped in 1.20s =======\nnox > Session was successful"
    )
    asked: list[tuple[str, ...]] = []

    def answer(name: str, checkout: Path, *arguments: str) -> Session:
        asked.append((name, *arguments))
        return Session("success", Ran(0, said))

    monkeypatch.setattr(matrix, "run_session", answer)
    monkeypatch.setattr(matrix, "copy_checkout", lambda folder: None)
    part, item = Matrix(), "Python 3.10, oldest"
    (row,) = part.rows({item: part.attempt(item, Tried(tmp_path, is_short=False))})
    assert row == (item, "thinc 8.3.12, numba 0.61.0; 7 passed, 2 skipped in 1.20s", False)
    assert asked == [("tests-3.10(resolution='lowest-direct')",)]


@pytest.mark.parametrize(
    ("came", "found", "is_gap"),
    [
        (
            {"result": "success", "versions": VERSIONS, "tests": ""},
            "spacy 3.8.13, numpy 1.26.0; first use",
            False,
        ),
        (
            {
                "result": "failed",
                "step": "testing",
                "versions": VERSIONS,
                "tests": "1 failed in 2s",
            },
            "testing failed: 1 failed in 2s; spacy 3.8.13, numpy 1.26.0",
            True,
        ),
        (
            {"result": "failed", "step": "installing", "said": "a\nNo solution found"},
            "installing failed: No solution found",
            True,
        ),
        (
            {"result": "skipped", "step": "installing", "said": "no route to host\n"},
            "not tried: no route to host",
            False,
        ),
        (
            {"result": "skipped", "step": "testing", "versions": {}, "tests": "", "said": ""},
            "not tried: no such Python here",
            False,
        ),
    ],
)
def test_what_is_said_of_a_cell(came: dict[str, object], found: str, is_gap: bool) -> None:
    assert Matrix().rows({"a cell": came}) == [("a cell", found, is_gap)]


def test_environments_are_counted() -> None:
    results = ["success", "success", "skipped", "failed"]
    came = {str(number): {"result": result} for number, result in enumerate(results)}
    assert Matrix().summary(came) == "4 environments: 2 work, 1 do not, 1 are not there"


def test_tests_import_the_installed_package(tmp_path: Path) -> None:
    """They run where only its notices are."""
    checkout = tmp_path / "checkout"
    for name in ("spacy_cascade/a/b.py", "spacy_cascade/a/NOTICE.md", "tests/test_a.py"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    place = matrix._without_package(checkout, tmp_path / "environment")
    files = sorted(str(path.relative_to(place)) for path in place.rglob("*.*"))
    assert files == ["spacy_cascade/a/NOTICE.md", "tests/test_a.py"]


def test_tests_that_are_all_skipped_try_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        python = Path("python")

        def install(self, *needed: object) -> Ran:
            return Ran(0, "")

        def versions(self) -> dict[str, str]:
            return VERSIONS

    monkeypatch.setattr(matrix, "run", lambda *_, **__: Ran(0, "=== 3 skipped in 0.10s ==="))
    wheel = tmp_path / "a.whl"
    came = matrix._use(Installed(), wheel, ["web"], tmp_path, ["test_a.py"])  # type: ignore[arg-type]
    assert (came["result"], came["step"]) == ("failed", "testing")
