"""Measure the figures of JNLPBA, all or some of them, and write them to a table.

python -m benchmarks.experiments.figures [FIGURE …]
"""

from __future__ import annotations

import argparse
from time import perf_counter

from ...lib.arguments import add_rounds, existing, new_parser, runner_for
from ...lib.machine import describe_machine, load_average
from ...lib.paths import PROJECT
from ...reports.figure_report import Report
from .measures import FIGURES
from .setup import FigureSetup

CORPORA = PROJECT / "corpus/jnlpba"


def read_arguments() -> argparse.Namespace:
    parser = new_parser(__doc__, output="jnlpba.json")
    add = parser.add_argument
    add("figures", nargs="*", help=f"of {', '.join(FIGURES)}; all if none")
    for name in ("train", "dev"):
        add(f"--{name}", type=existing, default=str(CORPORA / f"{name}.spacy"))
    add("--limit", type=int, default=0, help="documents of each corpus, 0: all")
    add("--peer-iterations", type=int, default=200, help="of crfsuite")
    add("--ner-seconds", type=float, default=20.0, help="training of spaCy's ner")
    add_rounds(parser, 5)
    arguments = parser.parse_args()
    unknown = [name for name in arguments.figures if name not in FIGURES]
    if unknown:
        parser.error(f"no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    return arguments


def prepare(arguments: argparse.Namespace) -> tuple[FigureSetup, Report]:
    """Copies of the corpora, and the report with figures of earlier runs."""
    runner = runner_for(arguments, f"first-{arguments.limit}" if arguments.limit else "all")
    folder = runner.work / "corpora"
    sources = {name: str(getattr(arguments, name)) for name in ("train", "dev")}
    corpora = runner.run(
        "lib.corpora:prepare", {"sources": sources, "folder": str(folder), "limit": arguments.limit}
    )
    conditions = {
        "corpus": {name: corpora[name] for name in sources},
        "peer_iterations": arguments.peer_iterations,
    }
    setup = FigureSetup(
        runner, folder, arguments.peer_iterations, arguments.ner_seconds, arguments.rounds
    )
    return setup, Report(arguments.output, describe_machine(), conditions)


def main() -> None:
    arguments = read_arguments()
    setup, report = prepare(arguments)
    setup.compile_kernels()
    for name in arguments.figures or FIGURES:
        begin = perf_counter()
        load = load_average()
        print(f"{name} …", flush=True)
        rows, details = FIGURES[name](setup)
        report.add(name, rows, {**details, "load_average_before": load})
        print(f"  {perf_counter() - begin:.0f} s", flush=True)
    print(report.table())


if __name__ == "__main__":
    main()
