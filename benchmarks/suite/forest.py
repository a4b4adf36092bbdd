"""Ensembles of members with random classes of features, at home and away from home.

python -m benchmarks.suite.forest wikigold --data assets/suite

Figures 3 and 4 of the report on maximum entropy Markov models: F1 by the penalty on the background,
and by the number of members and the share of the classes of features that each of them has.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..lib.arguments import add_at_once, existing, new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.processes import Result, TaskRunner
from ..reports.forest_report import draw, make_report
from ..reports.output import write_report
from .corpora import CORPORA, SHIFTS, Prepared

CONFIG = "memb.cfg"
SHARES = (0.58, 0.67, 0.83, 0.92)
"""14, 16, 20 and 22 of the report's 24 classes."""
SIZES = (1, 5, 10)
PENALTIES = tuple(round(0.05 * i, 2) for i in range(19))
"""Of means of probabilities: those of the report, of sums over ten members, are ten times these."""


def measure(
    runner: TaskRunner,
    prepared: Prepared,
    name: str,
    shares: Sequence[float],
    sizes: Sequence[int],
    at_once: int,
) -> list[Result]:
    """A row for each share of the classes: F1 of its members, and of ensembles of them."""
    prepared.sizes(name)
    targets = prepared.targets(name, SHIFTS)
    corpus = prepared.folder(name)
    paths = {part: str(corpus / f"{part}.spacy") for part in ("train", "dev")}
    rows = []
    for share in (*shares, 1.0):
        folder = runner.work / "members" / f"{name}-{share:g}"
        n_members = max(sizes) if share < 1 else 1
        settings = {"config": CONFIG, "folder": str(folder), "features": share, "data": 1.0}
        jobs = [
            partial(runner.run, "lib.ensembles:train_member", {**paths, **settings, "number": i})
            for i in range(n_members)
        ]
        runner.run_in_parallel(jobs, at_once)
        own_sizes = [size for size in sizes if size <= n_members]
        asked: dict[str, Any] = {"folder": str(folder), "dev": paths["dev"], "targets": targets}
        asked |= {"sizes": own_sizes, "penalties": list(PENALTIES)}
        found = runner.run("lib.ensembles:score_ensembles", asked)
        scores = {corpus: found[corpus] for corpus in ("", *targets)}
        rows.append({"source": name, "share": share, "scores": scores})
    return rows


def arguments_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    parser.add_argument("source", choices=sorted(CORPORA))
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES), help="of classes")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="of ensembles")
    add_at_once(parser)
    return parser.parse_args()


def main() -> None:
    arguments = arguments_of(new_parser(__doc__, output="forest.json"))
    results = describe_run()
    runner = runner_for(arguments, "forest")
    rows = measure(
        runner, Prepared(runner, arguments.data), arguments.source, arguments.shares,
        arguments.sizes, arguments.at_once,
    )  # fmt: skip
    results = {**results, "rows": rows}
    write_report(
        results, arguments.output, make_report(results), "F1 by the penalty on the background", draw
    )


if __name__ == "__main__":
    main()
