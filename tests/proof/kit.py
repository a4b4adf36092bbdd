"""The part that makes and checks all that a release is handed over with."""

from __future__ import annotations

import json
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tests.proof.environments import (
    PROJECT,
    Artefacts,
    Ran,
    artefacts,
    closing_line,
    copy_checkout,
    files_of_checkout,
    run,
    run_session,
)  # fmt: skip
from tests.proof.part import Came, Part, Row, Tried
from tests.proof.promises import TABLE, promises

_PACKAGE = "spacy_cascade/"
_CONFIGS = f"{_PACKAGE}tools/init/configs/"


class Found(NamedTuple):
    """What came of an item; said: the end of what a command printed that failed."""

    found: str
    is_gap: bool = False
    said: str = ""


class Kit(Part):
    """Sdist and wheel, a packaged pipeline, the bill of materials, citation, security."""

    installs = True
    title = "The release kit"
    says = (
        "Sdist and wheel are built twice to the same bytes, have the files that they should, and "
        "pass their checks. The wheel works in an empty folder, and so does a pipeline that is "
        "packaged and installed with it. The bill of materials names a licence for each "
        "dependency and for all data. `CITATION.cff` is valid. What SECURITY.md promises is tried "
        "sentence by sentence."
    )

    def items(self, tried: Tried) -> list[str]:
        return ["sdist and wheel"] if tried.is_short else list(_TRIALS)

    def attempt(self, item: str, tried: Tried) -> Came:
        return _TRIALS[item](tried.folder)._asdict()

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        return [Row(item, each["found"], each["is_gap"]) for item, each in came.items()]


def _failed(ran: Ran, found: str = "") -> Found:
    return Found(found or f"failed: {ran.last_line}", True, ran.end)


# Sdist and wheel


def _try_artefacts(folder: Path) -> Found:
    """Build twice, from two copies."""
    built: list[Artefacts] = []
    for name in ("first", "second"):
        copy_checkout(folder / name)
        ran = run_session("package", folder / name).ran
        if (made := artefacts(folder / name)) is None or ran.status:
            return _failed(ran)
        built.append(made)
    differ = [a.name for a, b in zip(*built, strict=True) if a.read_bytes() != b.read_bytes()]
    if differ:
        return Found(f"two builds differ: {', '.join(differ)}", True)
    expected = set(files_of_checkout())
    wrong = [*_wrong_in_sdist(built[0].sdist, expected), *_wrong_in_wheel(built[0].wheel, expected)]
    if wrong:
        return Found(f"missing or superfluous: {', '.join(wrong)}", True)
    sizes = ", ".join(f"{path.name} of {path.stat().st_size:,} bytes" for path in built[0])
    return Found(f"{sizes}: twice the same, with the files that they should have; checks passed")


def _wrong_in_sdist(sdist: Path, checkout: set[str]) -> list[str]:
    """What it lacks of the checkout, and has beside it; its metadata are its own."""
    with tarfile.open(sdist) as archive:
        files = {member.name.partition("/")[2] for member in archive if member.isfile()}
    metadata = {"PKG-INFO", "setup.cfg"}
    files = {name for name in files - metadata if ".egg-info/" not in name}
    return sorted(files ^ (checkout - {".gitignore"}))


def _wrong_in_wheel(wheel: Path, checkout: set[str]) -> list[str]:
    """Likewise; it has the package and the configs, and metadata with the licences."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    files = {name for name in names if ".dist-info/" not in name}
    expected = {name for name in checkout if name.startswith(_PACKAGE)}
    configs = {Path(name).name for name in checkout if name.startswith("configs/")}
    licences = {name.partition("/licenses/")[2] for name in names if "/licenses/" in name}
    wanted = {"LICENSE"} | {name for name in checkout if name.startswith("LICENSES/")}
    return sorted(
        (files ^ (expected | {_CONFIGS + name for name in configs})) | (licences ^ wanted)
    )


def _built(folder: Path) -> Path:
    """The checkout with sdist and wheel."""
    if artefacts(folder / "first") is None:
        copy_checkout(folder / "first")
        run_session("package", folder / "first")
    return folder / "first"


# What is installed from them


def _try_first_use(folder: Path) -> Found:
    ran = run_session("wheel", _built(folder)).ran
    if ran.status:
        return _failed(ran)
    return Found("the main job, and convert, init, train, evaluate, annotate in empty folders")


def _try_packaged(folder: Path) -> Found:
    built = artefacts(_built(folder))
    variables = {"BUILT_WHEEL": str(built.wheel)} if built else {}
    return _pytest(["tests/spacy_tools/test_packaging.py"], **variables)


def _pytest(tests: Iterable[str], **variables: str) -> Found:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    ran = run(*command, cwd=PROJECT, **variables)
    return _failed(ran, closing_line(ran)) if ran.status else Found(closing_line(ran))


# What is said about it


def _try_bill(folder: Path) -> Found:
    checkout = _built(folder)
    ran = run_session("supply", checkout).ran
    if ran.status:
        return _failed(ran)
    (path,) = (checkout / "dist").glob("*.cdx.json")
    components = json.loads(path.read_text(encoding="utf8"))["components"]
    if without := [each["name"] for each in components if not each.get("licenses")]:
        return Found(f"no licence is stated of {', '.join(without)}", True)
    page = "DEPENDENCIES.md"
    if (checkout / page).read_text("utf8") != (PROJECT / page).read_text("utf8"):
        return Found(f"{page} is another one than that of the session `supply`", True)
    data = [each for each in components if each["type"] == "data"]
    return Found(
        f"{len(components) - len(data)} packages, each with a licence; data: "
        + ", ".join(f"{each['name']} ({_licence(each)})" for each in data)
    )


def _licence(component: Mapping[str, Any]) -> str:
    stated = (
        each.get("license", {"name": each.get("expression")}) for each in component["licenses"]
    )
    return " and ".join(each.get("id") or each["name"] for each in stated)


def _try_citation(folder: Path) -> Found:
    command = [sys.executable, "-m", "uv", "tool", "run", "cffconvert", "--validate"]
    ran = run(*command, "-i", PROJECT / "CITATION.cff", cwd=PROJECT)
    return _failed(ran) if ran.status else Found(ran.last_line)


def _try_security(folder: Path) -> Found:
    """All tests of its sentences, those of robustness at the size of the gate."""
    table = promises(TABLE.read_text(encoding="utf8"))
    tried = [tests for tests in table.values() if not tests[0].startswith("- ")]
    came = _pytest(["tests/test_security.py", *dict.fromkeys(chain.from_iterable(tried))])
    promised = f"{len(tried)} of {len(table)} sentences promise something: {came.found}"
    return came._replace(found=promised)


_TRIALS: Mapping[str, Callable[[Path], Found]] = {
    "sdist and wheel": _try_artefacts,
    "first use of the wheel": _try_first_use,
    "a packaged pipeline": _try_packaged,
    "bill of materials": _try_bill,
    "CITATION.cff": _try_citation,
    "SECURITY.md, sentence by sentence": _try_security,
}
