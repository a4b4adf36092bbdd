"""All our models and their peers on a corpus, in one report.

python -m benchmarks.experiments.comparison train.spacy dev.spacy [test.spacy] --output mine.json
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter

from ...lib.arguments import add_at_once, add_rounds, existing, new_parser, runner_for
from ...lib.machine import available_cores, describe_run
from ...lib.processes import Result
from ...peers.systems import OURS, PEERS, SYSTEMS, TrainingSetup, missing
from ...reports.comparison_report import compare_f1, write
from .parts import PARTS, SHARES, Comparison, chosen_parts, train_ahead


def read_arguments() -> argparse.Namespace:
    parser = new_parser(__doc__, "train", "dev", output="comparison.json")
    add = parser.add_argument
    add("test", type=existing, nargs="?", help="to report on; without it, dev")
    add("--models", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    add("--no-peers", action="store_true", help="our models only")
    add("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    add("--threads", type=int, default=1, help="of our models; peers have one")
    add_at_once(parser)
    add("--repeats", type=int, default=1, help="of each training, in turn")
    add_rounds(parser, 3)
    add("--peer-iterations", type=int, default=200, help="of crfsuite's L-BFGS")
    add("--ner-seconds", type=float, default=120, help="training of spaCy's ner")
    add("--ner-part-seconds", type=float, default=25, help="its training on a part of train")
    add("--shares", type=float, nargs="+", default=SHARES, help="parts of train")
    add("--limit", type=int, default=0, help="documents of each corpus, 0: all")
    return parser.parse_args()


def prepare(arguments: argparse.Namespace) -> tuple[Comparison, Result]:
    """Prepare corpora and systems, and begin the results."""
    description = describe_run()
    runner = runner_for(arguments, f"compare-{arguments.output.stem}")
    sources = {name: getattr(arguments, name) for name in ("train", "dev", "test")}
    sources = {name: str(path) for name, path in sources.items() if path}
    folder = runner.work / "corpora"
    corpora = runner.run(
        "lib.corpora:prepare", {"sources": sources, "folder": str(folder), "limit": arguments.limit}
    )
    wanted = [SYSTEMS[name] for name in arguments.models]
    if arguments.no_peers:
        wanted = [system for system in wanted if system not in PEERS]
    left_out = missing(wanted)
    for line in left_out.values():
        print(f"  {line}")
    models = runner.work / "models"
    models.mkdir(parents=True, exist_ok=True)
    test = folder / "test.spacy" if arguments.test else None
    comparison = Comparison(
        TrainingSetup(
            runner, folder / "train", folder / "dev", models, arguments.threads,
            arguments.peer_iterations, arguments.ner_seconds,
        ),
        {system.name: system for system in wanted if system.name not in left_out},
        test or folder / "dev.spacy",
        test,
        arguments.repeats,
        arguments.rounds,
        1 if arguments.threads > 1 else arguments.at_once,
        tuple(arguments.shares),
        arguments.ner_part_seconds,
    )  # fmt: skip
    shown = ("threads", "repeats", "rounds", "peer_iterations", "ner_seconds", "ner_part_seconds")
    settings = {name: getattr(arguments, name) for name in shown}
    return comparison, {
        **description,
        "corpus": {name: corpora[name] for name in sources},
        "settings": {**settings, "at_once": comparison.at_once},
        "missing": left_out,
        "models": {},
    }


def run_part(name: str, work: Callable[[], object]) -> None:
    print(f"{name} …", flush=True)
    begin = perf_counter()
    work()
    print(f"  {perf_counter() - begin:.0f} s", flush=True)


def main() -> None:
    begin = perf_counter()
    arguments = read_arguments()
    comparison, results = prepare(arguments)
    runner, dev = comparison.setup.runner, f"{comparison.setup.dev}.spacy"
    # Kernels are compiled before anything is timed.
    configs = sorted({system.config for system in OURS if system.name in comparison.chosen})
    jobs = [partial(runner.compile_kernels, config, dev) for config in configs]
    runner.run_in_parallel(jobs, available_cores())
    names = chosen_parts(arguments.parts, comparison.chosen)
    for name in names:
        run_part(name, partial(PARTS[name], comparison, results))
        if name == "models":
            run_part("further training", partial(train_ahead, comparison, names))
    compare_f1(results)
    write(results, arguments.output)
    print(f"{perf_counter() - begin:.0f} s in all; report: {arguments.output.with_suffix('.md')}")


if __name__ == "__main__":
    main()
