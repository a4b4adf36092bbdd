"""Training time by number of threads and of sequences, such as the sentences of CoNLL-2000.

python -m benchmarks.experiments.parallel_training corpus/conll2000/train.spacy
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import correlation, linear_regression, median
from typing import TYPE_CHECKING

from ..lib.arguments import existing, new_parser
from ..lib.machine import available_cores, load_average
from ..lib.paths import CONFIGS
from ..lib.processes import Result, TaskRunner
from ..lib.timing import speed_ups
from ..reports.markdown import machine_sentence, table, thread_count
from ..reports.output import Picture, run
from ..reports.plotting import COLOURS, annotate, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    """Measure each number of sequences (0: all), the smallest first.

    Each has a process of its own, with as many cores as the largest number of threads.
    """
    threads = sorted(set(arguments.threads))
    settings: Result = {"config": str(arguments.config), "train": str(arguments.train)}
    settings |= {"counts": threads, "tolerance": 0.0}

    def train(sentences: int, rounds: int) -> Result:
        task = {**settings, "sentences": sentences, "rounds": rounds}
        return runner.run("lib.training:compare_threads", task, cores=threads[-1])

    train(WARM_UP, 1)
    found: dict[int, Result] = {}
    for sentences in sorted(arguments.sequences, key=lambda n: n or sys.maxsize):
        load = load_average()
        result = train(sentences, arguments.rounds)
        n = result["examples"]
        if n not in found:  # a small corpus is measured once
            found[n] = {**result, "load_average_before": load}
            print(f"  {n:,} sequences: {sum(map(sum, result['seconds'])):.0f} s", flush=True)
    return {"config": arguments.config.name, **summarize(threads, list(found.values()))}


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
    return {
        "updates": len(found[0]["seconds"][0]) - 1,
        "iterations": found[0]["iterations"],
        "threads": list(threads),
        "sizes": sizes,
        "lines": lines,
        "details": list(found),
    }


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


def make_report(results: Result) -> str:
    same = all(size["same_weights"] for size in results["sizes"])
    text = (
        f"{machine_sentence(results['machine'])} {results['config']}, {results['updates']} updates "
        f"of {results['iterations']} iterations. Weights for different numbers of threads: "
        f"{'the same to the last bit' if same else 'DIFFERENT'}.\n\n{_size_table(results)}"
    )
    if results["lines"]:
        header = ["", "constant", "for 1,000 sequences", "R²"]
        rows = [
            [
                thread_count(line["threads"]),
                f"{line['constant']:.3f} s",
                f"{line['per_thousand']:.4f} s",
                f"{line['r_squared']:.4f}",
            ]
            for line in results["lines"]
        ]
        text += "\nSeconds of an iteration as a line through these points:\n\n"
        text += table(header, rows, "rrrr")
    return text


def _size_table(results: Result) -> str:
    threads = results["threads"]
    header = ["sequences", "tokens", *(f"iteration, {thread_count(n)}" for n in threads)]
    header += [f"training, {thread_count(n)}" for n in threads]
    header += [f"{n} over {threads[0]}" for n in threads[1:]]
    header += [f"{n} over {threads[0]} by processor time" for n in threads[1:]]
    rows = []
    for size in results["sizes"]:
        cells = [f"{size['sequences']:,}", f"{size['tokens']:,}"]
        cells += [f"{seconds:.3f} s" for seconds in size["iteration_seconds"]]
        cells += [f"{seconds:.1f} s" for seconds in size["training_seconds"]]
        spread = zip(size["speed_ups"][1:], size["speed_up_ranges"][1:], strict=True)
        cells += [f"{value:.2f} x ({low:.2f} to {high:.2f})" for value, (low, high) in spread]
        rows.append(cells + [f"{value:.2f} x" for value in size["possible_speed_ups"][1:]])
    return table(header, rows, "r" * len(header))


def draw(results: Result, path: str) -> None:
    """Draw seconds of an iteration by sequences, and the speed-up by threads on all of them."""
    figure, (left, right) = new_figure(10.8, 4.2, 2)
    _draw_seconds(left, results)
    _draw_speed_up(right, results)
    for axes in (left, right):
        axes.legend(frameon=False, loc="upper left")
    save(figure, path)


def _draw_seconds(axes: Axes, results: Result) -> None:
    sizes = [size["sequences"] for size in results["sizes"]]
    lines = {line["threads"]: line for line in results["lines"]}
    for i, threads in enumerate(results["threads"]):
        colour = COLOURS[i % len(COLOURS)]
        seconds = [size["iteration_seconds"][i] for size in results["sizes"]]
        label = thread_count(threads)
        if threads in lines:
            line = lines[threads]
            label += f" (R² = {line['r_squared']:.4f})"
            ends = [0, max(sizes)]
            fit = [line["constant"] + line["per_thousand"] * n / 1000 for n in ends]
            axes.plot(ends, fit, color=colour, linewidth=1.4)
        axes.plot(sizes, seconds, "o", color=colour, markersize=5, label=label)
    axes.set_title("Seconds of an L-BFGS iteration", fontsize=12)
    axes.set(xlabel="sequences", ylabel="seconds")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)


def _draw_speed_up(axes: Axes, results: Result) -> None:
    threads, largest = results["threads"], results["sizes"][-1]
    values = largest["speed_ups"]
    lows, highs = zip(*largest["speed_up_ranges"], strict=True)
    below = [max(0.0, value - low) for value, low in zip(values, lows, strict=True)]
    above = [max(0.0, high - value) for value, high in zip(values, highs, strict=True)]
    axes.plot(threads, [n / threads[0] for n in threads], "--", color="#999999", label="ideal")
    axes.errorbar(
        threads, values, yerr=[below, above], color=COLOURS[0], marker="o", markersize=5,
        linewidth=1.8, capsize=3, label="median and range of the updates",
    )  # fmt: skip
    annotate(axes, threads, values)
    axes.set_title(f"Speed-up on {largest['sequences']:,} sequences", fontsize=12)
    axes.set(xlabel="threads", ylabel="times as fast")
    axes.set_xticks(threads)
    axes.margins(x=0.12)
    axes.set_ylim(0, 1.3 * max(*threads, *highs) / threads[0])


REPORT = make_report, Picture("Seconds by sequences, and speed-up by threads", draw)


def main() -> None:
    parser = new_parser(__doc__, "train", output="conll2000_parallel.json")
    add = parser.add_argument
    add("--config", type=existing, default=str(CONFIGS / "conll2000.cfg"))
    add("--threads", type=int, nargs="+", default=default_threads())
    add("--sequences", type=int, nargs="+", default=SEQUENCES, help="0: all")
    add("--rounds", type=int, default=0, help="updates, 0: the number of the config")
    run(parser, "parallel", measure, *REPORT)


if __name__ == "__main__":
    main()
