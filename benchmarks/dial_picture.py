"""Draw precision against recall: `python dial_picture.py RESULTS.json PICTURE.png`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from dial import ASKED, TITLES
from pictures import COLOURS, pyplot

TOLD = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Thresholds that are written beside a curve."""
MARKERS = ("s", "^", "D")
LEAST = 30
"""Per cent at which both axes begin."""


def draw(results: dict[str, Any], path: str) -> None:
    """The curves of one model, and a point for each model of another cost of a miss."""
    pyplot.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = pyplot.subplots(figsize=(7.2, 6), layout="constrained")
    axes.axvline(ASKED, color="#bbbbbb", linewidth=0.8)
    axes.axhline(ASKED, color="#bbbbbb", linewidth=0.8)
    for (name, curve), colour in zip(reversed(results["curves"].items()), COLOURS, strict=True):
        _draw_curve(axes, TITLES[name], curve, colour, is_told=name != "best segmentation")
    names = dict.fromkeys(row["component"] for row in results["miss"])
    for name, marker in zip(names, MARKERS, strict=False):
        rows = [row for row in results["miss"] if row["component"] == name]
        recall, precision = ([row[key] for row in rows] for key in ("recall", "precision"))
        label = f"miss of {name}: {', '.join(format(row['miss'], 'g') for row in rows)}"
        axes.plot(recall, precision, marker, color="#444444", markersize=5, label=label)
    axes.set(xlim=(LEAST, 100), ylim=(LEAST, 100), xlabel="recall, %", ylabel="precision, %")
    axes.grid(color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="lower left")
    figure.savefig(path, dpi=130)


def _draw_curve(axes: Axes, label: str, curve: Any, colour: str, is_told: bool) -> None:
    found = [point for point in curve if point["found"]]
    recall, precision = ([point[key] for point in found] for key in ("recall", "precision"))
    axes.plot(recall, precision, color=colour, linewidth=1.8, label=label)
    for point in found if is_told else ():
        is_inside = point["precision"] > LEAST and point["recall"] > LEAST
        if point["threshold"] in TOLD and is_inside:
            place = point["recall"], point["precision"]
            axes.plot(*place, "o", color=colour, markersize=4)
            axes.annotate(
                f"{point['threshold']:g}", place, (5, 4), textcoords="offset points", fontsize=9,
                color=colour,
            )  # fmt: skip


def main(results: str, picture: str) -> None:
    """Read the results and draw."""
    draw(json.loads(Path(results).read_text(encoding="utf8")), picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
