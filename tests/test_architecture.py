"""Imports run one way, without circles, and only the outer layers know what a Doc is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from helpers import PROJECT
from imports import (
    FILES,
    IMPORTS,
    LAYERS,
    PACKAGE,
    PAGE,
    circle_in,
    imports,
    modules,
    with_picture,
)

BENCHMARKS = PROJECT / "benchmarks"
EVERYWHERE = {
    "types",
    "errors",
    "files",
    "locking",
    "parallel",
    "processes",
    "jit",
    "kernel_cache",
    "kernel_folders",
    "checks",
    "caching",
    "msgpack_hooks",
}
"""Open to all layers."""
CORPORA = {"corpora", "errors", "files", "caching"}
"""Readers of corpus files stand apart; only what stands at the top knows them and components."""
DOCS = {
    "features.group_spans", "features.tokens", "pipeline", "explaining", "workflows", "search",
    "callbacks", "corpora.docs", "corpora.placing", "corpora.annotated", "cli", "reports",
    "clustering", "annotation", "bulk",
}  # fmt: skip
"""What may import spaCy, and so know its Doc."""
STRINGS = {"features.strings"}
"""What may import spaCy's hash of a text."""
COMPILED = {"inference", "numeric", "features"}
"""Where compiled functions may stand: beside the arrays that they make."""


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


def test_every_module_has_a_layer() -> None:
    assert {top(name) for name in INNER} <= {*LAYERS, *EVERYWHERE, "corpora"}


@pytest.mark.parametrize("name", INNER)
def test_imports_run_one_way(name: str) -> None:
    layer = top(name)
    allowed = set(EVERYWHERE)
    if layer in LAYERS:
        allowed.update(LAYERS[LAYERS.index(layer) :])
    if layer in ("cli", "annotation"):
        allowed.add("corpora")
    if layer == "corpora":
        allowed = CORPORA
    for other in IMPORTS[name]:
        assert top(other) in allowed or other.startswith("_"), f"{name} imports {other}"


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
    is_outer = any(name == module or name.startswith(f"{module}.") for module in DOCS | STRINGS)
    of_spacy = [target for target in imports(FILES[name], PACKAGE) if top(target) == "spacy"]
    assert is_outer or not of_spacy, f"{name} imports {of_spacy}"


@pytest.mark.parametrize("name", [name for name in INNER if name.startswith("pipeline.spans.")])
def test_spans_of_docs_need_no_component(name: str) -> None:
    others = {n for n in IMPORTS[name] if top(n) == "pipeline" and n != "pipeline"}
    assert all(other.startswith("pipeline.spans") for other in others)


def test_kernels_are_compiled_in_one_way() -> None:
    """Only `jit` knows numba, so that all kernels have the same settings and cache."""
    users: dict[str, set[str]] = {"numba": set(), "jit": set(), "kernel_cache": set()}
    for name, path in FILES.items():
        if "numba" in {top(target) for target in imports(path, PACKAGE)}:
            users["numba"].add(name)
        for target in users.keys() & IMPORTS[name]:
            users[target].add(top(name))
    assert users == {"numba": {"jit", "kernel_cache"}, "jit": COMPILED, "kernel_cache": {"jit"}}


# Segmentations are scored as chains, and more.
SEMI_MARKOV = {f"inference.{name}" for name in ("semi_markov", "segment_losses", "online_segments")}


def test_kernels_of_the_chain_are_chosen_in_one_place() -> None:
    kernels = {
        "block_losses", "block_spans", "block_viterbi", "blocks", "chain", "chain_losses",
        "contrast", "dense_losses", "k_best", "lockstep", "passive_aggressive", "products",
        "scaled_chain", "viterbi",
    }  # fmt: skip
    of_chain = {f"inference.{name}" for name in kernels}
    # `spans` uses the sums of `chain`, `higher_order` the constraints of `contrast`. Everything
    # else asks the structure.
    users = {name for name in FILES if of_chain & IMPORTS[name]} - of_chain
    others = {f"inference.{name}" for name in ("chain_kernels", "linear_chain", "spans")}
    others.add("inference.higher_order")
    assert users == {*others, *SEMI_MARKOV}


def test_kernels_of_segmentations_are_chosen_in_one_place() -> None:
    names = "segments", "segment_losses", "segment_posteriors", "best_segments", "online_segments"
    kernels = {f"inference.{name}" for name in names}
    users = {name for name in FILES if kernels & IMPORTS[name]} - kernels
    assert users == {"inference.semi_markov"}


@pytest.mark.parametrize("name", INNER)
def test_no_file_is_over_300_lines(name: str) -> None:
    assert len(FILES[name].read_text(encoding="utf8").splitlines()) <= 300


def test_the_picture_in_contributing_shows_the_imports() -> None:
    """If not: `python tests/support/imports.py`."""
    page = PAGE.read_text(encoding="utf8")
    assert with_picture(page) == page
