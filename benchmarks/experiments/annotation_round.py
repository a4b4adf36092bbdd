"""The time that an annotator waits: retraining, and choosing among 10,000 sentences.

python -m benchmarks.experiments.annotation_round corpus/jnlpba/train.spacy
"""

from __future__ import annotations

import argparse

from ..lib.arguments import new_parser
from ..lib.processes import Result, TaskRunner
from ..reports.output import run


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    settings = {key: getattr(arguments, key) for key in ("labelled", "among", "n", "updates")}
    task = {"train": str(arguments.train), "rounds": arguments.rounds, **settings}
    return {"settings": settings, **runner.run("lib.active_learning:time_rounds", task)}


def main() -> None:
    parser = new_parser(__doc__, "train", output="annotation_round.json")
    add = parser.add_argument
    add("--labelled", type=int, default=400, help="annotated sentences at first")
    add("--among", type=int, default=10_000, help="other sentences")
    add("--n", type=int, default=100, help="sentences to choose in a round")
    add("--updates", type=int, default=3, help="of a training")
    add("--rounds", type=int, default=3)
    run(parser, "annotation_round", measure)


if __name__ == "__main__":
    main()
