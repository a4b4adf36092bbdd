"""The picture of N-best lists in the figures of JNLPBA.

python -m benchmarks.reports.nbest_picture RESULTS.json PICTURE.png
"""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from .markdown import Curves
from .plotting import COLOURS, draw_curves, log_ticks, new_figure, redraw, save

LEAST_RANGE = 1.5
"""The least range of an F1 axis, in points: a few hundredths must look small."""


def draw(results: dict[str, Any], path: str) -> None:
    """Draw the curves `TITLE: NAME` of the figure `nbest`; each title has a panel."""
    panels: dict[str, Curves] = {}
    for key, curve in results["figures"]["nbest"]["details"]["curves"].items():
        title, _, name = key.partition(": ")
        panels[title] = {**panels.get(title, {}), name: curve}
    figure, places = new_figure(5.4 * len(panels), 4.2, len(panels))
    for axes, (title, named) in zip(places, panels.items(), strict=True):
        _draw_panel(axes, title, named)
    save(figure, path)


def _draw_panel(axes: Axes, title: str, curves: Curves) -> None:
    draw_curves(axes, curves, COLOURS)
    for curve in curves.values():
        _annotate(axes, curve, is_alone=len(curves) == 1)
    log_ticks(axes, curves)
    axes.set_title(title[0].upper() + title[1:], fontsize=12)
    axes.set(xlabel="N best segmentations of each sentence", ylabel="F1 on dev")
    axes.margins(x=0.12, y=0.12)
    low, high = axes.get_ylim()
    more = max(0.0, LEAST_RANGE - (high - low)) / 2
    axes.set_ylim(low - more, high + more)
    if len(curves) > 1:
        axes.legend(frameon=False, loc="lower right")


def _annotate(axes: Axes, curve: Any, is_alone: bool) -> None:
    """Write values beside the points of a curve; of several curves only ends and the best."""
    sizes, f1 = zip(*curve, strict=True)
    shown = range(len(f1)) if is_alone else sorted({0, len(f1) - 1, f1.index(max(f1))})
    digits = 1 if max(f1) - min(f1) > 5 else 2
    for i in shown:
        text = f"{f1[i]:.{digits}f}"
        label = axes.annotate(text, (sizes[i], f1[i]), (-3, 6), textcoords="offset points")
        label.set(fontsize=9, ha="right")
        label.set_path_effects([withStroke(linewidth=3, foreground="white")])


if __name__ == "__main__":
    redraw(draw)
