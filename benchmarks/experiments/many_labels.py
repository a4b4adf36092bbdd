"""The cascade with a thousand types, made up, against the types of the corpus.

python -m benchmarks.experiments.many_labels train.spacy dev.spacy

The cost is that of `configs/memb.cfg` on one thread: a whole training, and annotation of dev. With
`--all-weights` the classifier also trains the weights of what was never seen together, which takes
hours, and 60 bytes for each feature and type.

With `--one-phase` one chain finds the typed entities, without label pairs: a training on the first
Docs of train, with annotation of dev.
"""

from __future__ import annotations

import argparse
from typing import Any

from ..lib.arguments import add_rounds, new_parser
from ..lib.label_cost import MODELS
from ..lib.package import CLASSIFIER
from ..lib.processes import TaskRunner
from ..reports.output import run

SPARSE = f"components.{CLASSIFIER}.trainer.sparse"


def measure_cascade(runner: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    """Each training, and what many types cost over few: ratios of seconds, and of speeds."""
    files = {name: str(getattr(arguments, name)) for name in ("train", "dev")}
    runs: dict[str, tuple[int, dict[str, Any]]] = {
        "own types": (0, {}),
        "own types, weights that were seen": (0, {SPARSE: True}),
        "many types": (arguments.types, {}),
    }
    if arguments.all_weights:
        runs["many types, all weights"] = arguments.types, {SPARSE: False}
    found = {}
    for name, (n_types, overrides) in runs.items():
        task = {**files, "n_types": n_types, "rounds": arguments.rounds, "overrides": overrides}
        found[name] = runner.run("lib.label_cost:train_types", task)
    few, many = found["own types"], found["many types"]
    return {
        "training_time_ratio": many["training_seconds"] / few["training_seconds"],
        "annotation_speed_ratio": many["annotated_tokens_per_second"]
        / few["annotated_tokens_per_second"],
        "runs": found,
    }


def measure_one_phase(runner: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    task = {"train": str(arguments.train), "dev": str(arguments.dev), "rounds": 3}
    task |= {"docs": arguments.docs, "n_types": arguments.one_phase}
    task["overrides"] = MODELS["one phase, features of labels"]
    return {"training": runner.run("lib.label_cost:train_types", task)}


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    return (measure_one_phase if arguments.one_phase else measure_cascade)(runner, arguments)


def main() -> None:
    parser = new_parser(__doc__, "train", "dev")
    parser.add_argument("--types", type=int, default=1000)
    parser.add_argument("--all-weights", action="store_true", help="train these, too, of many")
    parser.add_argument("--one-phase", type=int, metavar="TYPES", help="one chain with so many")
    parser.add_argument("--docs", type=int, default=200, help="to train one chain on")
    add_rounds(parser, 9)
    run(parser, "many_labels", measure)


if __name__ == "__main__":
    main()
