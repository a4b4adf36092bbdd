"""Training time by number of threads and of sequences, such as the sentences of CoNLL-2000.

python -m benchmarks.experiments.parallel_training corpus/conll2000/train.spacy
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import correlation, linear_regression, median

from ..lib.arguments import existing, new_parser, runner_for
from ..lib.machine import available_cores, describe_machine, load_average
from ..lib.paths import CONFIGS
from ..lib.processes import Result, TaskRunner
from ..lib.timing import speed_ups
from ..reports.output import write_report
from ..reports.parallel_training_report import make_report

SEQUENCES = (1000, 2000, 4000, 6000, 0)
WARM_UP = 50
"""Sentences that are enough to call every kernel."""


@dataclass(frozen=True)
class Line:
    threads: int
    constant: float
    per_thousand: float
    r_squared: float


def default_threads() -> list[int]:
    """1, 2, 4, … up to the cores that this process may use."""
    cores = available_cores()
    return sorted({*(2**i for i in range(cores.bit_length())), cores})


def measure(
    runner: TaskRunner,
    train: Path,
    config: Path,
    threads: Sequence[int],
    sequences: Sequence[int],
    rounds: int,
) -> list[Result]:
    """Measure each number of sequences (0: all), the smallest first.

    Each has a process of its own, with as many cores as the largest number of threads.
    """
    arguments: Result = {"config": str(config), "train": str(train), "counts": list(threads)}
    arguments["tolerance"] = 0.0

    def run(sentences: int, updates: int) -> Result:
        settings = {**arguments, "sentences": sentences, "rounds": updates}
        return runner.run("lib.training:compare_threads", settings, cores=max(threads))

    run(WARM_UP, 1)
    found: dict[int, Result] = {}
    for sentences in sorted(sequences, key=lambda n: n or sys.maxsize):
        load = load_average()
        result = run(sentences, rounds)
        n = result["examples"]
        if n not in found:  # a small corpus is measured once
            found[n] = {**result, "load_average_before": load}
            print(f"  {n:,} sequences: {sum(map(sum, result['seconds'])):.0f} s", flush=True)
    return list(found.values())


def summarize(threads: Sequence[int], found: Sequence[Result]) -> Result:
    """Seconds of an iteration and of the whole training, speed-ups, and lines through them."""
    sizes = [_summary(threads, result) for result in found]
    lines = []
    if len(sizes) > 1:
        points = [size["sequences"] for size in sizes]
        for i, n in enumerate(threads):
            seconds = [size["iteration_seconds"][i] for size in sizes]
            slope, constant = linear_regression(points, seconds)
            fit = correlation(points, seconds) ** 2
            lines.append(asdict(Line(n, constant, 1000 * slope, fit)))
    return {"threads": list(threads), "sizes": sizes, "lines": lines}


def _summary(threads: Sequence[int], result: Result) -> Result:
    seconds, computed, serial = (
        result[name] for name in ("seconds", "computed_seconds", "serial_seconds")
    )
    pairs = [speed_ups(seconds[0], other) for other in seconds]
    return {
        "sequences": result["examples"],
        "tokens": result["tokens"],
        "weights": sum(part["weights"] for part in result["components"].values()),
        "iteration_seconds": [median(row[2:]) / result["iterations"] for row in seconds],
        "training_seconds": [sum(row) for row in seconds],
        "speed_ups": [median(of_updates) for of_updates in pairs],
        "speed_up_ranges": [[min(of_updates), max(of_updates)] for of_updates in pairs],
        "possible_speed_ups": [
            possible_speed_up(n, sum(computed[0][2:]), sum(all_[2:]), sum(own[2:]))
            for n, all_, own in zip(threads, computed, serial, strict=True)
        ],
        "training_speed_ups": [sum(seconds[0]) / sum(row) for row in seconds],
        "same_weights": result["same_weights"],
        "load_average_before": result["load_average_before"],
    }


def possible_speed_up(threads: int, before: float, computed: float, serial: float) -> float:
    """The speed-up by processor time, if threads never waited for a core (Amdahl's law).

    before: processor time with one thread. computed, serial: processor time of all threads, and of
    the calling thread among them.
    """
    return before / (serial + (computed - serial) / threads) if threads > 1 else 1.0


def read_arguments() -> argparse.Namespace:
    parser = new_parser(__doc__, "train", output="conll2000_parallel.json")
    add = parser.add_argument
    add("--config", type=existing, default=str(CONFIGS / "conll2000.cfg"))
    add("--threads", type=int, nargs="+", default=default_threads())
    add("--sequences", type=int, nargs="+", default=SEQUENCES, help="0: all")
    add("--rounds", type=int, default=0, help="updates, 0: the number of the config")
    arguments = parser.parse_args()
    if min(arguments.threads) < 1 or 0 < arguments.rounds < 2:
        parser.error("at least one thread, and two rounds: the first one encodes the corpus")
    return arguments


def draw(results: Result, path: str) -> None:
    from ..reports.parallel_training_picture import draw

    draw(results, path)


def main() -> None:
    arguments = read_arguments()
    threads = sorted(set(arguments.threads))
    found = measure(
        runner_for(arguments, "parallel"),
        arguments.train,
        arguments.config,
        threads,
        arguments.sequences,
        arguments.rounds,
    )
    results = {
        "machine": describe_machine(),
        "config": arguments.config.name,
        "updates": len(found[0]["seconds"][0]) - 1,
        "iterations": found[0]["iterations"],
        **summarize(threads, found),
        "details": found,
    }
    report = make_report(results)
    write_report(
        results, arguments.output, report, "Seconds by sequences, and speed-up by threads", draw
    )


if __name__ == "__main__":
    main()
