"""Passive-aggressive training against a twin that keeps label and pair weights apart."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from spacy_cascade.losses.problem import LabelledSequences

from reference import Chain, Corpus
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.lattice import Lattice, choice_lattice
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.losses.margin import Hinge, SoftmaxMargin
from spacy_cascade.trainers.base import BatchTrainer, OnlineTrainer
from spacy_cascade.trainers.lbfgs import LBFGS
from spacy_cascade.trainers.passive_aggressive import PassiveAggressive
from strategies import LABELS, random_corpus


class Twin:
    """The updates of METHOD.md by enumeration, one dense vector of weights."""

    def __init__(self, corpus: Corpus, C: float, augmented: bool, start: np.ndarray) -> None:
        self.corpus, self.C, self.augmented = corpus, C, augmented
        self.lattice = corpus.lattice
        self.start = start
        self.pairs = self.lattice.label_pairs and self.lattice.n_edges > self.lattice.n_labels
        n_features = corpus.matrix.shape[1]
        self.width = self.lattice.n_labels + (self.lattice.n_edges if self.pairs else 0)
        n_transitions = 0 if self.lattice.label_pairs else self.lattice.n_edges
        self.w = np.zeros(n_features * self.width + n_transitions)
        self.history = []

    def columns(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights `[K, S]` of score columns and transitions `[E]`."""
        n_features, n_labels = self.corpus.matrix.shape[1], self.lattice.n_labels
        by_feature = w[: n_features * self.width].reshape(n_features, self.width)
        weights = by_feature[:, :n_labels]
        if self.pairs:
            weights = weights[:, self.lattice.target] + by_feature[:, n_labels:]
        transitions = w[n_features * self.width :]
        if not len(transitions):
            transitions = np.zeros(self.lattice.n_edges)
        return self.start + weights, transitions

    def features(self, begin: int, path: list[int]) -> np.ndarray:
        """`F(x, y)`."""
        n_features, n_labels = self.corpus.matrix.shape[1], self.lattice.n_labels
        found = np.zeros((n_features, self.width))
        moves = np.zeros(len(self.w) - found.size)
        for t, edge in enumerate(path, start=begin):
            found[:, self.lattice.target[edge]] += self.corpus.matrix[t]
            if self.pairs:
                found[:, n_labels + edge] += self.corpus.matrix[t]
            if len(moves):
                moves[edge] += 1
        return np.concatenate([found.reshape(-1), moves])

    def learn(self, i: int) -> float:
        begin, end = self.corpus.starts[i], self.corpus.starts[i + 1]
        weights, transitions = self.columns(self.w)
        scores = self.corpus.matrix[begin:end] @ weights
        tags = self.corpus.tags[begin:end].tolist()
        chain = Chain(self.lattice, scores, transitions, self.corpus.costs, tags)
        paths = list(chain.paths())
        cost = chain.cost if self.augmented else lambda _: 0.0
        wrong = max(paths, key=lambda path: chain.score(path) + cost(path))
        right = max(filter(chain.agrees, paths), key=chain.score)
        loss = max(0.0, chain.cost(wrong) - chain.score(right) + chain.score(wrong))
        change = self.features(begin, right) - self.features(begin, wrong)
        if loss > 0 and change.any():
            self.w = self.w + min(self.C, loss / (change @ change)) * change
        self.history.append(self.w)
        return loss


LATTICES = {
    "pairs": TagSet("IOB2", LABELS).lattice(label_pairs=True),
    "labels": TagSet("IOB2", LABELS[:1]).lattice(label_pairs=False),
    "choice": choice_lattice(3),
}


def setting(
    generator, lattice: Lattice, C: float, augmented: bool, missing: float = 0.2, **settings
):
    hinge = Hinge(kappa=0.7, miss=1.5)
    lengths = [1] * 8 if lattice.n_edges == lattice.n_labels else [3, 1, 4, 2, 3]
    costs = hinge.costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, lengths, costs, 1.0, missing=missing)
    start = generator.normal(size=(corpus.matrix.shape[1], lattice.n_columns))
    trainer = PassiveAggressive(C=C, cost_augmented=augmented, seed=5, **settings)
    learner = trainer.begin(start, np.zeros(lattice.n_edges))
    batch = LabelledSequences(design, lattice, corpus.tags, corpus.starts)
    return learner, batch, hinge, Twin(corpus, C, augmented, start)


@pytest.mark.parametrize("augmented", [True, False])
@pytest.mark.parametrize("C", [0.05, 100.0])
@pytest.mark.parametrize("name", LATTICES)
def test_every_step_is_that_of_the_twin(name, C, augmented, generator):
    learner, batch, hinge, twin = setting(generator, LATTICES[name], C, augmented)
    order = np.random.default_rng(5)
    for _ in range(3):
        losses = [twin.learn(i) for i in order.permutation(len(batch.starts) - 1)]
        assert learner.learn(batch, hinge) == pytest.approx(sum(losses), abs=1e-9)
        weights, transitions = twin.columns(twin.w)
        np.testing.assert_allclose(learner._averaged.weights, weights, atol=1e-9)
        np.testing.assert_allclose(learner._averaged.transitions, transitions, atol=1e-9)
        average, average_transitions = twin.columns(np.mean(twin.history, axis=0))
        found = learner.weights()
        np.testing.assert_allclose(found[0], average, atol=1e-9)
        np.testing.assert_allclose(found[1], average_transitions, atol=1e-9)
    assert twin.w.any()


def test_where_the_margin_holds_nothing_changes(generator):
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 100.0, True, missing=0.0)
    for _ in range(500):
        if learner.learn(batch, hinge) == 0.0:
            break
    # Twice the weights that just fulfil the margin fulfil it with room to spare.
    surer = 2.0 * learner._averaged.weights
    learner = PassiveAggressive(C=100.0).begin(surer, np.zeros(batch.lattice.n_edges))
    assert learner.learn(batch, hinge) == 0.0
    np.testing.assert_array_equal(learner.weights()[0], surer)


def test_only_features_that_differ_are_touched(generator):
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 1.0, True)
    unused = np.setdiff1d(
        np.arange(len(learner._averaged.weights)),
        np.concatenate([batch.design.lexeme_features.columns, batch.design.unit_features.columns]),
    )
    before = learner._averaged.weights.copy()
    learner.learn(batch, hinge)
    np.testing.assert_array_equal(learner._averaged.weights[unused], before[unused])


def test_same_seed_same_weights(generator):
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 0.1, True)
    start = learner._averaged.weights.copy()
    results = []
    for seed in (1, 1, 2):
        other = PassiveAggressive(C=0.1, seed=seed).begin(start, np.zeros(batch.lattice.n_edges))
        for _ in range(2):
            other.learn(batch, hinge)
        results.append(other.weights()[0])
    np.testing.assert_array_equal(results[0], results[1])
    assert (results[0] != results[2]).any()


def test_without_averaging_the_last_weights_count(generator):
    _, batch, hinge, _ = setting(generator, LATTICES["pairs"], 0.1, True)
    weights = np.zeros((batch.design.unit_features.n_columns, batch.lattice.n_columns))
    learner = PassiveAggressive(C=0.1, average=False).begin(
        weights, np.zeros(len(batch.lattice.source))
    )
    learner.learn(batch, hinge)
    np.testing.assert_array_equal(learner.weights()[0], learner._averaged.weights)


def test_loaded_weights_are_where_it_begins(generator):
    learner, _, _, twin = setting(generator, LATTICES["pairs"], 0.1, True)
    np.testing.assert_array_equal(learner.weights()[0], twin.start)


@pytest.mark.parametrize("power", [1, 2])
def test_late_weights_count_more(power, generator):
    learner, batch, hinge, twin = setting(
        generator, LATTICES["pairs"], 0.1, True, average_power=power, passes=2
    )
    order = np.random.default_rng(5)
    for _ in range(2):
        learner.learn(batch, hinge)
        for _ in range(2):
            for i in order.permutation(len(batch.starts) - 1):
                twin.learn(i)
        counts = np.arange(1.0, len(twin.history) + 1) ** power
        average, _ = twin.columns(np.average(twin.history, axis=0, weights=counts))
        np.testing.assert_allclose(learner.weights()[0], average, atol=1e-9)


@pytest.mark.parametrize("least", [1, 2, 3])
@pytest.mark.parametrize("name", LATTICES)
def test_pieces_are_sequences_of_their_own(name, least, generator):
    lattice = LATTICES[name]
    learner, batch, hinge, _ = setting(generator, lattice, 0.1, True, missing=0.1, cut_after=least)
    starts = [0]
    for begin, end in pairwise(batch.starts.tolist()):
        for t in range(begin + 1, end):
            if batch.tags[t - 1] == lattice.start and t - starts[-1] >= least:
                starts.append(t)
        starts.append(end)
    assert len(starts) > len(batch.starts) or least == 3 or name == "choice"
    pieces = replace(batch, starts=np.array(starts))
    other = PassiveAggressive(C=0.1, seed=5).begin(
        learner._averaged.weights.copy(), np.zeros(lattice.n_edges)
    )
    for _ in range(2):
        assert learner.learn(batch, hinge) == other.learn(pieces, hinge)
    np.testing.assert_array_equal(learner.weights()[0], other.weights()[0])


def test_several_passes_are_several_calls(generator):
    once, batch, hinge, _ = setting(generator, LATTICES["pairs"], 0.1, True)
    weights, nothing = once._averaged.weights.copy(), np.zeros(batch.lattice.n_edges)
    both = PassiveAggressive(C=0.1, seed=5, passes=2).begin(weights, nothing)
    losses = [once.learn(batch, hinge) for _ in range(2)]
    assert both.learn(batch, hinge) == pytest.approx(sum(losses) / 2)
    np.testing.assert_array_equal(both.weights()[0], once.weights()[0])


@pytest.mark.parametrize(
    "bad",
    [
        {"C": 0.0},
        {"C": math.nan},
        {"passes": 0},
        {"seed": -1},
        {"cut_after": -1},
        {"average_power": -1},
    ],
)
def test_settings_out_of_range(bad):
    with pytest.raises(ConfigError, match=r"\[trainer\]"):
        PassiveAggressive(**bad)


def test_trainers_refuse_objectives_that_are_not_theirs():
    PassiveAggressive().check(Hinge())
    LBFGS().check(SoftmaxMargin())
    with pytest.raises(ConfigError, match="Hinge"):
        PassiveAggressive().check(SoftmaxMargin())
    with pytest.raises(ConfigError, match="SoftmaxMargin"):
        LBFGS().check(Hinge())


def test_kinds_of_trainers():
    assert isinstance(LBFGS(), BatchTrainer)
    assert not isinstance(LBFGS(), OnlineTrainer)
    assert isinstance(PassiveAggressive(), OnlineTrainer)
    assert not isinstance(PassiveAggressive(), BatchTrainer)


@pytest.mark.parametrize("power", [0, 1])
def test_it_goes_on_from_its_state_to_the_last_bit(power, generator):
    learner, batch, hinge, _ = setting(
        generator, LATTICES["pairs"], 0.1, True,
        average_power=power,
    )  # fmt: skip
    other = learner.settings.begin(*learner.weights())
    learner.learn(batch, hinge)
    arrays = {k: v.copy() for k, v in learner.state().items() if isinstance(v, np.ndarray)}
    values = {k: v for k, v in learner.state().items() if k not in arrays}
    learner.learn(batch, hinge)
    other.learn(batch, hinge)
    other.learn(batch, hinge)
    other.restore({**arrays, **json.loads(json.dumps(values))})
    other.learn(batch, hinge)
    for found, expected in zip(other.weights(), learner.weights(), strict=True):
        assert found.tobytes() == expected.tobytes()


def test_a_state_of_other_features_is_refused(generator):
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 0.1, True)
    learner.learn(batch, hinge)
    state = learner.state()
    weights = learner.weights()[0].copy()
    with pytest.raises(ValueError, match="is needed"):
        learner.restore({**state, "weights_drift": state["weights_drift"][1:]})
    np.testing.assert_array_equal(learner.weights()[0], weights)
