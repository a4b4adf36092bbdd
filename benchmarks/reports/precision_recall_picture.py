"""The picture of precision against recall.

python -m benchmarks.reports.precision_recall_picture RESULTS.json PICTURE.png
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from .plotting import COLOURS, new_figure, redraw, save
from .precision_recall_report import LEVEL, TITLES

LABELLED = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Thresholds that are written beside a curve."""
MARKERS = ("s", "^", "D")
LEAST = 30
"""Percent at which both axes begin."""


def draw(results: dict[str, Any], path: str) -> None:
    """Draw the curves of one model, and a point for each model with another cost of a miss."""
    figure, (axes,) = new_figure(7.2, 6, grid="both")
    axes.axvline(LEVEL, color="#bbbbbb", linewidth=0.8)
    axes.axhline(LEVEL, color="#bbbbbb", linewidth=0.8)
    for (name, curve), colour in zip(reversed(results["curves"].items()), COLOURS, strict=False):
        found = [point for point in curve if point["found"]]
        axes.plot(*_columns(found), color=colour, linewidth=1.8, label=TITLES[name])
        if name != "best segmentation":
            _label_thresholds(axes, found, colour)
    names = dict.fromkeys(row["component"] for row in results["miss"])
    for name, marker in zip(names, MARKERS, strict=False):
        rows = [row for row in results["miss"] if row["component"] == name]
        costs = ", ".join(format(row["miss"], "g") for row in rows)
        label = f"cost of a miss in {name}: {costs}"
        axes.plot(*_columns(rows), marker, color="#444444", markersize=5, label=label)
    axes.set(xlim=(LEAST, 100), ylim=(LEAST, 100), xlabel="recall, %", ylabel="precision, %")
    axes.legend(frameon=False, loc="lower left")
    save(figure, path)


def _columns(points: Sequence[Mapping[str, float]]) -> list[list[float]]:
    return [[point[key] for point in points] for key in ("recall", "precision")]


def _label_thresholds(axes: Axes, curve: Sequence[Mapping[str, float]], colour: str) -> None:
    for point in curve:
        is_inside = point["precision"] > LEAST and point["recall"] > LEAST
        if point["threshold"] in LABELLED and is_inside:
            place = point["recall"], point["precision"]
            axes.plot(*place, "o", color=colour, markersize=4)
            axes.annotate(
                f"{point['threshold']:g}", place, (5, 4), textcoords="offset points", fontsize=9,
                color=colour,
            )  # fmt: skip


if __name__ == "__main__":
    redraw(draw)
