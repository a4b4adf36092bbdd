"""All our models and their peers on a corpus, in one report.

python benchmarks/compare.py train.spacy dev.spacy [test.spacy] --output results/mine.json
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import comparison_report
import learning
from bench import CONFIGS
from comparison import PARTS, Comparison, chosen_parts, train_ahead
from contenders import CONTENDERS, OURS, PEERS, Setting, missing
from measure import (
    HERE,
    Laboratory,
    Result,
    available_cores,
    describe_machine,
    is_installed,
    load_average,
)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path, help="chooses settings and when to stop")
    parser.add_argument("test", type=Path, nargs="?", help="to report on; without it, dev")
    parser.add_argument("--output", type=Path, default=HERE / "results/comparison.json")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="models and kernels")
    parser.add_argument("--models", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--no-peers", action="store_true", help="our models alone")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--threads", type=int, default=1, help="of our models; peers have one")
    parser.add_argument("--at-once", type=int, default=0, help="trainings at a time; 0: one a core")
    parser.add_argument("--repeats", type=int, default=1, help="of each training, in turn")
    parser.add_argument("--rounds", type=int, default=3, help="of each speed test, in turn")
    parser.add_argument("--peer-iterations", type=int, default=200, help="of crfsuite's L-BFGS")
    parser.add_argument("--ner-seconds", type=float, default=120, help="for spaCy's ner")
    parser.add_argument("--ner-part-seconds", type=float, default=25, help="on a part of train")
    parser.add_argument("--shares", type=float, nargs="+", default=learning.SHARES)
    parser.add_argument("--limit", type=int, default=0, help="documents of each corpus, 0: all")
    parser.add_argument("--reuse", action="store_true", help="take earlier results from --work")
    arguments = parser.parse_args()
    for path in filter(None, (arguments.train, arguments.dev, arguments.test)):
        if not path.is_file():
            parser.error(f"{path} is not there; make it with `python -m spacy cascade convert`")
    return arguments


def prepare(arguments: argparse.Namespace) -> tuple[Comparison, Result]:
    """Corpora in all formats, who takes part, and the beginning of the results."""
    work = arguments.work.resolve() / f"compare-{arguments.output.stem}"
    laboratory = Laboratory(work, arguments.reuse, arguments.work.resolve() / "kernels")
    sources = {"train": arguments.train, "dev": arguments.dev}
    if arguments.test:
        sources["test"] = arguments.test
    corpora = laboratory.run(
        "prepare",
        {
            "sources": {name: str(path.resolve()) for name, path in sources.items()},
            "folder": str(work / "corpora"),
            "limit": arguments.limit,
        },
    )
    wanted = [CONTENDERS[name] for name in arguments.models]
    if arguments.no_peers:
        wanted = [contender for contender in wanted if contender not in PEERS]
    left_out = missing(wanted)
    for line in left_out.values():
        print(f"  {line}")
    models = work / "models"
    models.mkdir(parents=True, exist_ok=True)
    setting = Setting(
        laboratory, work / "corpora/train", work / "corpora/dev", models, arguments.threads,
        arguments.peer_iterations, arguments.ner_seconds,
    )  # fmt: skip
    test = work / "corpora/test.spacy" if arguments.test else None
    comparison = Comparison(
        setting,
        {contender.name: contender for contender in wanted if contender.name not in left_out},
        test or work / "corpora/dev.spacy",
        test,
        arguments.repeats,
        arguments.rounds,
        1 if arguments.threads > 1 else arguments.at_once or available_cores(),
        tuple(arguments.shares),
        arguments.ner_part_seconds,
    )
    shown = ("threads", "repeats", "rounds", "peer_iterations", "ner_seconds", "ner_part_seconds")
    return comparison, {
        "machine": describe_machine(),
        "load_average_before": load_average(),
        "corpus": {name: corpora[name] for name in sources},
        "settings": {
            **{name: getattr(arguments, name) for name in shown},
            "at_once": comparison.at_once,
        },
        "missing": left_out,
        "models": {},
        "part_seconds": {},
    }


def do_part(name: str, work: Callable[[], object], results: Result) -> None:
    """Do it, and say how long it took."""
    print(f"{name} …", flush=True)
    begin = perf_counter()
    work()
    results["part_seconds"][name] = perf_counter() - begin
    print(f"  {results['part_seconds'][name]:.0f} s", flush=True)


def main() -> None:
    begin = perf_counter()
    arguments = read_arguments()
    comparison, results = prepare(arguments)
    laboratory = comparison.setting.laboratory
    few = {"train": f"{comparison.setting.dev}.spacy", "sentences": 20}
    # Kernels are compiled before anything is timed.
    jobs = [
        partial(laboratory.run, "compile_training", {"config": str(CONFIGS / config), **few})
        for config in sorted({c.config for c in OURS if c.name in comparison.chosen})
    ]
    laboratory.side_by_side(jobs, available_cores())
    results["part_seconds"]["preparation"] = perf_counter() - begin
    names = chosen_parts(arguments.parts, comparison.chosen)
    for name in names:
        do_part(name, partial(PARTS[name], comparison, results), results)
        if name == "models":
            do_part("further training", partial(train_ahead, comparison, names), results)
    comparison_report.compare_f1(results)
    comparison_report.write(results, arguments.output, with_pictures=is_installed("matplotlib"))
    print(f"{perf_counter() - begin:.0f} s in all; report: {arguments.output.with_suffix('.md')}")


if __name__ == "__main__":
    main()
