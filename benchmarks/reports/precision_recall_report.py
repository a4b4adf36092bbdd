"""The tables of precision against recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from .markdown import machine_sentence, table

LEVEL = 85.0
"""Percent of precision, and of recall, at which the other one is reported."""
TITLES = {
    "best segmentation": "entities of the best segmentation",
    "entities": "entities chosen among all likely spans",
    "spans": "all likely spans, overlapping or not",
}
Point = Mapping[str, float]


def make_report(results: Mapping[str, Any]) -> str:
    machine = {k: v for k, v in results["machine"].items() if k != "cores"}
    plain, listing, likelier = (median(seconds) for seconds in results["seconds"].values())
    rows = [
        [f"{row['component']}, {row['config']}", f"{row['miss']:g}"]
        + [f"{row[key]:.2f}" for key in ("precision", "recall", "f1")]
        for row in results["miss"]
    ]
    return (
        f"{machine_sentence(machine)}\n\nA threshold on the confidences of one model, memb.cfg:\n\n"
        f"{_curve_table(results['curves'])}\nWith the list of all likely spans annotation takes "
        f"{listing / plain:.2f} times as long, with the list of spans with a probability of 0.1 or "
        f"more {likelier / plain:.2f} times.\n\nModels trained with another cost of a missed "
        f"entity:\n\n{table(['cost in', 'value', 'precision', 'recall', 'F1'], rows)}"
    )


def _curve_table(curves: Mapping[str, Sequence[Point]]) -> str:
    rows = []
    for name, curve in curves.items():
        top = max(curve, key=lambda point: point["f1"])
        rows.append(
            [
                TITLES[name],
                _cell(best_with(curve, "precision"), "recall"),
                f"{top['f1']:.2f} at {top['threshold']:.2f}",
                _cell(best_with(curve, "recall"), "precision"),
                f"{max(point['recall'] for point in curve):.2f}",
            ]
        )
    ends = [f"recall at precision {LEVEL:.0f}", f"precision at recall {LEVEL:.0f}"]
    return table(["", ends[0], "best F1", ends[1], "highest recall"], rows)


def best_with(curve: Sequence[Point], name: str) -> Point | None:
    """The point of best F1 among those whose precision, or recall, is at least `LEVEL`."""
    enough = [point for point in curve if point["found"] and point[name] >= LEVEL]
    return max(enough, key=lambda point: point["f1"], default=None)


def _cell(point: Point | None, name: str) -> str:
    return "–" if point is None else f"{point[name]:.2f} at {point['threshold']:.2f}"
