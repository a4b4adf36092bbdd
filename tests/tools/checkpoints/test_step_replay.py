"""The steps once more: spaCy's own loop over a pipeline of which only the course matters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from spacy.training.loop import create_evaluation_callback, train_while_improving

from spacy_cascade.errors import ModelFileError, TrainingError
from spacy_cascade.inference.structure import Weights
from spacy_cascade.pipeline.base import CascadePipe
from spacy_cascade.tools.checkpoints import callback as checkpoints
from spacy_cascade.tools.checkpoints.files import Checkpoint

SCORES = [0.1, 0.5, None, 0.5, 0.2, 0.9, 0.3, 0.9]


class Pipe(CascadePipe):
    """Its weights say how many updates there have been, and its Hessian twice as many."""

    is_trainable = True

    def __init__(self) -> None:
        self.n_updates, self.shown = 0, []
        self.trainer = self
        self._fit = None
        self.model = SimpleNamespace(attrs={"hessian_diagonal": None})

    def sync_curvature(self) -> None:
        self.model.attrs["hessian_diagonal"] = np.full((1, 1), 2 * self.n_updates, np.uint8)

    @property
    def weights(self) -> Weights:
        return Weights(np.full((1, 1), self.n_updates, np.float32), np.zeros(2))

    def show(self, weights: Weights, hessian_diagonal: Any) -> None:
        self.shown.append((int(weights.features[0, 0]), hessian_diagonal))

    def finish_update(self, sgd: Any) -> None:
        pass

    def training_state(self) -> dict[str, Any]:
        return {}

    def restore_training(self, state: dict[str, Any]) -> None:
        pass


Pipe.__abstractmethods__ = frozenset()


class Step(int):
    """In place of an Example the number of its step."""

    predicted = ()

    def __len__(self) -> int:
        return 1


class Text(str):
    """In place of a development Example, and of its Doc."""

    @property
    def predicted(self) -> Text:
        return self

    def copy(self) -> Text:
        return self


class Course:
    """What stands for the pipeline: losses depend on the number of the update alone."""

    def __init__(self, scale: float) -> None:
        self.scale, self.component, self.evaluated = scale, Pipe(), []
        self.made: list[int] = []
        self.met: list[Text] = []
        self.pipeline = [("a", self.component)]
        weights = {"f": 1.0, "p": 0.0, "r": None}
        self.config = {
            "training": {
                "score_weights": weights,
                "frozen_components": [],
                "max_steps": 0,
                "max_epochs": 0,
            }
        }

    def update(self, examples: Iterable[Any], _: Any = None, *, losses: Any, **more: Any) -> Any:
        (step,) = examples
        self.component.n_updates += 1
        self.made.append(int(step))
        losses["a"] = losses.get("a", 0.0) + self.scale / (step + 1)
        return losses

    def pipe(self, docs: Iterable[Any]) -> Iterator[Any]:
        for doc in docs:
            self.met.append(doc)
            yield doc

    def evaluate(self, examples: Iterable[Any], **settings: Any) -> dict[str, Any]:
        self.evaluated.append(list(examples))
        return {"f": SCORES[len(self.evaluated) - 1], "p": 1.0}


class Run:
    """A training, or one that goes on: what spaCy's loop tells, and checkpoints by step."""

    def __init__(
        self, every: int, saved: Checkpoint | None = None, parts: int = 1, scale: float = 1.0
    ) -> None:
        self.course, self.kept, self.told = Course(scale), {}, []
        self.drawn = 0
        self.course.evaluated += [None] * (len(saved.evaluations) if saved else 0)
        with pytest.MonkeyPatch.context() as patch:
            for name, stands in {
                "check_pipeline": lambda nlp: None,
                "training_fingerprint": lambda nlp: {},
                "read_checkpoint": lambda path: saved,
                "pack": self._keep,
                "replace_file": lambda path, made: None,
            }.items():
                patch.setattr(checkpoints, name, stands)
            self._train(every, saved, parts)
        self.last = self.kept[8]

    def _train(self, every: int, saved: Checkpoint | None, parts: int) -> None:
        replay = checkpoints.make_checkpoints("c.npz")
        n_passed = saved.step if saved else 0

        def before_update(_: Any, position: dict[str, Any]) -> None:
            if position["step"] == n_passed:
                self.course.component.n_updates = n_passed * parts  # as `restore_training` does
            replay(self.course, position)

        def dev(_: Any) -> Iterator[Text]:
            self.drawn += 1
            yield Text("dev")

        weights = self.course.config["training"]["score_weights"]
        loop = train_while_improving(
            self.course, SimpleNamespace(averages=None, step_schedules=lambda: None),
            ((0, [Step(step)] * parts) for step in range(8)),
            create_evaluation_callback(self.course, dev, weights),
            dropout=0.0, eval_frequency=every, accumulate_gradient=parts, patience=0, max_steps=0,
            exclude=[], annotating_components=[], before_update=before_update,
        )  # fmt: skip
        for _, info, is_best in loop:
            told = {name: info[name] for name in ("step", "score", "other_scores", "checkpoints")}
            losses = dict(info["losses"]) if info["score"] is not None else None
            self.told.append(deepcopy({**told, "losses": losses, "is_best": is_best}))
        replay(self.course, {"step": 8, "epoch": 0})

    def _keep(self, made: Checkpoint) -> bytes:
        self.kept[made.step] = deepcopy(made)
        return b""


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("stop", [1, 2, 3, 4, 7])
def test_the_loop_tells_the_same(stop: int, every: int, parts: int) -> None:
    """Scores, losses and best steps; only the first update and those from the stop on are made."""
    whole = Run(every, parts=parts)
    history = whole.kept[stop]
    assert len(history.evaluations) == len(range(0, stop, every))
    resumed = Run(every, deepcopy(history), parts)
    assert resumed.told == whole.told
    n_later = len(range(0, 8, every)) - len(history.evaluations)
    assert resumed.course.evaluated[len(history.evaluations) :] == [["dev"]] * n_later
    assert whole.drawn == len(range(0, 8, every))
    assert resumed.drawn == 1 + n_later, "the words of the first evaluation are in the vocabulary"
    assert resumed.course.met == ["dev"], "and so are the labels that annotation gives them"
    made = [step for step in (0, *range(stop, 8)) for _ in range(parts)]
    assert resumed.course.made == made
    assert resumed.last.evaluations == whole.last.evaluations
    assert resumed.last.losses == whole.last.losses
    for run in (whole, resumed):
        best = run.last.best_step(run.course.config["training"]["score_weights"])
        if best is not None and (run is whole or best >= stop):
            learnt = run.last.best["a"]
            assert learnt["features"] == (best + 1) * parts
            assert learnt["hessian"] == 2 * (best + 1) * parts
            np.testing.assert_array_equal(learnt["transitions"], np.zeros(2))
    ((shown, diagonal),) = resumed.course.component.shown
    assert shown == history.best["a"]["features"]
    assert diagonal == history.best["a"]["hessian"]
    assert whole.course.component.shown == []


def test_a_component_without_a_hessian_keeps_none() -> None:
    whole = Run(1)
    history = whole.kept[2]
    del history.best["a"]["hessian"]
    assert Run(1, history).course.component.shown == [(history.best["a"]["features"], None)]


@pytest.mark.parametrize(
    ("found", "expected", "is_same"),
    [
        (1.0, 1.0, True),
        (1.0, 1.0 + 1e-7, True),
        (1.0, 1.0 + 1e-5, False),
        (1e6, 1e6 + 0.5, True),
        (1e6, 1e6 + 5.0, False),
        (1e-9, 5e-7, True),
        (1e-9, 5e-6, False),
        (1.0, np.nan, False),
    ],
)
def test_the_first_losses_have_to_agree(found: float, expected: float, is_same: bool) -> None:
    """To a millionth, or to a millionth of them, as machines round in their ways."""
    history = Run(1).kept[2]
    history.evaluations[0].losses["a"] = expected
    if is_same:
        Run(1, history, scale=found)
        return
    with pytest.raises(TrainingError, match=rf"had a loss of .* 'a', and now has {found}\..*anew"):
        Run(1, history, scale=found)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("features", np.zeros((2, 1), np.float32)),
        ("features", np.zeros((1, 1))),
        ("transitions", np.zeros(3)),
        ("transitions", np.full(2, np.nan)),
        ("hessian", np.zeros((1, 2), np.uint8)),
        ("hessian", np.zeros((1, 1))),
        ("features", None),
        ("transitions", None),
    ],
)
def test_what_was_learnt_has_to_fit(name: str, array: Any) -> None:
    history = Run(1).kept[2]
    if array is None:
        del history.best["a"][name]
    else:
        history.best["a"][name] = array
    with pytest.raises(ModelFileError, match=r"The checkpoint c\.npz cannot be read"):
        Run(1, history)


def test_other_losses_of_the_first_update_are_new() -> None:
    """A component whose loss was not there before: the others decide."""
    history = Run(1).kept[2]
    history.evaluations[0].losses["b"] = 1.0
    with pytest.raises(TrainingError, match=r"for 'b', and now has nan"):
        Run(1, history)
