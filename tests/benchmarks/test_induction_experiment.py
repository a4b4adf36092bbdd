"""The experiment on feature induction: what it trains, and what it makes of the results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.experiments import induction


class Runner:
    """Makes up a result for each training, and remembers the settings."""

    def __init__(self, work: Path) -> None:
        self.work, self.given = work, []

    def run(self, task: str, arguments: dict[str, Any], repeat: int = 0) -> dict[str, Any]:
        assert task == "lib.training:train_as_configured"
        self.given.append((Path(arguments["config"]).stem, arguments["overrides"], repeat))
        return {
            "series": [(1.0, 1.0, 70.0), (2.0, 2.0, 72.0), (3.0, 3.0, 71.0)],
            "components": {"cascade_segmenter": {"features": 7, "weights": 35}},
            "computed_seconds": 3.5,
            "updates": 3,
        }


def test_all_features_are_compared_with_more_and_more_induced_ones(tmp_path: Path) -> None:
    runner: Any = Runner(tmp_path)
    paths = {part: tmp_path / f"{part}.spacy" for part in ("train", "dev")}
    arguments = argparse.Namespace(**paths, added=[5, 20])
    full, *induced = induction.measure(runner, arguments)["rows"]
    assert [row["config"] for row in (full, *induced)] == ["memb", "induced", "induced"]
    assert full["f1"] == 72.0
    assert full["features"] == {"cascade_segmenter": 7}
    name = "components.cascade_classifier.trainer.features"
    assert [row["settings"][name] for row in induced] == [5, 20]
    assert [(config, repeat) for config, _, repeat in runner.given[:2]] == [
        ("memb", 1), ("induced", 1)
    ]  # fmt: skip
    assert all(given["paths.dev"].endswith("dev.spacy") for _, given, _ in runner.given)
