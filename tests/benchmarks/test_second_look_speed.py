"""The experiment on the time of a second look."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest
import spacy

from benchmarks.experiments import second_look_speed
from benchmarks.lib.package import train_passes
from benchmarks.peers.decoding_speed import decode_with_and_without
from helpers import write_sample
from spacy_cascade.tools.recipes import Choices, make_config


class Runner:
    """Trains a small config in this process and makes up times."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def run(self, task: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if task.endswith(":write_training_config"):
            config = make_config(Choices(sentences=True, small=True))
            config["training"]["max_steps"] = 1
            for component in config["components"].values():
                component["trainer"]["iterations"] = 2
            config.to_disk(arguments["output"])
            return {}
        if task.endswith(":train_passes"):
            return train_passes(**arguments)
        timed = decode_with_and_without(**arguments)
        for which in ("seconds", "computed_seconds"):
            made_up = {"warm_without": [1.0], "warm_with": [1.5]}
            made_up |= {"first_without": [2.0], "first_with": [5.0]}
            assert timed[which].keys() == made_up.keys()
            timed[which] = made_up
        return timed


@pytest.mark.slow(kind="experiments")
def test_both_pipelines_are_trained_and_timed(tmp_path: Path) -> None:
    arguments = argparse.Namespace(
        train=write_sample(tmp_path / "train.spacy", "train", 12),
        dev=write_sample(tmp_path / "dev.spacy", "dev", 4),
        folds=2,
        lang="en",
        rounds=1,
        passes=1,
    )
    runner: Any = Runner(tmp_path)
    found = second_look_speed.measure(runner, arguments)
    assert found["slowdown"] == {"warm": 1.5, "first": 2.5}
    stages = ["cascade_segmenter", "cascade_classifier"]
    assert spacy.load(tmp_path / "first").pipe_names == stages
    assert found["components"] == [f"first_{name}" for name in stages] + stages
