"""The part that installs the package in all ways that the requirements allow."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import metadata
from pathlib import Path

from tests.proof.environments import (
    PROJECT,
    Artefacts,
    Environment,
    artefacts,
    closing_line,
    copy_checkout,
    run,
    run_session,
)  # fmt: skip
from tests.proof.part import Came, Part, Row, Tried

_DISTRIBUTION = metadata("spacy-cascade")
PYTHONS = re.findall(
    r"Python :: (3\.\d+)$", "\n".join(_DISTRIBUTION.get_all("Classifier") or ()), re.MULTILINE
)
EXTRAS = _DISTRIBUTION.get_all("Provides-Extra") or []
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}
"""Those of the session `tests`."""
NAMED = ("spacy", "thinc", "numpy", "numba", "pydantic")
"""Packages whose versions a row names."""
FEW_TESTS = (
    "tests/test_package.py", "tests/features/test_templates.py", "tests/numeric/test_index.py",
    "tests/penalties", "tests/storage/test_model_file.py", "tests/callbacks/test_calibrating.py",
)  # fmt: skip
"""Those of the short form: all but the last, which trains, compile little."""
NO_EXTRA, ALL_EXTRAS = "no extra", "all extras"
TESTS: Mapping[str, Sequence[str]] = {
    "serve": ("test_serving.py", "tools/annotation/test_label_studio.py"),
    "words": ("tools/words/test_making.py",),
    "transformers": ("tools/words/test_of_transformer.py", "tools/words/test_make_command.py"),
    "web": ("systems/dictionaries/growing/test_lists_grow.py",),
    "formats": ("tools/formats/test_convert_texts.py", "tools/formats/exchange"),
    "parquet": ("tools/bulk/test_annotate_files.py", "tools/bulk/test_records_that_fail.py"),
    "ray": ("tools/scale/test_on_ray.py", "tools/bulk/test_bulk_engines.py"),
    "spark": ("tools/bulk/test_bulk_engines.py",),
    "dask": ("tools/bulk/test_bulk_engines.py",),
    "viz": ("benchmarks/test_reports.py",),
    "bench": ("benchmarks/test_comparison.py",),
    "docs": ("test_site.py",),
}
"""Those of an extra, in tests/. All together are tried by the tests of all."""
NEEDED_BY_TESTS = ("pytest>=8.3", "hypothesis>=6.100", "scipy>=1.11", "httpx>=0.27")
_SAID = {"success": "work", "failed": "do not", "skipped": "are not there"}
_NO_WAY = ("No solution found", "Failed to build")
"""What uv says where requirements or the package are at fault, not the machine."""


class Matrix(Part):
    """The fast tests by Python and dependencies; a first use and tests by artefact and extra.

    The fast tests take some ten minutes a cell: nothing less says that all of the package works.
    """

    installs = True
    title = "Pythons, dependencies, extras"
    says = (
        "The fast tests on each Python that is there, with the oldest and the newest releases that "
        "the requirements allow. From the sdist and from the wheel, without extras, with each and "
        "with all, in an environment of its own: the commands are listed, the sample is learnt, "
        "saved, loaded and annotated, and the tests that need the extra pass."
    )

    def items(self, tried: Tried) -> list[str]:
        if tried.is_short:
            newest = [f"Python {python}, newest" for python in PYTHONS[-2:]]
            return [f"Python {PYTHONS[0]}, oldest", *newest]
        pythons = [f"Python {python}, {age}" for python in PYTHONS for age in RESOLUTIONS]
        extras = [NO_EXTRA, *EXTRAS, ALL_EXTRAS]
        return pythons + [f"{kind}, {extra}" for kind in Artefacts._fields for extra in extras]

    def attempt(self, item: str, tried: Tried) -> Came:
        what, _, how = item.partition(", ")
        checkout = tried.folder / "checkout"
        if what.startswith("Python"):
            copy_checkout(checkout)
            return _try_python(what.split()[1], RESOLUTIONS[how], checkout, tried.is_short)
        if (built := artefacts(checkout)) is None:
            copy_checkout(checkout)
            said = run_session("package", checkout).ran
            if (built := artefacts(checkout)) is None:
                return {"result": "failed", "step": "building", "said": said.end}
        return _try_extra(built._asdict()[what], how, checkout, tried.folder / "environment")

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        return [_row(item, each) for item, each in came.items()]

    def summary(self, came: Mapping[str, Came]) -> str:
        """How many environments work."""
        results = Counter(each["result"] for each in came.values())
        counted = (f"{n} {said}" for result, said in _SAID.items() if (n := results[result]))
        return f"{len(came)} environments: {', '.join(counted)}"


def _this_python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _try_python(python: str, resolution: str, checkout: Path, is_short: bool) -> Came:
    """A cell of the session `tests`."""
    few = ["-q", "-n", "0", "-m", "not slow", *FEW_TESTS] if is_short else []
    result, ran = run_session(f"tests-{python}(resolution='{resolution}')", checkout, *few)
    listed = dict(re.findall(r"^([\w.-]+) +(\d\S*)$", ran.said, re.MULTILINE))
    return {
        "result": result,
        "step": "testing",
        "versions": {name: listed[name] for name in NAMED if name in listed},
        "tests": closing_line(ran),
        "said": ran.end if result == "failed" else "",
    }


def _try_extra(artefact: Path, extra: str, checkout: Path, folder: Path) -> Came:
    """Install, use, test; up to the first step that fails. folder: of the environment."""
    chosen = {NO_EXTRA: [], ALL_EXTRAS: EXTRAS}.get(extra, [extra])
    tests = list(dict.fromkeys(test for name in chosen for test in TESTS.get(name, ())))
    environment = Environment(folder, _this_python())
    try:
        return _use(environment, artefact, chosen, _without_package(checkout, folder), tests)
    finally:
        environment.remove()


def _without_package(checkout: Path, folder: Path) -> Path:
    """All that tests need beside the package, so that they import what is installed.

    Of the package only what pages of the site link to.
    """
    place = folder.with_name("tests_alone")
    shutil.rmtree(place, ignore_errors=True)
    skipped = shutil.ignore_patterns("spacy_cascade", "dist", "build", "*.egg-info")
    shutil.copytree(checkout, place, ignore=skipped)
    for notice in (checkout / "spacy_cascade").rglob("*.md"):
        copied = place / notice.relative_to(checkout)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(notice, copied)
    return place


def _use(
    environment: Environment,
    artefact: Path,
    extras: Sequence[str],
    place: Path,
    tests: Sequence[str],
) -> Came:
    """place: the folder that tests are run in."""
    required = f"spacy-cascade[{','.join(extras)}] @ {artefact.as_uri()}"
    installed = environment.install(required)
    if installed.status:
        is_ours = any(words in installed.said for words in _NO_WAY)
        result = "failed" if is_ours else "skipped"
        return {"result": result, "step": "installing", "said": installed.end}
    came: Came = {"result": "success", "versions": environment.versions(), "tests": "", "said": ""}
    script = Path(__file__).with_name("first_use.py")
    empty = place / "first_use"
    empty.mkdir()
    used = run(environment.python, script, PROJECT / "assets/sample", cwd=empty)
    if used.status:
        return {**came, "result": "failed", "step": "first use", "said": used.end}
    if not tests:
        return came
    environment.install(*NEEDED_BY_TESTS)
    paths = [f"tests/{test}" for test in tests]
    options = ["-q", "-p", "no:cacheprovider"]
    tested = run(environment.python, "-m", "pytest", *options, *paths, cwd=place)
    came["tests"] = closing_line(tested)
    if tested.status or "passed" not in came["tests"]:
        return {**came, "result": "failed", "step": "testing", "said": tested.end}
    return came


def _row(item: str, came: Came) -> Row:
    if came["result"] == "skipped":
        missing = "no such Python here" if came["step"] == "testing" else _last(came["said"])
        return Row(item, f"not tried: {missing}")
    versions = came.get("versions", {})
    named = ", ".join(f"{name} {versions[name]}" for name in NAMED if name in versions)
    if came["result"] == "failed":
        why = came.get("tests") or _last(came["said"])
        return Row(item, f"{came['step']} failed: {why}; {named}".rstrip("; "), is_gap=True)
    return Row(item, "; ".join(filter(None, [named, came["tests"] or "first use"])))


def _last(said: str) -> str:
    return said.strip().rpartition("\n")[2]
