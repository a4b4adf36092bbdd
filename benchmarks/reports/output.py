"""Writing results as JSON, with a report and pictures beside them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..lib.arguments import runner_for
from ..lib.machine import describe_run, is_installed
from ..lib.processes import Result, TaskRunner


@dataclass(frozen=True)
class Picture:
    """The picture of a report. draw: makes a PNG file of results."""

    title: str
    draw: Callable[[Result, str], None]

    def link(self, path: Path) -> str:
        return f"\n![{self.title}]({path.name})\n"


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
    """Delete pictures of earlier results. Returns whether matplotlib is installed."""
    for path in pictures:
        path.unlink(missing_ok=True)
    if not is_installed("matplotlib"):
        print('  no pictures: add matplotlib with pip install "spacy-cascade[viz]"')
        return False
    return True


def write_report(
    results: Result,
    output: Path,
    make_report: Callable[[Result], str],
    picture: Picture | None = None,
) -> None:
    """Write results as JSON, and their report as Markdown beside it; print the report."""
    write_json(results, output)
    report = make_report(results)
    path = output.with_suffix(".png")
    if picture and can_draw([path]):
        picture.draw(results, str(path))
        report += picture.link(path)
    output.with_suffix(".md").write_text(report, encoding="utf8")
    print(report)


def run(
    parser: argparse.ArgumentParser,
    name: str,
    measure: Callable[[TaskRunner, argparse.Namespace], Result],
    make_report: Callable[[Result], str] | None = None,
    picture: Picture | None = None,
) -> None:
    """An experiment as a command: measure, and write the results, with a report if there is one.

    name: of the folder for models and results of tasks. measure: returns what the results have
    besides the machine and its load.
    """
    arguments = parser.parse_args()
    results = describe_run()
    results |= measure(runner_for(arguments, name), arguments)
    if make_report:
        write_report(results, arguments.output, make_report, picture)
    else:
        print_results(results, arguments.output)
