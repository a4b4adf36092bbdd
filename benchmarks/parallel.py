"""Training time by number of threads and of sequences, such as the sentences of CoNLL-2000.

python benchmarks/parallel.py corpus/conll2000/train.spacy
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import correlation, linear_regression, median

from measure import (
    HERE,
    Laboratory,
    Result,
    available_cores,
    describe_machine,
    load_average,
    speed_ups,
    write_results,
)

SEQUENCES = (1000, 2000, 4000, 6000, 0)
WARM_UP = 50
"""Sentences that are enough to call every kernel."""


@dataclass(frozen=True)
class Line:
    """A least-squares line of seconds against sequences."""

    threads: int
    constant: float
    per_thousand: float
    r_squared: float


def default_threads() -> list[int]:
    """1, 2, 4, … up to the cores that this process may use."""
    cores = available_cores()
    return sorted({*(2**i for i in range(cores.bit_length())), cores})


def measure(
    laboratory: Laboratory,
    train: Path,
    config: Path,
    threads: Sequence[int],
    sequences: Sequence[int],
    rounds: int,
) -> list[Result]:
    """What `compare_threads` finds for each number of sequences, fewest first, 0 meaning all.

    Each has a process of its own, on as many cores as the largest number of threads.
    """
    arguments = {"config": str(config), "train": str(train), "counts": list(threads)}
    arguments["tolerance"] = 0.0

    def run(sentences: int, updates: int) -> Result:
        settings = {**arguments, "sentences": sentences, "rounds": updates}
        return laboratory.run("compare_threads", settings, cores=max(threads))

    run(WARM_UP, 1)
    found: dict[int, Result] = {}
    for sentences in sorted(sequences, key=lambda n: n or sys.maxsize):
        load = load_average()
        result = run(sentences, rounds)
        n = result["examples"]
        if n not in found:  # a corpus smaller than asked for is measured once
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
    """The speed-up by processor time: what threads that never wait for a core would give.

    before: seconds computed with one thread. computed, serial: those of all threads and, among
    them, of the one that calls the others (Amdahl's law).
    """
    return before / (serial + (computed - serial) / threads) if threads > 1 else 1.0


def make_table(results: Result) -> str:
    """The results as Markdown."""
    machine, threads = results["machine"], results["threads"]
    packages = ", ".join(f"{name} {of}" for name, of in machine["packages"].items())
    same = all(size["same_weights"] for size in results["sizes"])
    titles = ["sequences", "tokens", *(f"iteration, {_threads(n)}" for n in threads)]
    titles += [f"training, {_threads(n)}" for n in threads]
    titles += [f"{n} over {threads[0]}" for n in threads[1:]]
    titles += [f"{n} over {threads[0]} by processor time" for n in threads[1:]]
    rows = []
    for size in results["sizes"]:
        cells = [f"{size['sequences']:,}", f"{size['tokens']:,}"]
        cells += [f"{seconds:.3f} s" for seconds in size["iteration_seconds"]]
        cells += [f"{seconds:.1f} s" for seconds in size["training_seconds"]]
        spread = zip(size["speed_ups"][1:], size["speed_up_ranges"][1:], strict=True)
        cells += [f"{value:.2f} x ({low:.2f} to {high:.2f})" for value, (low, high) in spread]
        rows.append(cells + [f"{value:.2f} x" for value in size["possible_speed_ups"][1:]])
    text = (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}, {packages}. {results['config']}, {results['updates']} updates of "
        f"{results['iterations']} iterations. Weights for different numbers of threads: "
        f"{'the same to the last bit' if same else 'DIFFERENT'}.\n\n"
    )
    text += _markdown(titles, rows)
    if results["lines"]:
        lines = [Line(**line) for line in results["lines"]]
        text += "\nSeconds of an iteration as a line through these points:\n\n" + _markdown(
            ["", "constant", "for 1,000 sequences", "R²"],
            [_line_cells(line) for line in lines],
        )
    return text


def _line_cells(line: Line) -> list[str]:
    fitted = [f"{line.constant:.3f} s", f"{line.per_thousand:.4f} s", f"{line.r_squared:.4f}"]
    return [_threads(line.threads), *fitted]


def _threads(n: int) -> str:
    return "1 thread" if n == 1 else f"{n} threads"


def _markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---:"] * len(titles), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path, help=".spacy file; its sentences are the sequences")
    parser.add_argument("--config", type=Path, default=HERE.parent / "configs/conll2000.cfg")
    parser.add_argument("--threads", type=int, nargs="+", default=default_threads())
    parser.add_argument("--sequences", type=int, nargs="+", default=SEQUENCES, help="0: all")
    parser.add_argument("--rounds", type=int, default=0, help="updates, 0: as the config has it")
    parser.add_argument("--output", type=Path, default=HERE / "results/conll2000_parallel.json")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="for kernels")
    arguments = parser.parse_args()
    if min(arguments.threads) < 1 or 0 < arguments.rounds < 2:
        parser.error("at least one thread, and two rounds: the first one encodes the corpus")
    if not arguments.train.is_file():
        parser.error(f"{arguments.train} is not there; `python -m spacy cascade convert` makes it")
    return arguments


def main() -> None:
    """Read the arguments, measure, and write the results, their table and their picture."""
    arguments = read_arguments()
    threads = sorted(set(arguments.threads))
    laboratory = Laboratory(arguments.work.resolve() / "parallel")
    found = measure(
        laboratory,
        arguments.train.resolve(),
        arguments.config.resolve(),
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
    picture = ("parallel_picture.py", "Seconds by sequences, and speed-up by threads")
    write_results(results, arguments.output, make_table(results), picture, laboratory.kernel_cache)


if __name__ == "__main__":
    main()
