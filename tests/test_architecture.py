"""Imports run one way, and only the outer layers know what a Doc is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import spacy_cascade

PACKAGE = Path(spacy_cascade.__file__).parent
LAYERS = [
    "cli",
    "reports",
    "search",
    "pipeline",
    "trainers",
    "objectives",
    "models",
    "features",
    "inference",
]
"""Each may import those after it."""
EVERYWHERE = {"types", "errors", "files", "parallel", "jit", "kernel_cache"}
"""These know of each other at most."""
ALLOWED = {
    **{layer: {*LAYERS[i:], "schemes"} for i, layer in enumerate(LAYERS)},
    "schemes": {"inference"},
    "corpora": {"corpora"},
}
ALLOWED["inference"] -= {"schemes"}
EXTRA = {"cli": {"corpora"}}
"""The command line brings corpora and components together."""
REPORTS = {
    "reports.explanation",
    "reports.reading",
    "reports.texts",
    "reports.page",
    "reports.corpus",
}
DOCS = {"features.sequences", "pipeline", "search", "corpora.docs", "cli", *REPORTS}
"""What may import spaCy's Doc."""
STRINGS = {"features.strings"}
"""What may import spaCy's hash of a text."""


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Full names of all modules that a file imports, wherever it does so."""
    package = ["spacy_cascade", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = [*base, *(node.module or "").split(".")] if node.module else base
            if node.module:
                yield ".".join(names)
            else:
                yield from (".".join([*names, alias.name]) for alias in node.names)


FILES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
INNER = sorted(name for name in FILES if name and not name.startswith("_"))


def test_every_module_has_a_layer():
    known = {*LAYERS, *EVERYWHERE, "schemes", "corpora"}
    assert {name.split(".")[0] for name in INNER} <= known


@pytest.mark.parametrize("name", INNER)
def test_imports_run_one_way(name):
    layer = name.split(".")[0]
    allowed = EVERYWHERE | ALLOWED.get(layer, set()) | EXTRA.get(layer, set())
    for target in imports(FILES[name]):
        if target.startswith("spacy_cascade."):
            other = target.split(".")[1]
            assert other in allowed or other.startswith("_"), f"{name} imports {target}"


@pytest.mark.parametrize("name", INNER)
def test_only_the_outer_layers_know_spacy(name):
    outer = any(name == module or name.startswith(module + ".") for module in DOCS | STRINGS)
    spacy_imports = [target for target in imports(FILES[name]) if target.split(".")[0] == "spacy"]
    assert outer or not spacy_imports, f"{name} imports {spacy_imports}"


@pytest.mark.parametrize(
    ("folder", "others"),
    [
        ("spans", {"components", "training", "explaining"}),
        ("components", {"explaining"}),
        ("training", {"explaining"}),
    ],
)
def test_folders_of_the_pipeline(folder, others):
    """Spans of Docs need no component, and nothing needs explanations."""
    for name, path in FILES.items():
        if name.startswith(f"pipeline.{folder}."):
            known = {target.split(".")[2] for target in imports(path) if target.count(".") > 2}
            assert not known & others, f"{name} imports from pipeline.{known & others}"


def test_corpora_stand_apart():
    """Readers of corpus files need nothing else of the package, but errors and files."""
    for name, path in FILES.items():
        if name.startswith("corpora"):
            for target in imports(path):
                if target.startswith("spacy_cascade."):
                    assert target.split(".")[1] in {"corpora", "errors", "files"}


def test_kernels_are_compiled_in_one_way():
    """Everything that is compiled lives in inference, or beside the arrays it makes."""
    kernels = ("numba", "spacy_cascade.jit", "spacy_cascade.kernel_cache")
    users = {target: set() for target in kernels}
    for name, path in FILES.items():
        for target in users.keys() & set(imports(path)):
            users[target].add(name.split(".")[0])
    assert users["numba"] == {"jit", "kernel_cache"}
    assert users["spacy_cascade.kernel_cache"] == {"jit"}
    assert users["spacy_cascade.jit"] == {"inference", "features"}
