"""Draw the curves of a figure: `python pictures.py RESULTS.json FIGURE PICTURE.png`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

Curve = Sequence[tuple[int, float]]

COLOURS = ("#1b6ca8", "#b8442d", "#3d7a3a")
LEAST_RANGE = 1.5
"""Points of F1 that an axis shows at least, so that a few hundredths look like what they are."""


def draw(curves: dict[str, Curve], path: str) -> None:
    """One panel for each curve, side by side."""
    pyplot.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = pyplot.subplots(
        1, len(curves), figsize=(4.6 * len(curves), 4.2), squeeze=False, layout="constrained"
    )
    for axes, (name, curve), colour in zip(panels[0], curves.items(), COLOURS, strict=False):
        _draw_panel(axes, name, curve, colour)
    figure.savefig(path, dpi=150)


def _draw_panel(axes: Axes, name: str, curve: Curve, colour: str) -> None:
    sizes, f1 = zip(*curve, strict=True)
    axes.plot(sizes, f1, color=colour, marker="o", markersize=5, linewidth=1.8)
    digits = 1 if max(f1) - min(f1) > 5 else 2
    for x, y, before in zip(sizes, f1, (0.0, *f1), strict=False):
        falls = y < before  # the label goes where the line is not
        place = (-3, -13 if falls else 6)
        label = axes.annotate(f"{y:.{digits}f}", (x, y), place, textcoords="offset points")
        label.set(fontsize=9, ha="right")
        label.set_path_effects([withStroke(linewidth=3, foreground="white")])
    axes.set_title(name[0].upper() + name[1:], fontsize=12)
    axes.set_xscale("log")
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("N best segmentations of each sentence")
    axes.set_ylabel("F1 on dev")
    axes.margins(x=0.12, y=0.12)
    low, high = axes.get_ylim()
    more = max(0.0, LEAST_RANGE - (high - low)) / 2
    axes.set_ylim(low - more, high + more)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)


def main(results: str, figure: str, picture: str) -> None:
    """Read the results and draw."""
    content = json.loads(Path(results).read_text(encoding="utf8"))
    draw(content["figures"][figure]["details"]["curves"], picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
