"""Passive-aggressive training against a twin that keeps label and pair weights apart."""

from __future__ import annotations

import json
import math
import os
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from reference import Chain, Corpus
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.lattice import Lattice, choice_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Structure, Weights
from spacy_cascade.losses.base import LabelledSequences
from spacy_cascade.losses.margin import Hinge, Likelihood, SoftmaxMargin
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.trainers.base import Task
from spacy_cascade.trainers.lbfgs import LBFGS
from spacy_cascade.trainers.passive_aggressive import OnlineFit, PassiveAggressive
from strategies import LABELS, random_corpus


class Twin:
    """The updates of docs/method.md, section 5.3, by enumeration, one dense vector of weights."""

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
    hinge = Hinge(kappa=0.7, false_negative_weight=1.5)
    lengths = [1] * 8 if lattice.n_edges == lattice.n_labels else [3, 1, 4, 2, 3]
    costs = hinge.margin_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, lengths, costs, 1.0, missing=missing)
    start = generator.normal(size=(corpus.matrix.shape[1], lattice.n_columns))
    trainer = PassiveAggressive(C=C, cost_augmented=augmented, seed=5, **settings)
    batch = LabelledSequences((design,), LinearChain(lattice), corpus.tags, corpus.starts)
    learner = begin(trainer, batch, hinge, start)
    return learner, batch, hinge, Twin(corpus, C, augmented, start)


def begin(
    trainer: PassiveAggressive, batch: LabelledSequences, hinge: Hinge, weights: np.ndarray
) -> OnlineFit:
    """A fit that begins with weights of features, and with transitions of zero."""
    start = Weights(weights, np.zeros(batch.structure.n_transitions))
    return trainer.begin(Task(batch, hinge, None, start))


@pytest.mark.parametrize(
    ("C", "augmented", "power"), [(0.05, True, 0), (100.0, True, 1), (0.05, False, 2)]
)
@pytest.mark.parametrize("name", LATTICES)
def test_every_step_is_that_of_the_twin(name, C, augmented, power, generator):
    """With a power, late weights count more."""
    learner, batch, _, twin = setting(generator, LATTICES[name], C, augmented, average_power=power)
    order = np.random.default_rng(5)
    for _ in range(3):
        losses = [twin.learn(i) for i in order.permutation(len(batch.starts) - 1)]
        assert learner.step(batch) == pytest.approx(sum(losses), abs=1e-9)
        weights, transitions = twin.columns(twin.w)
        np.testing.assert_allclose(learner._averaged.weights, weights, atol=1e-9)
        np.testing.assert_allclose(learner._averaged.transitions, transitions, atol=1e-9)
        counts = np.arange(1.0, len(twin.history) + 1) ** power
        average = twin.columns(np.average(twin.history, axis=0, weights=counts))
        for found, expected in zip(learner.weights(), average, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-9)
    assert twin.w.any()


def test_where_the_margin_holds_nothing_changes(generator):
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 100.0, True, missing=0.0)
    for _ in range(500):
        if learner.step(batch) == 0.0:
            break
    # Twice the weights that just fulfil the margin fulfil it with room to spare.
    surer = 2.0 * learner._averaged.weights
    learner = begin(PassiveAggressive(C=100.0), batch, hinge, surer)
    np.testing.assert_array_equal(learner.weights()[0], surer)
    assert learner.step(batch) == 0.0
    np.testing.assert_array_equal(learner.weights()[0], surer)


def test_seeds_passes_and_averages(generator):
    """The seed decides; two passes are two steps; without averaging the last weights count."""
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 0.1, True)
    start = learner._averaged.weights.copy()

    def trained(n_steps=2, **settings):
        fit = begin(PassiveAggressive(**{"C": 0.1, "seed": 5, **settings}), batch, hinge, start)
        losses = [fit.step(batch) for _ in range(n_steps)]
        return fit, np.mean(losses)

    (once, loss), (again, _), (other, _) = trained(), trained(), trained(seed=2)
    np.testing.assert_array_equal(once.weights()[0], again.weights()[0])
    assert (once.weights()[0] != other.weights()[0]).any()
    both, of_both = trained(1, passes=2)
    assert of_both == pytest.approx(loss)
    np.testing.assert_array_equal(both.weights()[0], once.weights()[0])
    last, _ = trained(average=False)
    np.testing.assert_array_equal(last.weights()[0], last._averaged.weights)
    np.testing.assert_array_equal(last.weights()[0], once._averaged.weights)


@pytest.mark.parametrize("least", [1, 2, 3])
@pytest.mark.parametrize("name", LATTICES)
def test_pieces_are_sequences_of_their_own(name, least, generator):
    lattice = LATTICES[name]
    learner, batch, hinge, _ = setting(generator, lattice, 0.1, True, missing=0.1, cut_after=least)
    starts = [0]
    for first, end in pairwise(batch.starts.tolist()):
        for t in range(first + 1, end):
            if batch.observed[t - 1] == lattice.start and t - starts[-1] >= least:
                starts.append(t)
        starts.append(end)
    assert len(starts) > len(batch.starts) or least == 3 or name == "choice"
    pieces = replace(batch, starts=np.array(starts))
    weights = learner._averaged.weights.copy()
    other = begin(PassiveAggressive(C=0.1, seed=5), batch, hinge, weights)
    for _ in range(2):
        assert learner.step(batch) == other.step(pieces)
    np.testing.assert_array_equal(learner.weights()[0], other.weights()[0])


@pytest.mark.parametrize(
    "bad",
    [
        {"C": 0.0},
        {"C": math.nan},
        {"C": math.inf},
        {"passes": 0},
        {"seed": 2**200},
        *(
            {name: value}
            for name in ("seed", "cut_after", "average_power", "passes")
            for value in (-1, 2**63)
        ),
    ],
)
def test_settings_out_of_range(bad):
    with pytest.raises(ConfigError, match=r"\[trainer\]"):
        PassiveAggressive(**bad)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="plain kernels warn themselves")
@pytest.mark.parametrize("power", [2000, 440])
def test_huge_counts_give_nothing_finite_and_no_warning(power, generator):
    """The model finds out, and says what to do. The smaller power is finite for five sequences."""
    learner, batch, *_ = setting(generator, LATTICES["pairs"], 100.0, True, average_power=power)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            learner.step(batch)
            features, _ = learner.weights()
    assert not np.isfinite(features).all()


def test_trainers_refuse_pairs_that_they_cannot_train():
    PassiveAggressive().check(Hinge(), None, LinearChain)
    LBFGS().check(SoftmaxMargin(), Gaussian(), LinearChain)
    with pytest.raises(ConfigError, match=r"PassiveAggressive .*SoftmaxMargin.*Hinge\.v2"):
        PassiveAggressive().check(SoftmaxMargin(), None, LinearChain)
    with pytest.raises(ConfigError, match=r"takes no penalty, and there is Gaussian.*null"):
        PassiveAggressive().check(Hinge(), Gaussian(), LinearChain)
    with pytest.raises(ConfigError, match=r"LBFGS .*Hinge.*SoftmaxMargin\.v2"):
        LBFGS().check(Hinge(), Gaussian(), LinearChain)
    with pytest.raises(ConfigError, match=r"LBFGS needs a penalty beside the loss Likelihood"):
        LBFGS().check(Likelihood(), None, LinearChain)


@pytest.mark.parametrize(
    ("trainer", "loss", "penalty"),
    [(LBFGS(), Likelihood(), Gaussian()), (PassiveAggressive(), Hinge(), None)],
)
def test_trainers_refuse_structures_without_what_the_loss_needs(trainer, loss, penalty):
    with pytest.raises(ConfigError, match=r"needs .*, which Structure does not offer"):
        trainer.check(loss, penalty, Structure)


@pytest.mark.parametrize("n_before", [0, 1])
@pytest.mark.parametrize(("power", "share"), [(0, 1.0), (1, 0.25)])
def test_it_goes_on_from_its_state_to_the_last_bit(power, share, n_before, generator):
    """Also before a whole pass over the corpus, and from before the first step."""
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 0.1, True, average_power=power)
    batch = replace(batch, share=share)
    other = learner.settings.begin(Task(batch, hinge, None, learner.weights()))
    for _ in range(n_before):
        learner.step(batch)
    arrays = {k: v.copy() for k, v in learner.state().items() if isinstance(v, np.ndarray)}
    values = {k: v for k, v in learner.state().items() if k not in arrays}
    learner.step(batch)
    other.step(batch)
    other.step(batch)
    drift = {**arrays, **values, "weights_drift": arrays["weights_drift"][1:]}
    kept = other.weights()[0].copy()
    with pytest.raises(ValueError, match="is needed"):
        other.restore(drift)
    np.testing.assert_array_equal(other.weights()[0], kept)
    other.restore({**arrays, **json.loads(json.dumps(values))})
    other.step(batch)
    for found, expected in zip(other.weights(), learner.weights(), strict=True):
        assert found.tobytes() == expected.tobytes()
    np.testing.assert_array_equal(other.hessian_diagonal(), learner.hessian_diagonal())
