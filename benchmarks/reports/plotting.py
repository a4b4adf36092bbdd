"""matplotlib with the style of all pictures.

It is imported when a picture is made, after everything was measured: child processes inherit the
peak memory of this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .markdown import Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#1b6ca8", "#b8442d", "#3d7a3a", "#8a5aa8", "#c98a1b", "#444444", "#2aa198", "#d33682")


def new_figure(
    width: float, height: float, n_panels: int = 1, grid: str = "y"
) -> tuple[Figure, list[Axes]]:
    """Panels side by side. grid: axis whose grid lines are drawn, or `both`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = pyplot.subplots(
        1, n_panels, figsize=(width, height), squeeze=False, layout="constrained"
    )
    for axes in panels[0]:
        axes.grid(axis=grid, color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
    return figure, list(panels[0])


def save(figure: Figure, path: str) -> None:
    from matplotlib import pyplot

    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def draw_curves(axes: Axes, curves: Curves, colours: Sequence[str]) -> None:
    """Draw each curve with its name as its label."""
    for (name, curve), colour in zip(curves.items(), colours, strict=False):
        x, y = zip(*curve, strict=True)
        axes.plot(x, y, color=colour, marker="o", markersize=5, linewidth=1.8, label=name)


def log_ticks(axes: Axes, curves: Curves) -> None:
    """Make the x axis logarithmic, with ticks at the measured points."""
    values = sorted({point[0] for curve in curves.values() for point in curve})
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)


def annotate(axes: Axes, x: Sequence[float], y: Sequence[float]) -> None:
    for n, value in zip(x, y, strict=True):
        axes.annotate(f"{value:.2f}", (n, value), (6, -12), textcoords="offset points", fontsize=9)
