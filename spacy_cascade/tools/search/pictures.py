"""A picture of a search of two settings: the points that it tried, and their scores."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from ...files import replace_file
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
    tried = [trial for trial in trials if {x.name, y.name} <= trial.settings.keys()]
    xs, ys = ([trial.settings[axis.name] for trial in tried] for axis in (x, y))
    scores = [100 * trial.score for trial in tried]
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes: Any = figure.subplots()
    scale = {True: "log", False: "linear"}
    axes.set(xscale=scale[x.is_log], xlim=(x.low, x.high), xlabel=x.name)
    axes.set(yscale=scale[y.is_log], ylim=(y.low, y.high), ylabel=y.name)
    for across, up in finished.found.boxes[1:]:
        size = (across.high - across.low, up.high - up.low)
        axes.add_patch(Rectangle((across.low, up.low), *size, fill=False, color="0.6"))
    shown = axes.scatter(xs, ys, c=scores, s=120, cmap="viridis", zorder=2)
    for *point, score in zip(xs, ys, scores, strict=True):
        axes.annotate(f"{score:.2f}", point, xytext=(8, 4), textcoords="offset points")
    figure.colorbar(shown, label="score, %")
    axes.set_title(f"{finished.name}: {100 * finished.found.score:.2f} at the best point")
    picture = BytesIO()
    figure.savefig(picture, dpi=120, format="png")
    replace_file(path, picture.getvalue())
