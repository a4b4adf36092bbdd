"""Any pipelines beside each other: tokens per second, the time of each over the first, and sizes.

python -m benchmarks.experiments.speed dev.spacy plain=MODEL clusters=OTHER_MODEL

They take turns in one process on the Docs of dev, from words and sentence starts to annotation.
"first": the first pass of a pipeline that was just loaded and knows no word yet. "warm": any later
pass.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from ..lib.arguments import add_rounds, existing, new_parser
from ..lib.machine import folder_megabytes
from ..lib.processes import Result, TaskRunner
from ..lib.timing import median_ratio
from ..reports.output import run


def named_model(text: str) -> tuple[str, str]:
    """The name and the absolute path of `NAME=FOLDER`."""
    name, is_named, path = text.partition("=")
    if not is_named:
        raise argparse.ArgumentTypeError(f"'{text}' has no name: write NAME=FOLDER")
    return name, str(existing(path))


def times_as_long(timed: Result, name: str, base: str, which: str = "seconds") -> Result:
    """The time of a pipeline divided by that of another; medians over rounds."""
    return {
        kind: median_ratio(timed[which], f"{kind}_{name}", f"{kind}_{base}")
        for kind in ("warm", "first")
    }


def compare(runner: TaskRunner, models: Mapping[str, str], arguments: argparse.Namespace) -> Result:
    """Time the pipelines in a process of their own; each is compared with the first one."""
    task = {"models": dict(models), "dev": str(arguments.dev)}
    task |= {"rounds": arguments.rounds, "passes": arguments.passes}
    timed = runner.run("peers.decoding_speed:decode_in_turns", task)
    base, *others = models
    return {
        "times_as_long": {name: times_as_long(timed, name, base) for name in others},
        "megabytes": {name: folder_megabytes(path) for name, path in models.items()},
        **timed,
    }


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    return compare(runner, dict(arguments.models), arguments)


def main() -> None:
    parser = new_parser(__doc__, "dev")
    parser.add_argument("models", nargs="+", type=named_model, metavar="NAME=FOLDER")
    add_rounds(parser, 9, 5)
    run(parser, "speed", measure)


if __name__ == "__main__":
    main()
