"""Chains and semi-Markov chains on few documents: both tables and figure 1 of the paper.

python -m benchmarks.suite.segmentations --data assets/suite --lexicons assets/lexicons

The F1 of spans on dev, tokens and sentences given, is a mean over draws of the training documents.
With `--parts` some of it is run again; the rest is kept as it is in the file of results.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...lib.arguments import add_at_once, existing
from ...lib.processes import Result, TaskRunner
from ...reports.output import read_json, run
from ...reports.segmentation_report import (
    BASELINE,
    BOTH,
    CRF_1,
    CRF_4,
    DICTIONARIES,
    EXTERNAL,
    INTERNAL,
    ORDERS,
    REPORT,
    SEMI_CRF,
    SYSTEMS,
    of_order,
)
from ..arguments import data_parser
from ..corpora import Prepared
from .systems import TASKS, Task, segmenter

SHARE = 0.1
"""Of the training documents, for the table."""
SHARES = (0.05, SHARE, 0.25, 0.5)
CURVES = ((CRF_4, BASELINE), (SEMI_CRF, INTERNAL), (CRF_4, EXTERNAL), (SEMI_CRF, BOTH))
"""The learners of figure 1."""
SIGMA = 2.0
"""Width of the prior of all systems: the best of 0.3, 1, 2 and 5 for CRF/4 without dictionaries."""


@dataclass(frozen=True)
class Trial:
    """One learner on draws of a share of a task's documents."""

    task: Task
    system: str
    dictionaries: str
    share: float

    def row(self, found: Result) -> Result:
        """What the results have of it."""
        named = {"task": self.task.name, "system": self.system, "dictionaries": self.dictionaries}
        return {**named, "share": self.share, **found}


PARTS = ("table-1", "table-2", "figure-1")


def trials(parts: Collection[str], shares: Sequence[float]) -> list[Trial]:
    """Those of the tables, then those of the curves that table 1 has not, small shares first."""
    of_table_1 = [
        Trial(task, system, dictionaries, SHARE)
        for task in TASKS
        for system in SYSTEMS
        for dictionaries in DICTIONARIES
    ]
    of_table_2 = [
        Trial(task, of_order(system, order), BASELINE, SHARE)
        for task in TASKS
        for system in (CRF_1, CRF_4)
        for order in ORDERS
        if order > 1 and task.in_figure
    ]
    of_curves = [
        Trial(task, *learner, share)
        for share in sorted(shares)
        for task in TASKS
        for learner in CURVES
        if task.in_figure
    ]
    of_parts = dict(zip(PARTS, (of_table_1, of_table_2, of_curves), strict=True))
    return list(dict.fromkeys(trial for part in PARTS if part in parts for trial in of_parts[part]))


def kept(earlier: Path, planned: Sequence[Trial]) -> list[Result]:
    """Rows of earlier results, without those that are run again."""
    if not earlier.exists():
        return []
    again = [trial.row({}) for trial in planned]
    rows: list[Result] = read_json(earlier)["rows"]
    return [row for row in rows if {name: row[name] for name in again[0]} not in again]


@dataclass(frozen=True)
class Study:
    """data, lexicons: folders. draws: of the table's share and smaller ones, and of larger ones."""

    runner: TaskRunner
    data: Path
    lexicons: Path
    draws: tuple[int, int]

    def prepare(self, task: Task) -> None:
        prepared = Prepared(self.runner, self.data)
        prepared.sizes(task.corpus)
        for part in ("train", "dev"):
            source = str(prepared.folder(task.corpus) / f"{part}.spacy")
            arguments = {"source": source, "target": self._file(task, part)}
            self.runner.run("lib.corpora:keep_labels", {**arguments, "labels": [task.label]})

    def _file(self, task: Task, part: str) -> str:
        folder = Prepared(self.runner, self.data).folder(task.corpus)
        return str(folder / f"{part}-{task.label}.spacy")

    def run(self, trial: Trial) -> Result:
        terms = str(self.lexicons / trial.task.terms)
        n_draws = self.draws[trial.share > SHARE]
        found = self.runner.run(
            "suite.segmentations.training:score_draws",
            {
                "train": self._file(trial.task, "train"),
                "dev": self._file(trial.task, "dev"),
                "settings": segmenter(trial.system, trial.dictionaries, terms, SIGMA),
                "share": trial.share,
                "draws": list(range(n_draws)),
                "lang": "en",
            },
        )
        row = trial.row(found)
        print(*(f"{value}" for value in row.values()), flush=True)
        return row


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    study = Study(runner, arguments.data, arguments.lexicons, tuple(arguments.draws))
    for task in TASKS:
        study.prepare(task)
    planned = trials(arguments.parts, arguments.shares)
    study.run(planned[0])  # so that kernels are compiled once
    jobs = [partial(study.run, trial) for trial in planned]
    earlier = [] if set(arguments.parts) == set(PARTS) else kept(arguments.output, planned)
    rows = [*earlier, *runner.run_in_parallel(jobs, arguments.at_once)]
    return {"sigma": SIGMA, "rows": rows}


def main() -> None:
    parser = data_parser(__doc__, "segmentations.json")
    parser.add_argument("--lexicons", type=existing, default="assets/lexicons", help="of the lists")
    parser.add_argument(
        "--draws", type=int, nargs=2, default=(7, 3), metavar=("SMALL", "LARGE"),
        help=f"of shares up to {SHARE:g}, and of larger ones",
    )  # fmt: skip
    parser.add_argument("--shares", type=float, nargs="*", default=SHARES, help="of the curves")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="to run")
    add_at_once(parser)
    run(parser, "segmentations", measure, *REPORT)


if __name__ == "__main__":
    main()
