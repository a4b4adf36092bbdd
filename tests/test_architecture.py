"""Imports run one way, without circles, and only the outer layers know what a Doc is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from helpers import PROJECT
from tests.support.imports import (
    BETWEEN_ROOMS,
    FILES,
    FROM_CORE,
    IMPORTS,
    LAYERS,
    PACKAGE,
    PAGE,
    ROOMS,
    circle_in,
    imports,
    modules,
    room,
    with_picture,
)

BENCHMARKS = PROJECT / "benchmarks"
EVERYWHERE = {
    "types", "errors", "files", "locking", "parallel", "processes", "jit", "kernel_cache",
    "compiling_ahead", "lanes", "checks", "caching", "extras", "msgpack_hooks", "stages", "rooms",
    "text_sources",
}  # fmt: skip
"""Open to all layers."""
DOCS = {
    "features.group_spans", "features.tokens", "pipeline", "workflows", "callbacks", "cli",
    "text_sources",
}  # fmt: skip
"""What of the core may import spaCy, and so know its Doc."""
STRINGS = {"features.strings"}
"""What may import spaCy's hash of a text."""
COMPILED = {"inference", "numeric", "features"}
"""Where compiled functions of the core may stand: beside the arrays that they make."""


BENCHMARK_LAYERS = ["suite", "experiments", "reports", "peers", "lib"]
"""Each may import those after it."""
BENCHMARK_FILES = modules(BENCHMARKS)
BENCHMARK_IMPORTS = {
    name: {target.removeprefix("benchmarks.") for target in imports(path, BENCHMARKS)}
    & BENCHMARK_FILES.keys()
    for name, path in BENCHMARK_FILES.items()
}
BENCHMARK_TASKS = {
    name: set(re.findall(r'"(\w+(?:\.\w+)+):(\w+)"', path.read_text(encoding="utf8")))
    for name, path in BENCHMARK_FILES.items()
}
"""For each module the tasks that it names as `MODULE:FUNCTION`."""
INNER = sorted(name for name in FILES if name and not name.startswith("_"))


def top(name: str) -> str:
    return name.split(".")[0]


def test_every_module_has_a_place() -> None:
    assert {top(name) for name in INNER} <= {*LAYERS, *EVERYWHERE, *ROOMS}


@pytest.mark.parametrize("name", [name for name in INNER if top(name) in LAYERS])
def test_imports_of_the_core_run_one_way(name: str) -> None:
    allowed = {*EVERYWHERE, *LAYERS[LAYERS.index(top(name)) :]}
    for other in IMPORTS[name]:
        assert top(other) in allowed or other.startswith("_"), f"{name} -> {other}"


def test_the_core_imports_no_rooms() -> None:
    assert set() == FROM_CORE


def test_systems_import_no_other_room() -> None:
    assert {pair for pair in BETWEEN_ROOMS if pair[0].startswith("systems.")} == set()


def test_no_rooms_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for one, other in BETWEEN_ROOMS:
        graph.setdefault(one, set()).add(other)
    assert graph
    assert circle_in(graph) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """A package that imports a module of its own is no circle: it is not imported by it."""
    assert circle_in(IMPORTS) == []


def test_no_benchmarks_import_each_other_in_a_circle() -> None:
    assert any(BENCHMARK_IMPORTS.values())
    assert circle_in(BENCHMARK_IMPORTS) == []


def test_imports_of_benchmarks_run_one_way() -> None:
    """A task that a runner starts by its name counts as an import, too."""
    for name, others in BENCHMARK_IMPORTS.items():
        allowed = BENCHMARK_LAYERS[BENCHMARK_LAYERS.index(top(name)) :] if name else []
        tasks = BENCHMARK_TASKS[name]
        for other in {*others, *(module for module, _ in tasks)}:
            assert top(other) in allowed, f"{name} imports {other}"


def test_tasks_of_benchmarks_are_functions() -> None:
    tasks = set().union(*BENCHMARK_TASKS.values())
    assert len(tasks) > 20
    for module, function in tasks:
        tree = ast.parse(BENCHMARK_FILES[module].read_text(encoding="utf8"))
        assert function in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}


def test_a_circle_is_found(tmp_path: Path) -> None:
    """One that is hidden in a function and behind a check for types."""
    (tmp_path / "a.py").write_text("def f():\n    from .b import g\n")
    (tmp_path / "b.py").write_text("if TYPE_CHECKING:\n    from . import c\n")
    (tmp_path / "c.py").write_text("from .a import f\n")
    root = tmp_path.name
    graph = {
        name: {target.removeprefix(f"{root}.") for target in imports(path, tmp_path)}
        for name, path in modules(tmp_path).items()
    }
    assert set(circle_in(graph)) == {"a", "b", "c"}


@pytest.mark.parametrize("name", INNER)
def test_only_the_outer_layers_know_spacy(name: str) -> None:
    if room(name):
        return
    is_outer = any(name == module or name.startswith(f"{module}.") for module in DOCS | STRINGS)
    of_spacy = [target for target in imports(FILES[name], PACKAGE) if top(target) == "spacy"]
    assert is_outer or not of_spacy, f"{name} imports {of_spacy}"


@pytest.mark.parametrize("name", [name for name in INNER if name.startswith("pipeline.spans.")])
def test_spans_of_docs_need_no_component(name: str) -> None:
    others = {n for n in IMPORTS[name] if top(n) == "pipeline" and n != "pipeline"}
    assert all(other.startswith("pipeline.spans") for other in others)


def test_kernels_are_compiled_in_one_way() -> None:
    """Only `jit` compiles, so that all kernels have the same settings and cache."""
    users: dict[str, set[str]] = {"numba": set(), "jit": set(), "kernel_cache": set()}
    for name, path in FILES.items():
        if "numba" in {top(target) for target in imports(path, PACKAGE)}:
            users["numba"].add(name)
        for target in users.keys() & IMPORTS[name]:
            users[target].add(top(name))
    own = {""}  # The package asks at once whether numba is there for a new Python.
    of_core = users["jit"] - set(ROOMS) - own
    assert {**users, "jit": of_core} == {
        "numba": {"jit", "kernel_cache", "lanes", "compiling_ahead"}, "jit": COMPILED,
        "kernel_cache": {"jit"},
    }  # fmt: skip


def test_kernels_of_the_chain_are_chosen_in_one_place() -> None:
    kernels = {
        "chain", "chain_losses", "contrast", "dense_losses", "k_best", "passive_aggressive",
        "scaled_chain", "viterbi",
    }  # fmt: skip
    of_chain = {f"inference.{name}" for name in kernels}
    # `spans` uses the sums of `chain`; rooms of structures build on these kernels. Everything else
    # of the core asks the structure.
    users = {name for name in FILES if of_chain & IMPORTS[name] and not room(name)} - of_chain
    assert users == {f"inference.{name}" for name in ("chain_kernels", "linear_chain", "spans")}


@pytest.mark.parametrize("name", INNER)
def test_no_file_is_over_400_lines(name: str) -> None:
    assert len(FILES[name].read_text(encoding="utf8").splitlines()) <= 400


def test_the_picture_in_contributing_shows_the_imports() -> None:
    """If not: `python tests/support/imports.py`."""
    page = PAGE.read_text(encoding="utf8")
    assert with_picture(page) == page
