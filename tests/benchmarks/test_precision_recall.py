"""The experiment on precision and recall, on a few Docs."""

from __future__ import annotations

from benchmarks.experiments import precision_recall


def test_points_of_a_curve_with_enough_precision_or_recall() -> None:
    curve = [
        {"threshold": 0.1, "precision": 50.0, "recall": 90.0, "f1": 64.0, "found": 9},
        {"threshold": 0.2, "precision": 70.0, "recall": 86.0, "f1": 77.0, "found": 6},
        {"threshold": 0.8, "precision": 90.0, "recall": 40.0, "f1": 55.0, "found": 3},
        {"threshold": 0.9, "precision": 100.0, "recall": 0.0, "f1": 0.0, "found": 0},
    ]
    assert precision_recall.best_with(curve, "recall")["threshold"] == 0.2
    assert precision_recall.best_with(curve, "precision")["threshold"] == 0.8
    assert precision_recall.best_with(curve[-1:], "precision") is None
