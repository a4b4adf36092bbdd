"""Feature induction against all features of the templates: F1, features and time.

python -m benchmarks.experiments.induction train.spacy dev.spacy

Trains memb.cfg, and the same with induction and several numbers of features, with the loop of
`spacy train` on one thread. Each F1 is that of the best update on dev. Times are processor seconds
of all updates, without scoring.
"""

from __future__ import annotations

import argparse

from ..lib.arguments import new_parser
from ..lib.package import STAGES
from ..lib.processes import Result, TaskRunner
from ..lib.variants import config_path
from ..reports.output import run

ADDED = (100, 300, 900)
"""Features that each round adds, of five rounds."""


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    """A row for the full templates, then one for each number of features a round."""
    trainings = [("memb", {}), *(("induced", _adding(n)) for n in arguments.added)]
    for config, settings in trainings[:2]:  # compiles kernels
        _trained(runner, arguments, config, settings, repeat=1)
    rows = [_trained(runner, arguments, config, settings) for config, settings in trainings]
    return {"rows": rows}


def _adding(n: int) -> dict[str, int]:
    """Settings with which each round adds so many features."""
    return {f"components.{name}.trainer.features": n for name in STAGES}


def _trained(
    runner: TaskRunner,
    arguments: argparse.Namespace,
    config: str,
    settings: dict[str, int],
    repeat: int = 0,
) -> Result:
    paths = {"paths.train": str(arguments.train), "paths.dev": str(arguments.dev)}
    given = {
        "config": str(config_path(f"{config}.cfg")),
        "train": str(arguments.train),
        "dev": str(arguments.dev),
        "model": str(runner.work / "model"),
        "overrides": {**paths, **settings},
    }
    result = runner.run("lib.training:train_as_configured", given, repeat=repeat)
    return {
        "config": config,
        "settings": settings,
        "f1": max(f1 for *_, f1 in result["series"]),
        "features": {name: part["features"] for name, part in result["components"].items()},
        "computed_seconds": result["computed_seconds"],
        "updates": result["updates"],
    }


def main() -> None:
    parser = new_parser(__doc__, "train", "dev")
    parser.add_argument(
        "--added", nargs="+", type=int, default=ADDED, help="features that each round adds"
    )
    run(parser, "induction", measure)


if __name__ == "__main__":
    main()
