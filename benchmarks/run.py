"""Measure figures and write them down: `python benchmarks/run.py [FIGURE …]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

from bench import Bench
from figures import FIGURES as BATCH_FIGURES
from measure import (
    HERE,
    Laboratory,
    child_environment,
    describe_machine,
    is_installed,
    load_average,
    run_command,
)
from online_figures import ONLINE_FIGURES
from report import Report

PROJECT = HERE.parent
FIGURES = {**BATCH_FIGURES, **ONLINE_FIGURES}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", help=f"of {', '.join(FIGURES)}; all if none")
    parser.add_argument("--train", type=Path, default=PROJECT / "corpus/jnlpba/train.spacy")
    parser.add_argument("--dev", type=Path, default=PROJECT / "corpus/jnlpba/dev.spacy")
    parser.add_argument("--output", type=Path, default=HERE / "results/jnlpba.json")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="models and kernels")
    parser.add_argument("--limit", type=int, default=0, help="documents of each corpus, 0: all")
    parser.add_argument("--peer-iterations", type=int, default=200, help="of crfsuite")
    parser.add_argument("--ner-steps", type=int, default=100, help="of spaCy's ner")
    parser.add_argument("--rounds", type=int, default=5, help="of each speed test")
    parser.add_argument("--reuse", action="store_true", help="take earlier results from --work")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.figures if name not in FIGURES]
    if unknown:
        parser.error(f"no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    for path in (arguments.train, arguments.dev):
        if not path.is_file():
            parser.error(f"{path} is not there; make it with `python -m spacy cascade convert`")
    return arguments


def main() -> None:
    arguments = read_arguments()
    part = f"first-{arguments.limit}" if arguments.limit else "all"
    laboratory = Laboratory(arguments.work.resolve() / part, arguments.reuse)
    corpora = laboratory.work / "corpora"
    sources = {name: str(getattr(arguments, name).resolve()) for name in ("train", "dev")}
    corpus = laboratory.run(
        "prepare", {"sources": sources, "folder": str(corpora), "limit": arguments.limit}
    )
    bench = Bench(
        laboratory,
        corpora,
        peer_iterations=arguments.peer_iterations,
        ner_steps=arguments.ner_steps,
        rounds=arguments.rounds,
    )
    conditions = {
        "machine": describe_machine(),
        "corpus": {name: corpus[name] for name in ("train", "dev")},
        "peer_iterations": arguments.peer_iterations,
    }
    report = Report(arguments.output, conditions)
    bench.warm_up()
    for name in arguments.figures or FIGURES:
        begin = perf_counter()
        load = load_average()
        print(f"{name} …", flush=True)
        rows, details = FIGURES[name](bench)
        report.add(name, rows, {**details, "load_average_before": load})
        if "curves" in details:
            draw_curves(report, name, laboratory.kernel_cache)
        print(f"  {perf_counter() - begin:.0f} s", flush=True)
    print(report.table())


def draw_curves(report: Report, name: str, kernel_cache: Path) -> None:
    """Draw a figure's curves, in a process of its own to keep this one small."""
    picture = report.picture(name)
    picture.unlink(missing_ok=True)  # an earlier one would not show these results
    if is_installed("matplotlib"):
        command = [sys.executable, str(HERE / "pictures.py"), str(report.path), name, str(picture)]
        run_command(command, child_environment(1, kernel_cache))
    else:
        print('  no picture: add matplotlib with pip install "spacy-cascade[viz]"')
    report.write()


if __name__ == "__main__":
    main()
