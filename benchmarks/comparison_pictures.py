"""Pictures of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from comparison_report import learning_curves
from measure import Result
from pictures import pyplot

COLOURS = {
    "crf": "#7f7f7f",
    "crf_online": "#b0b0b0",
    "crf_crf": "#8a5aa8",
    "icrf": "#c98a1b",
    "memb": "#1b6ca8",
    "ocr": "#3d7a3a",
    "crfsuite": "#b8442d",
    "crfsuite_pa": "#e08a70",
    "ner": "#111111",
}
OTHERS = ("#1b6ca8", "#b8442d", "#3d7a3a", "#8a5aa8")
Points = Sequence[Sequence[float]]


def draw_all(results: Result, path_of: Callable[[str], Path]) -> None:
    """Draw every picture that the results have something for."""
    style = {"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}
    pyplot.rcParams.update(style)
    for name, draw in PICTURES.items():
        if name != "time" and name not in results:
            continue
        figure, axes = pyplot.subplots(
            figsize=(9.6 if name == "time" else 7.6, 4.6), layout="constrained"
        )
        draw(axes, results)
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        figure.savefig(path_of(name), dpi=130)
        pyplot.close(figure)


def _draw_time(axes: Axes, results: Result) -> None:
    """F1 on dev against seconds of training."""
    models = results["models"]
    shown = {name: model for name, model in models.items() if model["series"]}
    for name, model in shown.items():
        seconds, f1 = zip(*model["series"], strict=True)
        marker = "o" if len(f1) < 12 else None
        axes.plot(
            seconds, f1, color=COLOURS[name], marker=marker, markersize=4, label=model["title"]
        )
        if len(f1) == 1:
            axes.plot(seconds, f1, color=COLOURS[name], marker="s", markersize=8)
    best = max(f1 for model in shown.values() for _, f1 in model["series"])
    ends = [model["series"][-1][1] for model in shown.values()]
    # What comes long before any good model would only make the rest small.
    axes.set_ylim(max(best - 20, min([*ends, best - 8]) - 6), best + 1)
    axes.set_xscale("log")
    for axis in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        axis(FuncFormatter(_tick))
    axes.set(xlabel="seconds of training (one mark: only its end is known)", ylabel="F1 on dev")
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _tick(value: float, _: object) -> str:
    """Numbers that begin with 1, 2 or 5, so that they do not run into each other."""
    text = f"{value:g}"
    return text if text.lstrip("0.")[:1] in "125" else ""


def _draw_nbest(axes: Axes, results: Result) -> None:
    """F1 by the length of the list."""
    _draw_curves(axes, results["nbest"]["curves"], OTHERS)
    _log_ticks(axes, results["nbest"]["curves"])
    axes.set(xlabel="N best segmentations of each sentence", ylabel="F1 on dev")
    axes.legend(frameon=False, fontsize=9)


def _draw_learning(axes: Axes, results: Result) -> None:
    """F1 by the part of the corpus."""
    found = learning_curves(results)
    curves = dict(found.values())
    _draw_curves(axes, curves, [COLOURS[name] for name in found])
    _log_ticks(axes, curves)
    axes.set(xlabel="% of the training corpus", ylabel="F1")
    axes.legend(frameon=False, fontsize=9, loc="lower right")


def _draw_threads(axes: Axes, results: Result) -> None:
    """Times as fast by threads."""
    found = results["threads"]
    counts = found["counts"]
    axes.plot(counts, counts, color="#bbbbbb", linestyle="--", label="as many times as threads")
    axes.plot(
        counts, found["speed_ups"], color=COLOURS["memb"], marker="o", label="MEMB, an update"
    )
    for n, value in zip(counts, found["speed_ups"], strict=True):
        axes.annotate(f"{value:.2f}", (n, value), (6, -12), textcoords="offset points", fontsize=9)
    axes.set_xticks(counts)
    axes.set(xlabel="threads", ylabel="times as fast", ylim=(0, max(counts) * 1.1))
    axes.legend(frameon=False, fontsize=9, loc="upper left")


def _draw_labels(axes: Axes, results: Result) -> None:
    """Seconds of an iteration by types."""
    curves = results["labels"]["curves"]
    milliseconds = {name: [(n, 1000 * s) for n, s in curve] for name, curve in curves.items()}
    _draw_curves(axes, milliseconds, ("#7f7f7f", "#b8442d", COLOURS["memb"]))
    _log_ticks(axes, curves)
    axes.set_yscale("log")
    axes.set(xlabel="types", ylabel="milliseconds of an iteration")
    axes.legend(frameon=False, fontsize=9, loc="upper left")


def _draw_curves(axes: Axes, curves: Mapping[str, Points], colours: Sequence[str]) -> None:
    for (name, curve), colour in zip(curves.items(), colours, strict=False):
        x, y = zip(*curve, strict=True)
        axes.plot(x, y, color=colour, marker="o", markersize=5, linewidth=1.8, label=name)


def _log_ticks(axes: Axes, curves: Mapping[str, Points]) -> None:
    """A logarithmic axis that names the points which were measured."""
    values = sorted({point[0] for curve in curves.values() for point in curve})
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)


PICTURES: dict[str, Callable[[Axes, Result], None]] = {
    "time": _draw_time,
    "nbest": _draw_nbest,
    "learning": _draw_learning,
    "threads": _draw_threads,
    "labels": _draw_labels,
}
