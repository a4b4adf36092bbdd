"""Where batch training begins: weights that an online trainer finds in a few passes.

They are far from the optimum, but nearer than zero by dozens of iterations. And where training
begins near the optimum, the curvature there says how far to go along each parameter, which it does
not at zero (docs/method.md, section 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..errors import ConfigError
from ..inference.structure import Structure, Weights, require
from ..losses.margin import MarginLoss
from ..types import Floats2d
from .base import Task
from .passive_aggressive import PassiveAggressive


@dataclass(frozen=True)
class _SameMargin:
    """A loss of online updates with the costs of a loss of batches."""

    loss: MarginLoss

    def margin_costs(self, n_labels: int) -> Floats2d:
        return self.loss.label_costs(n_labels)


def check_start(start: Any, **others: bool) -> None:
    """Raise `ConfigError` for a start that is no online trainer.

    others: whether a setting is set that does not go with a start.
    """
    if not isinstance(start, PassiveAggressive):
        raise ConfigError(
            f"Training cannot start from {start!r}. Put @misc = "
            '"spacy_cascade.PassiveAggressive.v1" into the [trainer.start] block, or write start = '
            "null into [trainer]."
        )
    for name, is_set in others.items():
        if is_set:
            raise ConfigError(
                f"Training with {name} has no start. Write start = null into the [trainer] block."
            )


def check_start_for(loss: object, structure: type[Structure]) -> None:
    """Raise `ConfigError` where nothing can be learnt online, with the margin of the loss."""
    if not isinstance(loss, MarginLoss):
        raise ConfigError(
            f"Training with the loss {loss} cannot start from online weights, as it has no costs "
            "of labels. Write start = null into the [trainer] block."
        )
    require(structure, {"learn_online"}, "A [trainer.start] block")


def begins_at_zero(task: Task) -> bool:
    """Whether nothing has been learnt yet, and the loss is one to learn from online.

    What is adapted begins at its weights, and imitation of another model is no such loss.
    """
    return isinstance(task.loss, MarginLoss) and not task.start.features.any()


def online_weights(task: Task, start: PassiveAggressive) -> Weights:
    """The weights after the passes of an online trainer over the corpus of a task."""
    trainer = replace(start, curvature=False)
    fit = trainer.begin(replace(task, loss=_SameMargin(task.loss), penalty=None))
    fit.step(task.data)
    return fit.weights()
