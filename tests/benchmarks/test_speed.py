"""Pipelines that take turns: how much longer one takes than another."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from benchmarks.experiments import speed
from benchmarks.peers.decoding_speed import decode_in_turns
from helpers import trained_cascade, write_sample


class Runner:
    """Times pipelines in this process."""

    def run(self, task: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert task == "peers.decoding_speed:decode_in_turns"
        return decode_in_turns(**arguments)


@pytest.mark.slow(kind="experiments")
def test_pipelines_are_compared_with_the_first_one(tmp_path: Path) -> None:
    trained_cascade().to_disk(tmp_path / "model")
    names = [speed.named_model(f"{name}={tmp_path / 'model'}") for name in ("one", "two", "three")]
    dev = write_sample(tmp_path / "dev.spacy", "dev", 2)
    runner: Any = Runner()
    found = speed.measure(runner, argparse.Namespace(dev=dev, models=names, rounds=1, passes=1))
    assert found["times_as_long"].keys() == {"two", "three"}
    assert found["times_as_long"]["two"]["warm"] > 0
    assert len(set(found["megabytes"].values())) == 1
    assert found["tokens_per_second"]["first_three"] > 0


def test_ratios_are_medians_of_rounds() -> None:
    seconds = {"warm_with": [3.0, 2.0, 9.0], "warm_without": [2.0, 2.0, 3.0]}
    seconds |= {"first_with": [2.0], "first_without": [1.0]}
    found = speed.times_as_long({"seconds": seconds}, "with", "without")
    assert found == {"warm": 1.5, "first": 2.0}
