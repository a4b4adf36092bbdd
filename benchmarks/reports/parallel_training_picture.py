"""The picture of parallel training.

python -m benchmarks.reports.parallel_training_picture RESULTS.json PICTURE.png
"""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from .markdown import thread_count
from .plotting import COLOURS, annotate, new_figure, redraw, save


def draw(results: dict[str, Any], path: str) -> None:
    """Draw seconds of an iteration by sequences, and the speed-up by threads on all of them."""
    figure, (left, right) = new_figure(10.8, 4.2, 2)
    _draw_seconds(left, results)
    _draw_speed_up(right, results)
    for axes in (left, right):
        axes.legend(frameon=False, loc="upper left")
    save(figure, path)


def _draw_seconds(axes: Axes, results: dict[str, Any]) -> None:
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


def _draw_speed_up(axes: Axes, results: dict[str, Any]) -> None:
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


if __name__ == "__main__":
    redraw(draw)
