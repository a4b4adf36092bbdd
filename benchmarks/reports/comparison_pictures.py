"""Pictures of a comparison."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from .comparison_results import learning_curves
from .markdown import in_milliseconds
from .plotting import COLOURS as CURVE_COLOURS
from .plotting import annotate, draw_curves, log_ticks, new_figure, save

Result = dict[str, Any]
MODEL_COLOURS = {
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


def draw_all(results: Result, path_of: Callable[[str], Path]) -> None:
    """Draw every picture for which there are results."""
    for name, draw_axes in PICTURES.items():
        if name == "time" or name in results:
            figure, (axes,) = new_figure(9.6 if name == "time" else 7.6, 4.6)
            draw_axes(axes, results)
            save(figure, str(path_of(name)))


def _draw_time(axes: Axes, results: Result) -> None:
    models = results["models"]
    shown = {name: model for name, model in models.items() if model["series"]}
    for name, model in shown.items():
        seconds, f1 = zip(*model["series"], strict=True)
        marker = "o" if len(f1) < 12 else None
        axes.plot(
            seconds,
            f1,
            color=MODEL_COLOURS[name],
            marker=marker,
            markersize=4,
            label=model["title"],
        )
        if len(f1) == 1:
            axes.plot(seconds, f1, color=MODEL_COLOURS[name], marker="s", markersize=8)
    best = max(f1 for model in shown.values() for _, f1 in model["series"])
    ends = [model["series"][-1][1] for model in shown.values()]
    # Much earlier points would only make the rest small.
    axes.set_ylim(max(best - 20, min([*ends, best - 8]) - 6), best + 1)
    axes.set_xscale("log")
    for axis in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        axis(FuncFormatter(_tick))
    axes.set(xlabel="seconds of training (one mark: only its end is known)", ylabel="F1 on dev")
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _tick(value: float, _: object) -> str:
    """Only numbers that begin with 1, 2 or 5, so that labels do not overlap."""
    text = f"{value:g}"
    return text if text.lstrip("0.")[:1] in "125" else ""


def _draw_nbest(axes: Axes, results: Result) -> None:
    draw_curves(axes, results["nbest"]["curves"], CURVE_COLOURS)
    log_ticks(axes, results["nbest"]["curves"])
    axes.set(xlabel="N best segmentations of each sentence", ylabel="F1 on dev")
    axes.legend(frameon=False, fontsize=9)


def _draw_learning(axes: Axes, results: Result) -> None:
    found = learning_curves(results)
    curves = dict(found.values())
    draw_curves(axes, curves, [MODEL_COLOURS[name] for name in found])
    log_ticks(axes, curves)
    axes.set(xlabel="% of the training corpus", ylabel="F1")
    axes.legend(frameon=False, fontsize=9, loc="lower right")


def _draw_threads(axes: Axes, results: Result) -> None:
    found = results["threads"]
    counts = found["counts"]
    axes.plot(counts, counts, color="#bbbbbb", linestyle="--", label="as many times as threads")
    axes.plot(
        counts, found["speed_ups"], color=MODEL_COLOURS["memb"], marker="o", label="MEMB, an update"
    )
    annotate(axes, counts, found["speed_ups"])
    axes.set_xticks(counts)
    axes.set(xlabel="threads", ylabel="times as fast", ylim=(0, max(counts) * 1.1))
    axes.legend(frameon=False, fontsize=9, loc="upper left")


def _draw_labels(axes: Axes, results: Result) -> None:
    curves = results["labels"]["curves"]
    draw_curves(axes, in_milliseconds(curves), ("#7f7f7f", "#b8442d", MODEL_COLOURS["memb"]))
    log_ticks(axes, curves)
    axes.set_yscale("log")
    axes.set(xlabel="types", ylabel="milliseconds of an iteration")
    axes.legend(frameon=False, fontsize=9, loc="upper left")


PICTURES: dict[str, Callable[[Axes, Result], None]] = {
    "time": _draw_time,
    "nbest": _draw_nbest,
    "learning": _draw_learning,
    "threads": _draw_threads,
    "labels": _draw_labels,
}
