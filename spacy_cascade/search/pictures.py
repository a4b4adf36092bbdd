"""A picture of a search on two settings: where it looked, and what it found there."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from ..files import replace_file
from .searches import Search
from .trials import Trial


def draw(finished: Search, trials: Iterable[Trial], path: Path) -> None:
    """Draw the scores of the trials over the two settings, and the boxes that the search kept.

    Needs matplotlib (`pip install "spacy-cascade[viz]"`); raises `ImportError` without it,
    `SavingError` where the PNG file cannot be written.
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
    if x.is_log:
        axes.set_xscale("log")
    if y.is_log:
        axes.set_yscale("log")
    axes.set(xlim=(x.low, x.high), ylim=(y.low, y.high), xlabel=x.name, ylabel=y.name)
    for box in finished.found.boxes[1:]:
        corner, size = (
            (box[0].low, box[1].low),
            (box[0].high - box[0].low, box[1].high - box[1].low),
        )
        axes.add_patch(Rectangle(corner, *size, fill=False, color="0.6"))
    columns = [list(column) for column in zip(*points, strict=True)]
    shown = axes.scatter(columns[0], columns[1], c=columns[2], s=120, cmap="viridis", zorder=2)
    for left, up, score in points:
        axes.annotate(f"{score:.2f}", (left, up), xytext=(8, 4), textcoords="offset points")
    figure.colorbar(shown, label="score, %")
    axes.set_title(f"{finished.name}: {100 * finished.found.score:.2f} at the best point")
    picture = BytesIO()
    figure.savefig(picture, dpi=120, format="png")
    replace_file(path, picture.getvalue())
