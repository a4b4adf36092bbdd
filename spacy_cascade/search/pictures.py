"""A picture of a search of two settings: the points that it tried, and their scores."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from ..files import replace_file
from .searches import Search
from .trials import Trial


def draw(finished: Search, trials: Iterable[Trial], path: Path) -> None:
    """Draw the scores of the trials over the two settings, and the boxes of the search.

    Needs matplotlib (`pip install "spacy-cascade[viz]"`) and raises `ImportError` without it.
    Raises `SavingError` if the PNG file cannot be written.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    x, y = finished.axes
    points = [
        (trial.settings[x.name], trial.settings[y.name], 100 * trial.score)
        for trial in trials
        if x.name in trial.settings and y.name in trial.settings
    ]
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes: Any = figure.subplots()
    scale = {True: "log", False: "linear"}
    axes.set(xscale=scale[x.is_log], xlim=(x.low, x.high), xlabel=x.name)
    axes.set(yscale=scale[y.is_log], ylim=(y.low, y.high), ylabel=y.name)
    for box in finished.found.boxes[1:]:
        low, high = zip(*((axis.low, axis.high) for axis in box), strict=True)
        size = (high[0] - low[0], high[1] - low[1])
        axes.add_patch(Rectangle(low, *size, fill=False, color="0.6"))
    xs, ys, scores = (list(column) for column in zip(*points, strict=True))
    shown = axes.scatter(xs, ys, c=scores, s=120, cmap="viridis", zorder=2)
    for left, up, score in points:
        axes.annotate(f"{score:.2f}", (left, up), xytext=(8, 4), textcoords="offset points")
    figure.colorbar(shown, label="score, %")
    axes.set_title(f"{finished.name}: {100 * finished.found.score:.2f} at the best point")
    picture = BytesIO()
    figure.savefig(picture, dpi=120, format="png")
    replace_file(path, picture.getvalue())
