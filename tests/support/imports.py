"""What modules import, and the picture of it in CONTRIBUTING.

`python tests/support/imports.py` draws the picture anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import spacy_cascade

PACKAGE = Path(spacy_cascade.__file__).parent
PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
_PICTURE = re.compile(r"(<!-- picture: imports -->\n```mermaid\n).*?(```\n)", re.DOTALL)
LAYERS = [
    "cli", "callbacks", "workflows", "pipeline", "trainers", "losses", "penalties",
    "storage", "scorers", "features", "inference", "numeric",
]  # fmt: skip
"""Folders of the core. Each may import those after it."""
ROOMS = ("systems", "tools")
"""Folders of rooms, which the core works without."""


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, root: Path) -> Iterator[str]:
    """Full names of what a file imports, for types only and inside of functions, too.

    For `from a import b` both `a` and `a.b`, of which one is a module.
    """
    package = [root.name, *path.relative_to(root).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *filter(None, [node.module])])
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


def modules(root: Path) -> dict[str, Path]:
    return {module_name(path, root): path for path in sorted(root.rglob("*.py"))}


def circle_in(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Modules that import each other in a circle; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


FILES = modules(PACKAGE)
IMPORTS = {
    name: {
        target.removeprefix("spacy_cascade.")
        for target in imports(path, PACKAGE)
        if target.startswith("spacy_cascade.")
    }
    & FILES.keys()
    for name, path in FILES.items()
}
"""For each module those of the package that it imports."""


def room(name: str) -> str:
    """`systems.NAME` or `tools.NAME`, in which a module is; empty for modules of the core."""
    names = name.split(".")
    return ".".join(names[:2]) if names[0] in ROOMS and len(names) > 1 else ""


FROM_CORE = {
    f"{name} -> {other}"
    for name, others in IMPORTS.items()
    for other in others
    if not room(name) and room(other)
}
"""What the core imports from rooms."""
BETWEEN_ROOMS = {
    (room(name), room(other))
    for name, others in IMPORTS.items()
    for other in others
    if room(name) and room(other) and room(name) != room(other)
}
"""Rooms that import from other rooms."""


def with_picture(page: str) -> str:
    """The page with the folders of the core and both rings around it, and who imports whom."""
    nodes = ["tools", "systems", *LAYERS]
    arrows = {
        (name.split(".")[0], other.split(".")[0])
        for name, others in IMPORTS.items()
        for other in others
        if room(name) or not room(other)
    }
    lines = [
        f"    {one} --> {other}\n"
        for one in nodes
        for other in nodes
        if one != other and (one, other) in arrows
    ]
    text = "flowchart TD\n" + "".join(lines)
    drawn, n = _PICTURE.subn(lambda match: match[1] + text + match[2], page)
    assert n == 1, "the page has one such picture"
    return drawn


if __name__ == "__main__":
    PAGE.write_text(with_picture(PAGE.read_text(encoding="utf8")), encoding="utf8")
