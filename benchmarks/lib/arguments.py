"""Command lines of experiments: the arguments that most of them share."""

from __future__ import annotations

import argparse
from pathlib import Path

from .machine import available_cores
from .paths import RESULTS, WORK
from .processes import TaskRunner


def existing(text: str) -> Path:
    """The absolute path of a file or folder that is there."""
    path = Path(text).resolve()
    if not path.exists():
        raise argparse.ArgumentTypeError(
            f"{path} is not there; `python -m spacy cascade convert` makes corpora"
        )
    return path


def new_parser(
    description: str | None, *files: str, output: str | None = None
) -> argparse.ArgumentParser:
    """A parser with files that must be there, `--output`, and `--work` with `--reuse`.

    output: file in `results/` to write by default. Without it `--output` may be left out.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in files:
        parser.add_argument(name, type=existing)
    default = RESULTS / output if output else None
    parser.add_argument("--output", type=Path, default=default, help="JSON file to write")
    parser.add_argument("--work", type=Path, default=WORK, help="for models and kernels")
    parser.add_argument("--reuse", action="store_true", help="take earlier results from --work")
    return parser


def add_rounds(parser: argparse.ArgumentParser, rounds: int, passes: int | None = None) -> None:
    """Options of a speed test."""
    parser.add_argument("--rounds", type=int, default=rounds, help="of a speed test, in turn")
    if passes is not None:
        parser.add_argument("--passes", type=int, default=passes, help="warm passes of a round")


def add_at_once(parser: argparse.ArgumentParser) -> None:
    """Option of experiments that train several systems at a time."""
    parser.add_argument(
        "--at-once", type=int, default=available_cores(), help="trainings at a time"
    )


def runner_for(arguments: argparse.Namespace, name: str) -> TaskRunner:
    """A runner with a folder of its own, which shares compiled kernels with other experiments."""
    work = arguments.work.resolve()
    return TaskRunner(work / name, arguments.reuse, work / "kernels")
