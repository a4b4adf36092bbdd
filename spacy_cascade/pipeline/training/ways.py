"""Which way of training goes with a trainer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import TrainingError
from ...trainers.base import BatchTrainer, OnlineTrainer
from ...trainers.joint import JointLBFGS, TrainedJointly
from .joint import JointTraining, NoTraining
from .updates import BatchTraining, CorpusTraining, OnlineTraining

if TYPE_CHECKING:
    from ..base import CascadePipe


def make_training(pipe: CascadePipe[Any]) -> CorpusTraining:
    """The way of training that goes with the component's trainer."""
    trainer = pipe.trainer
    if isinstance(trainer, TrainedJointly):
        return NoTraining(pipe)
    if isinstance(trainer, JointLBFGS):
        return JointTraining(trainer)
    if isinstance(trainer, BatchTrainer):
        return BatchTraining(trainer)
    if isinstance(trainer, OnlineTrainer):
        return OnlineTraining(trainer)
    raise TrainingError(f"{trainer} is no trainer: it has neither 'start' nor 'begin'.")
