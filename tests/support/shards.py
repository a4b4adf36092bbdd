"""Shards of a random corpus, and what their sum is compared by."""

from __future__ import annotations

from typing import Any

import numpy as np

from objectives import data_of
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import SoftmaxMargin
from spacy_cascade.parallel import Workers
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.trainers.base import Task, TaskOn
from strategies import LABELS, random_corpus

LENGTHS = ([6, 4, 7], [5], [3, 3, 8, 2])
N_FEATURES = 8
LOSS = SoftmaxMargin(kappa=0.5)


def made_shards(seed: int = 0) -> list[LabelledSequences]:
    """Of different sizes, over the same features; no shard has all of these."""
    generator = np.random.default_rng(seed)
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs=True)
    costs = LOSS.label_costs(lattice.n_labels)
    made = [
        random_corpus(generator, lattice, lengths, costs, 1.5, n_features=N_FEATURES)
        for lengths in LENGTHS
    ]
    return [data_of(design, corpus) for design, corpus in made]


def random_weights(data: LabelledSequences, seed: int = 1) -> Weights:
    generator, structure = np.random.default_rng(seed), data.structure
    features = generator.normal(size=(N_FEATURES, structure.n_columns))
    return Weights(features, generator.normal(size=structure.n_transitions))


def results(loss: Any, weights: Weights) -> list[np.ndarray]:
    """Counts, value, both gradients and second derivatives; weights stand where a gradient goes."""
    out = np.array(weights.features)
    value, of_transitions = loss.value_and_gradient(weights._replace(features=out), out)
    return [loss.counts(), np.array(value), of_transitions, out, loss.hessian_diagonal(weights)]


def added_up(data: list[LabelledSequences], weights: Weights) -> list[np.ndarray]:
    """The same of shards in memory, in their order."""
    of_shards = [results(CorpusLoss(one, LOSS, Workers(1)), weights) for one in data]
    return [np.sum(each, axis=0) for each in zip(*of_shards, strict=True)]


class Source:
    """A corpus in shards (`trainers.base.Source`)."""

    is_new = False

    def __init__(self, data: list[LabelledSequences]) -> None:
        self.data, self.asked = data, list[int]()
        structure = data[0].structure
        shape = N_FEATURES, structure.n_columns
        zeros = Weights(np.zeros(shape), np.zeros(structure.n_transitions))
        penalty = Gaussian(1.0).at_zero(shape, structure.n_transitions)
        self._task = TaskOn(data[0], LOSS, penalty, zeros)

    def task(self) -> Task:
        raise AssertionError("asked for the whole corpus in memory")

    def task_on(self, data: Any) -> Any:
        return self._task.task_on(data)

    def shards(self, n_tokens: int) -> Any:
        self.asked.append(n_tokens)
        return iter(self.data)
