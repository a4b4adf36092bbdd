"""The time of two passes, a first and a second look, over that of the first pass alone.

python -m benchmarks.experiments.second_look_speed train.spacy dev.spacy

Both pipelines are those of `spacy cascade combine second-look` with the config that `init` makes.
They take turns in one process on the Docs of dev, from words to entities.
"""

from __future__ import annotations

import argparse
from typing import Any

from ..lib.arguments import add_rounds, new_parser
from ..lib.processes import TaskRunner
from ..reports.output import run
from .lexicon_cost import slowdowns


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    """Ratios of times, medians over rounds: of words that were seen before, and of new ones."""
    train, dev = str(arguments.train), str(arguments.dev)
    config, first, both = (str(runner.work / name) for name in ("passes.cfg", "first", "both"))
    given = {"output": config, "train": train, "dev": dev, "lang": arguments.lang}
    runner.run("lib.package:write_training_config", given)
    training = {"config": config, "train": train, "dev": dev, "folds": arguments.folds}
    trained = runner.run("lib.package:train_passes", {**training, "first": first, "both": both})
    timed = runner.run(
        "peers.decoding_speed:decode_with_and_without",
        {
            "without": first,
            "listed": both,
            "dev": dev,
            "rounds": arguments.rounds,
            "passes": arguments.passes,
        },
    )
    return {
        "slowdown": slowdowns(timed),
        "slowdown_by_processor_time": slowdowns(timed, "computed_seconds"),
        "tokens": timed["tokens"],
        "tokens_per_second": timed["tokens_per_second"],
        **trained,
    }


def main() -> None:
    parser = new_parser(__doc__, "train", "dev")
    parser.add_argument("--folds", type=int, default=2, help="do not change the speed")
    parser.add_argument("--lang", default="en")
    add_rounds(parser, 9, 5)
    run(parser, "second_look", measure)


if __name__ == "__main__":
    main()
