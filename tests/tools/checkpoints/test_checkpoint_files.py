"""What a checkpoint says of its training: the best step, and whether training can get there."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from spacy.training.loop import create_evaluation_callback

from spacy_cascade.errors import ConfigError, ModelFileError
from spacy_cascade.storage import archive
from spacy_cascade.tools.checkpoints import callback as checkpoints
from spacy_cascade.tools.checkpoints.files import (
    Checkpoint,
    Evaluation,
    History,
    pack,
    read_checkpoint,
    reading,
    unpack,
    write_checkpoint,
)
from spacy_cascade.tools.checkpoints.fingerprint import TrainingFingerprint
from spacy_cascade.tools.checkpoints.header import randomness

WEIGHTS = {"f": 0.75, "p": 0.25, "r": None}


def test_the_best_step_is_spacys(generator: np.random.Generator) -> None:
    """By the function that its loop evaluates with; scores are few, so that some are equal."""
    for _ in range(200):
        scores = [
            {name: generator.choice([0.0, 0.5, 1.0]) for name in ("f", "p", "r")}
            for _ in range(generator.integers(1, 6))
        ]
        for each in scores:
            if generator.random() < 0.2:
                each["fp"[generator.integers(2)]] = None
        given = iter(scores)
        nlp = SimpleNamespace(evaluate=lambda _, given=given: next(given))
        evaluate = create_evaluation_callback(nlp, lambda _: [], WEIGHTS)
        results = [evaluate()[0] for _ in scores]
        best = max(i for i, score in enumerate(results) if score == max(results))
        history = History([Evaluation(3 * i, {}, each) for i, each in enumerate(scores)])
        assert history.best_step(WEIGHTS) == 3 * best


def saved(step: int = 4, epoch: int = 1, steps: tuple[int, ...] = (0, 2)) -> Checkpoint:
    history = History(
        [Evaluation(at, {"a": 1.0}, {"f": 0.5}) for at in steps], {"a": 0.25},
        {"a/b": {"weights": np.ones((2, 3), np.float32)}},
    )  # fmt: skip
    trainings: dict[str, Any] = {"a/b": {"iteration": 3, "move 0": np.arange(3.0)}}
    origin = TrainingFingerprint({"nlp.lang": "en"}, {"a/b": "0f"})
    generators = json.loads(json.dumps(randomness()))
    return Checkpoint(step, epoch, origin, history, generators, trainings)


@pytest.mark.parametrize(
    ("checkpoint", "max_steps", "max_epochs", "message"),
    [
        (saved(), 0, 0, None),
        (saved(), 4, 2, None),
        (saved(), -1, -1, None),
        (saved(), 3, 0, r"max_steps = 3 in \[training\] is too low, it needs 4 or more"),
        (saved(), 0, 1, r"max_epochs = 1 in \[training\] is too low, it needs 2 or more"),
        (saved(), 1, 0, "max_steps = 1"),
    ],
)
def test_training_has_to_reach_its_checkpoint(
    checkpoint: Checkpoint, max_steps: int, max_epochs: int, message: str | None
) -> None:
    """0 stands for no end."""
    training = {"max_steps": max_steps, "max_epochs": max_epochs, "eval_frequency": 2}
    if message is None:
        checkpoints._check_position(checkpoint, training, "It")
        return
    with pytest.raises(ConfigError, match=message):
        checkpoints._check_position(checkpoint, training, "It")


@pytest.mark.parametrize(
    ("step", "steps", "is_right"),
    [
        (1, (0,), True),
        (2, (0,), True),
        (3, (0, 2), True),
        (4, (0, 2), True),
        (5, (0, 2), False),
        (4, (0,), False),
        (4, (0, 2, 4), False),
        (4, (2, 0), False),
        (4, (0, 3), False),
        (0, (), False),
    ],
)
def test_evaluations_are_those_of_its_steps(
    step: int, steps: tuple[int, ...], is_right: bool
) -> None:
    """Every other step has one, and the first step always."""
    training = {"max_steps": 0, "max_epochs": 0, "eval_frequency": 2}
    if is_right:
        checkpoints._check_position(saved(step, steps=steps), training, "It")
        return
    with pytest.raises(ModelFileError, match="its evaluations are not those of its training"):
        checkpoints._check_position(saved(step, steps=steps), training, "It")


@pytest.mark.parametrize(
    ("every", "resume", "is_there", "restored", "written"),
    [
        (2, True, True, [4], [6, 8]),
        (1, True, True, [4], [5, 6, 7, 8, 9]),
        (3, True, False, [], [3, 6, 9]),
        (3, False, True, [], [3, 6, 9]),
    ],
)
def test_when_it_restores_and_writes(
    every: int, resume: bool, is_there: bool, restored: list[int], written: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Before the update that the checkpoint stands at, and then before every so many."""
    found: dict[str, list[Any]] = {"begun": [], "steps": [], "restored": [], "written": []}

    class Replay:
        def __init__(self, nlp: Any, history: History, n_passed: int, where: str) -> None:
            self.history = history
            found["begun"].append((n_passed, len(history.evaluations)))

        def begin(self, step: int) -> None:
            found["steps"].append(step)

    class Pipe:
        def training_state(self) -> dict[str, Any]:
            return {"at": found["steps"][-1]}

        def restore_training(self, state: dict[str, Any]) -> None:
            assert state["iteration"] == 3
            found["restored"].append(found["steps"][-1])

    checkpoint = saved()
    for name, stands in {
        "check_pipeline": lambda nlp: None,
        "training_fingerprint": lambda nlp: checkpoint.origin,
        "trained_pipes": lambda nlp: [("a/b", Pipe())],
        "read_checkpoint": lambda path: checkpoint if is_there else None,
        "write_checkpoint": lambda path, made: found["written"].append(made),
        "StepReplay": Replay,
    }.items():
        monkeypatch.setattr(checkpoints, name, stands)
    training = {"max_steps": 0, "max_epochs": 0, "eval_frequency": 2}
    nlp: Any = SimpleNamespace(config={"training": training})
    before_update = checkpoints.make_checkpoints("c.npz", every, resume)
    for step in range(10):
        before_update(nlp, {"step": step, "epoch": step // 4})
    assert found["begun"] == [(4, 2) if restored else (0, 0)]
    assert found["steps"] == list(range(10))
    assert found["restored"] == restored
    assert [made.step for made in found["written"]] == written
    for made in found["written"]:
        assert (made.epoch, made.origin) == (made.step // 4, checkpoint.origin)
        assert made.trainings == {"a/b": {"at": made.step}}


def test_without_a_path_nothing_is_done() -> None:
    assert checkpoints.make_checkpoints(None)(None, {"step": 0, "epoch": 0}) is None


def test_all_that_is_written_is_read(tmp_path: Path) -> None:
    """Also where names of components have the sign that separates them from those of arrays."""
    checkpoint = saved()
    assert read_checkpoint(tmp_path / "c.npz") is None
    write_checkpoint(tmp_path / "c.npz", checkpoint)
    again = read_checkpoint(tmp_path / "c.npz")
    assert again is not None
    assert (again.step, again.epoch, again.origin) == (4, 1, checkpoint.origin)
    assert again.history.evaluations == checkpoint.history.evaluations
    assert again.history.losses == {"a": 0.25}
    training = again.trainings["a/b"]
    assert set(training) == {"iteration", "move 0"}
    assert training["iteration"] == 3
    np.testing.assert_array_equal(training["move 0"], np.arange(3.0))
    assert set(again.history.best) == {"a/b"}
    np.testing.assert_array_equal(again.history.best["a/b"]["weights"], np.ones((2, 3)))


@pytest.mark.parametrize("name", ["training/other/x", "best/other/x", "kind/a/b/x", "x"])
def test_arrays_of_unknown_places_are_refused(name: str) -> None:
    arrays = {**dict(archive.read(pack(saved()))), name: np.zeros(1)}
    with pytest.raises(ModelFileError, match=r"^It is damaged or no checkpoint"):
        unpack(archive.write(arrays), "It")


@pytest.mark.parametrize(
    "error", [KeyError("x"), TypeError(), ValueError(), AttributeError(), OverflowError()]
)
def test_what_goes_wrong_with_contents_is_one_error(error: Exception) -> None:
    """Errors of the package say already what is wrong; others are none of the contents."""
    with pytest.raises(ModelFileError, match=r"^It is damaged .*resume = false"), reading("It"):
        raise error
    with pytest.raises(ConfigError, match="as it is"), reading("It"):
        raise ConfigError("as it is")
    with pytest.raises(MemoryError), reading("It"):
        raise MemoryError
