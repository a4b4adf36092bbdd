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
    """Panels side by side; curves called `TITLE: NAME` with one title share a panel."""
    panels: dict[str, dict[str, Curve]] = {}
    for key, curve in curves.items():
        title, _, name = key.partition(": ")
        panels.setdefault(title, {})[name] = curve
    pyplot.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, places = pyplot.subplots(
        1, len(panels), figsize=(5.4 * len(panels), 4.2), squeeze=False, layout="constrained"
    )
    for axes, (title, named) in zip(places[0], panels.items(), strict=True):
        _draw_panel(axes, title, named)
    figure.savefig(path, dpi=150)


def _draw_panel(axes: Axes, title: str, curves: dict[str, Curve]) -> None:
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        sizes, f1 = zip(*curve, strict=True)
        axes.plot(sizes, f1, color=colour, marker="o", markersize=5, linewidth=1.8, label=name)
        told = {0, len(curve) - 1, f1.index(max(f1))} if len(curves) > 1 else set(range(len(curve)))
        digits = 1 if max(f1) - min(f1) > 5 else 2
        for i in sorted(told):
            text = f"{f1[i]:.{digits}f}"
            label = axes.annotate(text, (sizes[i], f1[i]), (-3, 6), textcoords="offset points")
            label.set(fontsize=9, ha="right")
            label.set_path_effects([withStroke(linewidth=3, foreground="white")])
    sizes = sorted({n for curve in curves.values() for n, _ in curve})
    axes.set_title(title[0].upper() + title[1:], fontsize=12)
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
    if len(curves) > 1:
        axes.legend(frameon=False, loc="lower right")


def main(results: str, figure: str, picture: str) -> None:
    """Read the results and draw."""
    content = json.loads(Path(results).read_text(encoding="utf8"))
    draw(content["figures"][figure]["details"]["curves"], picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
