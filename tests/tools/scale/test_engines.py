"""Engines by their names, settings that cannot work, and real training by workers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import cascade, sample_examples, train, weights
from sharding import SMALL_PIECE, objective, results, task
from spacy_cascade import ConfigError, parallel
from spacy_cascade.systems.isomeric.trainer import JointLBFGS
from spacy_cascade.tools.scale.engines import engine_named
from spacy_cascade.trainers.lbfgs import LBFGS
from trainings import run_training, saved_files, training_config, write_corpora

TRAINER = {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 3, "threads": 1}


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ConfigError, match='"processes" or "ray"'):
        engine_named("horses")


def test_an_engine_that_is_not_installed_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r'pip install "spacy-cascade\[ray\]"'):
        objective(task("pairs"), workers=2, engine="ray")


@pytest.mark.parametrize("settings", [{"workers": -1}, {"workers": 9}, {"workers": 3, "parts": 2}])
def test_workers_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="workers"):
        LBFGS(**settings)


def test_as_many_workers_as_parts() -> None:
    assert LBFGS(workers=8, parts=8).workers == 8


def test_joint_training_has_no_workers() -> None:
    with pytest.raises(ConfigError, match="no workers"):
        JointLBFGS(workers=2)


@pytest.mark.slow(kind="workers")
def test_a_pipeline_trained_by_workers_has_the_same_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", SMALL_PIECE)
    found = []
    for workers in (0, 2):
        settings = {"trainer": {**TRAINER, "workers": workers, "parts": 8}}
        nlp = cascade(settings, settings)
        train(nlp, sample_examples(nlp, n_docs=6), updates=2)
        arrays = [array for _, pipe in nlp.pipeline for array in weights(pipe)]
        found.append([array.tobytes() for array in arrays])
    assert found[1] == found[0]


@pytest.mark.slow(kind="workers")
@pytest.mark.filterwarnings("ignore:Confidences are not calibrated")
def test_training_by_workers_goes_on_from_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with another number of workers."""
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", SMALL_PIECE)
    write_corpora(tmp_path)

    def config(name: str, workers: int, steps: int) -> Any:
        options = {
            f"components__{component}__trainer__{name}": value
            for component in ("cascade_segmenter", "cascade_classifier")
            for name, value in (("workers", workers), ("parts", 8))
        }
        return training_config(
            "memb", tmp_path, tmp_path / name, training__max_steps=steps,
            training__before_to_disk=None, training__patience=0, **options,
        )  # fmt: skip

    run_training(config("whole", 0, 4), tmp_path / "one")
    run_training(config("parts", 2, 2), tmp_path / "two")
    run_training(config("parts", 3, 4), tmp_path / "two")
    assert saved_files(tmp_path / "one") == saved_files(tmp_path / "two")


@pytest.mark.slow(kind="Ray cluster")
def test_actors_of_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits as without them, also after an actor was killed; errors are of the package."""
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", SMALL_PIECE)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        whole = objective(task("segments"), parts=8)
        problem = objective(task("segments"), workers=2, engine="ray")
        assert results(problem) == results(whole)
        team: Any = problem.loss._team  # type: ignore[attr-defined]
        first, second = team._actors
        ray.kill(first)
        assert results(problem, 1) == results(whole, 1)
        assert team._actors[0] is not first
        assert team._actors[1] is second
    finally:
        ray.shutdown()
