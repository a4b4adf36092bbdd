"""Objectives of random corpora, and their optima, for tests of losses and trainers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from reference import Corpus
from spacy_cascade.inference.lattice import Lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences, Loss
from spacy_cascade.numeric.design import Design
from spacy_cascade.parallel import Workers
from spacy_cascade.penalties.base import CentredPenalty
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.trainers.lbfgs import LBFGS
from spacy_cascade.trainers.lbfgs_run import LBFGSRun
from spacy_cascade.trainers.objective import Function, Objective


def data_of(design: Design, corpus: Corpus) -> LabelledSequences:
    return LabelledSequences((design,), LinearChain(corpus.lattice), corpus.tags, corpus.starts)


def objective_of(
    data: LabelledSequences,
    loss: Loss,
    penalty: CentredPenalty | float = 1.0,
    threads: int = 1,
) -> Objective:
    """penalty: or the standard deviation of a Gaussian one that is centred on zero."""
    corpus_loss = CorpusLoss(data, loss, Workers(threads))
    structure = data.structure
    if isinstance(penalty, float):
        shape = len(corpus_loss.counts()), structure.n_columns
        penalty = Gaussian(penalty).at_zero(shape, structure.n_transitions)
    return Objective.of(corpus_loss, penalty)


def lattice_of(objective: Objective) -> Lattice:
    structure = objective.parametrisation.structure
    assert isinstance(structure, LinearChain)
    return structure.lattice


def start(function: Function, parameters: npt.NDArray[np.float64], **settings: Any) -> LBFGSRun:
    """An optimisation that begins at the parameters, on one thread unless the settings say else."""
    trainer = LBFGS(**{"threads": 1, **settings})
    return LBFGSRun(trainer, function, parameters, trainer.thread_pool())


def central_differences(
    function: Function, parameters: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Numerical gradient of order four, so that a wide step is exact enough."""
    step = 1e-3
    gradient = np.empty_like(parameters)
    for i in range(len(parameters)):
        change = np.zeros_like(parameters)
        change[i] = step
        values = [
            function.value_and_gradient(parameters + factor * change)[0]
            for factor in (-2, -1, 1, 2)
        ]
        gradient[i] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
    return gradient


def slopes_at(
    value: Callable[[], float], array: npt.NDArray[np.float64], step: float = 1e-5
) -> npt.NDArray[np.float64]:
    """Numerical gradient of a value that depends on an array, which is moved in place and back."""
    slopes = np.empty_like(array)
    for place in np.ndindex(array.shape):
        before, values = array[place], []
        for sign in (1, -1):
            array[place] = before + sign * step
            values.append(value())
        array[place] = before
        slopes[place] = (values[0] - values[1]) / (2 * step)
    return slopes
