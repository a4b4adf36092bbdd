"""The experiment on precision and recall, on a few Docs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.experiments import precision_recall
from benchmarks.lib.package import REJECTING
from helpers import write_sample

THRESHOLDS = 101
CURVES = ["best segmentation", "entities", "spans"]


class RunnerHere:
    """A runner whose tasks run in this process."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def run(self, task: str, arguments: dict[str, Any]) -> Any:
        if "overrides" in arguments:
            settings = {**arguments["overrides"], "training.max_steps": 2}
            arguments = {**arguments, "overrides": settings}
        return json.loads(
            json.dumps(getattr(precision_recall, task.partition(":")[2])(**arguments))
        )

    def run_in_parallel(self, jobs: list[Any], at_once: int) -> list[Any]:
        return [job() for job in jobs]


@pytest.mark.slow(kind="experiments")
def test_curves_and_biased_models(tmp_path: Path) -> None:
    train = write_sample(tmp_path / "train.spacy", n_docs=12)
    dev = write_sample(tmp_path / "dev.spacy", "dev")
    variants = {
        "segmenter": ("memb.cfg", "cascade_segmenter", {}, (0.1, 1.0)),
        "rejecting classifier": ("memb.cfg", "cascade_classifier", REJECTING, (3.0,)),
    }
    arguments = argparse.Namespace(train=train, dev=dev, rounds=1, at_once=1)
    runner: Any = RunnerHere(tmp_path)
    results = precision_recall.measure(runner, arguments, variants)
    assert list(results["curves"]) == CURVES
    for curve in results["curves"].values():
        assert len(curve) == THRESHOLDS
        found = [point["found"] for point in curve]
        assert found == sorted(found, reverse=True)
    most = [results["curves"][name][0]["recall"] for name in CURVES]
    assert most == sorted(most)
    few, plain, rejecting = results["miss"]
    assert (few["miss"], few["component"], plain["miss"]) == (0.1, "segmenter", 1.0)
    assert few["recall"] < plain["recall"]
    assert rejecting["recall"] > 0
    assert len(results["seconds"]["listing"]) == len(results["seconds"]["plain"]) == 1


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
