"""Writing results as JSON, with a report and pictures beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from ..lib.machine import is_installed


def write_json(results: Mapping[str, Any], path: Path) -> None:
    """Write results to a file; its folder is made where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf8")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf8"))


def print_results(results: Mapping[str, Any], output: Path | None) -> None:
    """Print results as JSON, and write them to `output` if there is one."""
    print(json.dumps(results, indent=1))
    if output:
        write_json(results, output)


def draw(module: str, results: Any, pictures: Mapping[str, Path]) -> None:
    """Draw the pictures of a module of this folder, where matplotlib is installed.

    It is imported here, after everything was measured, because child processes inherit the peak
    memory of this one. Pictures of earlier results are deleted.
    """
    for path in pictures.values():
        path.unlink(missing_ok=True)
    if not is_installed("matplotlib"):
        print('  no pictures: add matplotlib with pip install "spacy-cascade[viz]"')
        return
    functions: Mapping[str, Callable[[Any, str], None]]
    functions = import_module(f"benchmarks.reports.{module}").PICTURES
    for name, path in pictures.items():
        functions[name](results, str(path))


def write_report(results: Mapping[str, Any], output: Path, report: str, picture: str) -> None:
    """Write and print results with one picture. picture: module that draws it."""
    write_json(results, output)
    path = output.with_suffix(".png")
    draw(picture, results, {"": path})
    if path.exists():
        title = import_module(f"benchmarks.reports.{picture}").TITLE
        report += f"\n![{title}]({path.name})\n"
    output.with_suffix(".md").write_text(report, encoding="utf8")
    print(report)
