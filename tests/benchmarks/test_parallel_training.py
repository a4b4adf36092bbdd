"""Parallel training: its results, its table and its picture, on a few sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark_corpora import tagged_sample
from benchmarks.experiments import parallel_training
from benchmarks.lib.machine import describe_machine
from benchmarks.lib.training import compare_threads
from helpers import PROJECT

N_SENTENCES = (6, 12)


@pytest.fixture
def results(tmp_path: Path) -> dict[str, Any]:
    """Results of training in this process."""
    train = str(tagged_sample(tmp_path / "train.spacy", n_docs=3))
    config = str(PROJECT / "configs" / "conll2000.cfg")
    found = [
        {**compare_threads(config, train, [1, 2], n, 4, 0.0), "load_average_before": None}
        for n in N_SENTENCES
    ]
    results = {
        "machine": describe_machine(),
        "config": "conll2000.cfg",
        **parallel_training.summarize([1, 2], found),
    }
    return json.loads(json.dumps(results))


@pytest.mark.slow(kind="experiments")
def test_each_sentence_is_a_sequence_and_threads_change_nothing(results: dict[str, Any]) -> None:
    assert [size["sequences"] for size in results["sizes"]] == list(N_SENTENCES)
    assert all(size["same_weights"] for size in results["sizes"])
    for details in results["details"]:
        assert [len(row) for row in details["seconds"]] == [5, 5]
        assert min(map(min, details["seconds"])) > 0
    table = parallel_training.make_report(results)
    assert "the same to the last bit" in table
    assert "| 12 |" in table


def test_figures_are_made_of_the_right_seconds() -> None:
    def result(sequences: int, one: list[float], two: list[float]) -> dict[str, Any]:
        return {
            "seconds": [one, two],
            "computed_seconds": [one, one],
            "serial_seconds": [one, [0.2 * second for second in one]],
            "examples": sequences,
            "tokens": 10 * sequences,
            "components": {"a": {"weights": 7}},
            "iterations": 2,
            "same_weights": True,
            "load_average_before": 0.0,
        }

    found = [
        result(1000, [9.0, 9.0, 2.0, 2.0, 2.0], [9.0, 9.0, 1.0, 2.0, 1.0]),
        result(3000, [9.0, 9.0, 6.0, 6.0, 6.0], [9.0, 9.0, 3.0, 3.0, 6.0]),
    ]
    summary = parallel_training.summarize([1, 2], found)
    small, large = summary["sizes"]
    assert small["iteration_seconds"] == [1.0, 0.5]
    assert large["training_seconds"] == [36.0, 30.0]
    assert small["speed_ups"] == [1.0, 2.0]
    assert large["speed_up_ranges"][1] == [1.0, 2.0]
    assert large["possible_speed_ups"] == [1.0, pytest.approx(1 / 0.6)]
    line = summary["lines"][0]
    assert line["constant"] == pytest.approx(0.0)
    assert line["per_thousand"] == pytest.approx(1.0)
    assert line["r_squared"] == pytest.approx(1.0)


def test_default_numbers_of_threads_end_with_the_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for cores, numbers in ((1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])):
        monkeypatch.setattr(parallel_training, "available_cores", lambda cores=cores: cores)
        assert parallel_training.default_threads() == numbers
