"""Chains and semi-Markov chains on few documents: both tables and figure 1 of the paper.

python -m benchmarks.suite.segmentations --data assets/suite --lexicons assets/lexicons

The F1 of spans on dev, tokens and sentences given, is a mean over draws of the training documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

from ...lib.arguments import add_at_once, existing
from ...lib.processes import Result, TaskRunner
from ...reports.output import run
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
    share: float = SHARE


def trials(shares: Sequence[float]) -> list[Trial]:
    """Those of the tables, then those of the curves that table 1 has not, small shares first."""
    drawn = [task for task in TASKS if task.in_figure]
    chains = [of_order(*chain) for chain in product((CRF_1, CRF_4), ORDERS)]
    found = [Trial(*of_table_1) for of_table_1 in product(TASKS, SYSTEMS, DICTIONARIES)]
    found += [Trial(*of_table_2, BASELINE) for of_table_2 in product(drawn, chains)]
    found += [
        Trial(task, *learner, share)
        for share, task, learner in product(sorted(shares), drawn, CURVES)
    ]
    return list(dict.fromkeys(found))


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
        task: Result = {part: self._file(trial.task, part) for part in ("train", "dev")}
        task["settings"] = segmenter(trial.system, trial.dictionaries, terms, SIGMA)
        draws = list(range(self.draws[trial.share > SHARE]))
        task |= {"share": trial.share, "draws": draws, "lang": "en"}
        found = self.runner.run("suite.segmentations.systems:score_draws", task)
        row = {**asdict(trial), "task": trial.task.name, **found}
        print(*row.values(), flush=True)
        return row


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    study = Study(runner, arguments.data, arguments.lexicons, tuple(arguments.draws))
    for task in TASKS:
        study.prepare(task)
    planned = trials(arguments.shares)
    study.run(planned[0])  # so that kernels are compiled once
    jobs = [partial(study.run, trial) for trial in planned]
    return {"sigma": SIGMA, "rows": runner.run_in_parallel(jobs, arguments.at_once)}


def main() -> None:
    parser = data_parser(__doc__, "segmentations.json")
    parser.add_argument("--lexicons", type=existing, default="assets/lexicons", help="of the lists")
    parser.add_argument(
        "--draws", type=int, nargs=2, default=(7, 3), metavar=("SMALL", "LARGE"),
        help=f"of shares up to {SHARE:g}, and of larger ones",
    )  # fmt: skip
    parser.add_argument("--shares", type=float, nargs="*", default=SHARES, help="of the curves")
    add_at_once(parser)
    run(parser, "segmentations", measure, *REPORT)


if __name__ == "__main__":
    main()
