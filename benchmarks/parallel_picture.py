"""Draw the parallel experiment: `python parallel_picture.py RESULTS.json PICTURE.png`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from pictures import COLOURS, pyplot

_MORE_COLOURS = (*COLOURS, "#8a5aa8", "#c98a1b", "#444444", "#2aa198", "#d33682")


def draw(results: dict[str, Any], path: str) -> None:
    """Seconds of an iteration by sequences, and the speed-up by threads on all of them."""
    pyplot.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.8, 4.2), layout="constrained")
    _draw_seconds(left, results)
    _draw_speed_up(right, results)
    for axes in (left, right):
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, loc="upper left")
    figure.savefig(path, dpi=150)


def _draw_seconds(axes: Axes, results: dict[str, Any]) -> None:
    sizes = [size["sequences"] for size in results["sizes"]]
    lines = {line["threads"]: line for line in results["lines"]}
    for i, threads in enumerate(results["threads"]):
        colour = _MORE_COLOURS[i % len(_MORE_COLOURS)]
        seconds = [size["iteration_seconds"][i] for size in results["sizes"]]
        label = f"{threads} thread" + ("s" if threads > 1 else "")
        if threads in lines:
            line = lines[threads]
            label += f" (R² = {line['r_squared']:.4f})"
            ends = [0, max(sizes)]
            fit = [line["constant"] + line["per_thousand"] * n / 1000 for n in ends]
            axes.plot(ends, fit, color=colour, linewidth=1.4)
        axes.plot(sizes, seconds, "o", color=colour, markersize=5, label=label)
    axes.set_title("Seconds of an L-BFGS iteration", fontsize=12)
    axes.set_xlabel("sequences")
    axes.set_ylabel("seconds")
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
    for n, value in zip(threads, values, strict=True):
        axes.annotate(f"{value:.2f}", (n, value), (6, -12), textcoords="offset points", fontsize=9)
    axes.set_title(f"Speed-up on {largest['sequences']:,} sequences", fontsize=12)
    axes.set_xlabel("threads")
    axes.set_ylabel("times as fast")
    axes.set_xticks(threads)
    axes.margins(x=0.12)
    axes.set_ylim(0, 1.3 * max(*threads, *highs) / threads[0])


def main(results: str, picture: str) -> None:
    """Read the results and draw."""
    draw(json.loads(Path(results).read_text(encoding="utf8")), picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
