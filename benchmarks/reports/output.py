"""Writing results as JSON, with a report and pictures beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..lib.machine import is_installed

Result = dict[str, Any]


def write_json(results: Mapping[str, Any], path: Path) -> None:
    """Write results to a file; make its folder if there is none."""
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


def can_draw(pictures: Iterable[Path]) -> bool:
    """Delete pictures of earlier results. Returns whether matplotlib is installed.

    Modules that draw are imported only after everything was measured, because child processes
    inherit the peak memory of this one.
    """
    for path in pictures:
        path.unlink(missing_ok=True)
    if not is_installed("matplotlib"):
        print('  no pictures: add matplotlib with pip install "spacy-cascade[viz]"')
        return False
    return True


def write_table(results: Result, output: Path, report: str) -> None:
    """Write results as JSON and Markdown, and print the latter."""
    write_json(results, output)
    output.with_suffix(".md").write_text(report, encoding="utf8")
    print(report)


def write_report(
    results: Result, output: Path, report: str, title: str, draw: Callable[[Result, str], None]
) -> None:
    """Write and print results as JSON and Markdown with a picture. title, draw: of the picture."""
    path = output.with_suffix(".png")
    if can_draw([path]):
        draw(results, str(path))
        report += f"\n![{title}]({path.name})\n"
    write_table(results, output, report)
