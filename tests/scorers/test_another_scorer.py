"""A second scorer beside listed features: a network of thinc, as another package would bring it.

It turns numbers `x` `[T, d]` of each token into `h` `[T, m]`, and these into scores by a linear
layer whose weights `U` `[m, S]` are rows of the model's own, after those of features:

    scores = listed features @ W + h(x) @ U

Both are trained together by gradient; the network adds up its own by `backprop`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from thinc.api import SGD, Model

from objectives import slopes_at
from reference import dense_design, rows_from_dense
from spacy_cascade import ConfigError
from spacy_cascade.inference.linear_chain import ChainFamily, LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import Likelihood, SoftmaxMargin
from spacy_cascade.numeric.design import SegmentRows, only_design
from spacy_cascade.parallel import Workers
from spacy_cascade.systems.semi_markov.structure import SemiMarkovFamily
from strategies import random_design

Floats = NDArray[np.float64]

LENGTHS, N_FEATURES, N_INPUTS, N_HIDDEN = (3, 1, 4, 6), 5, 4, 3


def tanh_layer(generator: np.random.Generator) -> Model[Floats, Floats]:
    """`h(x) = tanh(x V)`, in double precision for the sake of finite differences."""

    def forward(model: Model[Floats, Floats], inputs: Floats, is_train: bool) -> Any:
        hidden = np.tanh(inputs @ model.get_param("V"))

        def backprop(slopes: Floats) -> Floats:
            inner = slopes * (1.0 - hidden**2)
            model.inc_grad("V", inputs.T @ inner)
            return inner @ model.get_param("V").T

        return hidden, backprop

    return Model("tanh", forward, params={"V": generator.normal(size=(N_INPUTS, N_HIDDEN))})


@dataclass
class HiddenRows:
    """What a linear layer keeps of tokens, whose weights are some rows of the model: `[T, m]`."""

    hidden: Floats
    rows: slice
    block: int = field(default=0, init=False)

    @property
    def n_scored(self) -> int:
        return len(self.hidden)

    def add_scores(self, weights: Floats, out: Floats, workers: Workers) -> None:
        out += self.hidden @ weights

    def add_gradient(self, slopes: Floats, out: Floats, workers: Workers) -> None:
        out += self.hidden.T @ slopes

    def squared(self) -> HiddenRows:
        return HiddenRows(self.hidden**2, self.rows)

    def counts(self, workers: Workers) -> Floats:
        return np.full(self.hidden.shape[1], float(self.n_scored))


class NetworkRows(HiddenRows):
    """The same under a network, which learns, too."""

    def __init__(self, network: Model[Floats, Floats], inputs: Floats, rows: slice) -> None:
        super().__init__(network.predict(inputs), rows)
        self.network, self.inputs = network, inputs

    def add_scores(self, weights: Floats, out: Floats, workers: Workers) -> None:
        self.hidden, self._backprop = self.network.begin_update(self.inputs)
        # The gradient may be written to where the weights stand.
        self._weights = weights.copy()
        super().add_scores(weights, out, workers)

    def add_gradient(self, slopes: Floats, out: Floats, workers: Workers) -> None:
        super().add_gradient(slopes, out, workers)
        self._backprop(slopes @ self._weights.T)


def segment_rows(generator: np.random.Generator) -> SegmentRows:
    """Segments of one token each, with random features."""
    n = sum(LENGTHS)
    features = rows_from_dense(generator.integers(0, 2, (n, N_FEATURES)))
    return SegmentRows(np.arange(n + 1), np.ones(n, dtype=np.int32), features, 1)


@dataclass
class Corpus:
    """Tokens that are spans where their numbers say so, which the listed features do not show."""

    structure: LinearChain
    scorers: tuple[Any, ...]
    network: Model[Floats, Floats]
    loss: CorpusLoss
    weights: Weights

    def value_and_gradients(self) -> tuple[float, Floats, Floats, Floats]:
        """The loss, and its gradients: of features, of transitions and of the network."""
        self.network.set_grad("V", np.zeros((N_INPUTS, N_HIDDEN)))
        out = self.weights.features.copy()
        own = Weights(out, self.weights.transitions)
        value, of_transitions = self.loss.value_and_gradient(own, out)
        return value, out, of_transitions, self.network.get_grad("V").copy()


def corpus(generator: np.random.Generator, kind: str, loss: Any = None) -> Corpus:
    families = {"chain": ChainFamily(True), "segments": SemiMarkovFamily(True)}
    structure = families[kind].of_spans(TagSet("IOB2", ("A",)))
    n, starts = sum(LENGTHS), np.cumsum([0, *LENGTHS])
    inputs = generator.normal(size=(n, N_INPUTS))
    observed = np.where(inputs[:, 0] * inputs[:, 1] > 0, structure.tag_set.tags.index("B-A"), 0)
    network = tanh_layer(generator)
    after = slice(N_FEATURES, N_FEATURES + N_HIDDEN)
    others = (segment_rows(generator),) if kind == "segments" else ()
    scorers = (
        random_design(generator, n, N_FEATURES),
        NetworkRows(network, inputs, after),
        *others,
    )
    data = LabelledSequences(scorers, structure, observed.astype(np.int32), starts)
    weights = Weights(
        generator.normal(size=(after.stop, structure.n_columns)),
        generator.normal(size=structure.n_transitions),
    )
    corpus_loss = CorpusLoss(data, loss or Likelihood(), Workers(1))
    return Corpus(structure, scorers, network, corpus_loss, weights)


@pytest.mark.parametrize("kind", ["chain", "segments"])
@pytest.mark.parametrize("loss", [Likelihood(), SoftmaxMargin(0.5)])
def test_gradients_of_all_weights_are_slopes(
    kind: str, loss: Any, generator: np.random.Generator
) -> None:
    of = corpus(generator, kind, loss)
    _, *gradients = of.value_and_gradients()
    arrays = (*of.weights, of.network.get_param("V"))
    for gradient, array in zip(gradients, arrays, strict=True):
        assert np.abs(gradient).max() > 1e-3
        slopes = slopes_at(lambda: of.value_and_gradients()[0], array)
        np.testing.assert_allclose(gradient, slopes, atol=1e-6)


def test_scores_are_the_sum(generator: np.random.Generator) -> None:
    of = corpus(generator, "chain")
    listed, network = of.scorers[:2]
    features, dense = of.weights.features[:N_FEATURES], of.weights.features[N_FEATURES:]
    expected = dense_design(listed) @ features + network.network.predict(network.inputs) @ dense
    np.testing.assert_allclose(of.loss.potentials(of.weights).scores, expected, atol=1e-12)
    counts = [*dense_design(listed).sum(axis=0), *[sum(LENGTHS)] * N_HIDDEN]
    np.testing.assert_array_equal(of.loss.counts(), counts)


def test_second_derivatives_have_squares(generator: np.random.Generator) -> None:
    """A number `h` in a score makes its weight's curvature `h²` times that of the score."""
    of = corpus(generator, "chain")
    variances = of.loss.variances(of.weights).scores
    hidden = of.network.predict(of.scorers[1].inputs)
    found = of.loss.curvature(of.weights)[N_FEATURES:]
    np.testing.assert_allclose(found, (hidden**2).T @ variances, atol=1e-12)


def test_both_are_trained_together(generator: np.random.Generator) -> None:
    """The network learns what no sum of its inputs says, and the loss nearly vanishes."""
    of = corpus(generator, "chain")
    optimizer = SGD(0.1)
    first = of.value_and_gradients()[0]
    for _ in range(200):
        _, of_features, of_transitions, _ = of.value_and_gradients()
        features, _ = optimizer((1, "W"), of.weights.features, of_features)
        transitions, _ = optimizer((1, "transitions"), of.weights.transitions, of_transitions)
        of.weights = Weights(features, transitions)
        of.network.finish_update(optimizer)
    last = of.value_and_gradients()[0]
    assert last < 0.02 * first


@pytest.mark.parametrize("kind", ["chain", "segments"])
def test_who_knows_listed_features_alone_says_so(kind: str, generator: np.random.Generator) -> None:
    of = corpus(generator, kind)
    data = of.loss.data
    with pytest.raises(ConfigError, match=r"Online training goes through listed features"):
        of.structure.learn_online(data.encoded, data.observed, data.starts)
    with pytest.raises(ConfigError, match=r"Choose another \[model\]"):
        only_design(data.encoded, "This")
