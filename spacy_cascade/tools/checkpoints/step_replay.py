"""The course of `spacy train`: what has come of its steps so far, and those steps once more.

spaCy's loop always begins with its first step and keeps its scores to itself. So training that
goes on from a checkpoint passes through the steps before it once more: it shuffles, counts
epochs and asks for patience as it did, only that `nlp.update` does nothing and `nlp.evaluate`
gives the scores that there were.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.training import Example

from ...errors import TrainingError
from ...inference.structure import Weights
from ...pipeline.base import CascadePipe
from ...storage.arrays import Arrays
from ...trainers.base import array_like
from .files import Evaluation, History, reading
from .fingerprint import BEGIN_ANEW, trained_pipes

_CLOSE = 1e-6
"""How far losses may lie apart, relatively: another machine may round otherwise."""


class StepReplay:
    """Stands between spaCy's loop and the pipeline, whose `update` and `evaluate` it replaces.

    history: of the steps that are passed through once more. n_passed: how many they are. where:
    the checkpoint that has it, for errors.
    """

    def __init__(self, nlp: Language, history: History, n_passed: int, where: str) -> None:
        self.history = history
        self.step = 0
        self._nlp = nlp
        self._n_passed = n_passed
        self._where = where
        self._losses: dict[str, float] = {}
        self._past = {evaluation.step: evaluation for evaluation in history.evaluations}
        nlp.update = self.update  # type: ignore[method-assign]
        nlp.evaluate = self.evaluate  # type: ignore[method-assign]

    def _was_made(self) -> bool:
        return self.step < self._n_passed

    def begin(self, step: int) -> None:
        self.step = step
        if step <= self._n_passed:
            return
        self.history.losses = dict(self._losses)
        weights = self._nlp.config["training"]["score_weights"]
        if step - 1 in self._past and self.history.best_step(weights) == step - 1:
            self.history.best = {name: _learnt(pipe) for name, pipe in trained_pipes(self._nlp)}

    def update(
        self,
        examples: Iterable[Example],
        _: Any = None,
        *,
        losses: dict[str, float] | None = None,
        **settings: Any,
    ) -> dict[str, float]:
        """`nlp.update`; where it was made before only its losses.

        The first one is always made: components then prepare for the corpus, and whether it is
        the same as before is seen by the losses.
        """
        losses = {} if losses is None else losses
        if self._was_made() and self.step:
            losses.update(self._past[self.step].losses if self.step in self._past else {})
            return losses
        if self.step == self._n_passed:
            losses.update({n: v for n, v in self.history.losses.items() if n not in losses})
        self._losses = losses
        type(self._nlp).update(self._nlp, examples, _, losses=losses, **settings)
        return losses

    def evaluate(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """`nlp.evaluate`; where it was made before only its scores."""
        if self._was_made():
            past = self._past[self.step]
            if self.step == 0:
                self._check_losses(past.losses)
                # The words and labels that evaluation meets are in the vocabulary that is saved.
                list(self._nlp.pipe([example.predicted.copy() for example in examples]))
                # All that spaCy saves from here on is at the best step, or soon replaced.
                with reading(self._where):
                    for name, pipe in trained_pipes(self._nlp):
                        _show(pipe, self.history.best[name])
            return past.scores
        scores = type(self._nlp).evaluate(self._nlp, examples, **settings)
        self._past[self.step] = Evaluation(self.step, dict(self._losses), scores)
        self.history.evaluations.append(self._past[self.step])
        self._losses = {}
        return scores

    def _check_losses(self, expected: dict[str, float]) -> None:
        for name, loss in expected.items():
            found = self._losses.get(name, math.nan)
            if not math.isclose(found, loss, rel_tol=_CLOSE, abs_tol=_CLOSE):
                raise TrainingError(
                    f"{self._where} belongs to another training: the first update had a loss of "
                    f"{loss} for '{name}', and now has {found}. {BEGIN_ANEW}"
                )


def _learnt(pipe: CascadePipe) -> Arrays:
    """What a saved component has of training."""
    pipe.sync_curvature()
    weights, transitions = pipe.weights
    diagonal = pipe.model.attrs["hessian_diagonal"]
    known = {} if diagonal is None else {"hessian_diagonal": diagonal}
    return {"weights": weights, "transitions": transitions, **known}


def _show(pipe: CascadePipe, learnt: Arrays) -> None:
    """Have a component save and predict what was learnt.

    Raises `KeyError` or `ValueError` where it belongs to other features or labels.
    """
    weights, transitions = pipe.weights
    diagonal = learnt.get("hessian_diagonal")
    if diagonal is not None:
        diagonal = array_like(weights.astype(np.uint8), diagonal)
    shown = Weights(
        array_like(weights, learnt["weights"]), array_like(transitions, learnt["transitions"])
    )
    pipe.show(shown, diagonal)
