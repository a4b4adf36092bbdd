"""The loss of a corpus with features of segments: its gradient, and what curves it."""

from __future__ import annotations

import numpy as np
import pytest

from reference import rows_from_dense
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import Hinge, Likelihood
from spacy_cascade.numeric.design import SegmentRows
from spacy_cascade.parallel import Workers
from spacy_cascade.systems.semi_markov.structure import SemiMarkovChain
from strategies import random_design

LENGTHS, LONGEST, N_FEATURES = (3, 1, 4), 3, 5
STEP = 1e-5


def segment_rows(generator: np.random.Generator) -> SegmentRows:
    """Segments of up to three tokens within each of the sequences, with random features."""
    lengths = [list(range(1, min(t + 1, LONGEST) + 1)) for length in LENGTHS for t in range(length)]
    ends = np.cumsum([0, *map(len, lengths)])
    length = np.array([d for of_token in lengths for d in of_token], dtype=np.int32)
    matrix = generator.integers(0, 2, (len(length), N_FEATURES))
    return SegmentRows(ends, length, rows_from_dense(matrix), LONGEST)


def corpus_loss(generator: np.random.Generator, threads: int = 1) -> CorpusLoss:
    structure = SemiMarkovChain(TagSet("IOB2", ("A", "B")), True)
    design = random_design(generator, sum(LENGTHS), N_FEATURES)
    observed = np.zeros(sum(LENGTHS), dtype=np.int32)
    structure.tag_set.write(observed, np.array([0, 5]), np.array([2, 8]), np.array([1, 0]))
    starts = np.cumsum([0, *LENGTHS])
    data = LabelledSequences((design, segment_rows(generator)), structure, observed, starts)
    return CorpusLoss(data, Likelihood(), Workers(threads))


def random_weights(generator: np.random.Generator, loss: CorpusLoss) -> Weights:
    structure = loss.data.structure
    return Weights(
        generator.normal(size=(N_FEATURES, structure.n_columns)),
        generator.normal(size=structure.n_transitions),
    )


def test_the_gradient_is_the_slope_of_the_value(generator: np.random.Generator) -> None:
    """Of weights of tokens and of segments, and of transitions and lengths."""
    loss = corpus_loss(generator)
    weights = random_weights(generator, loss)
    out = np.full_like(weights.features, np.nan)
    _, of_transitions = loss.value_and_gradient(weights, out)
    unused = np.empty_like(out)
    for gradient, array in ((out, weights.features), (of_transitions, weights.transitions)):
        for place in np.ndindex(array.shape):
            before, values = array[place], []
            for sign in (1, -1):
                array[place] = before + sign * STEP
                values.append(loss.value_and_gradient(weights, unused)[0])
            array[place] = before
            slope = (values[0] - values[1]) / (2 * STEP)
            assert gradient[place] == pytest.approx(slope, abs=1e-6)
    columns = loss.data.structure.columns.blocks[-1]
    assert np.abs(out[:, columns]).max() > 1e-3


def test_variances_are_those_of_probabilities(generator: np.random.Generator) -> None:
    """`p (1 - p)` with the gradient `p`, or `p - 1` for what was observed."""
    loss = corpus_loss(generator)
    weights = random_weights(generator, loss)
    gradient = loss.potentials(weights)
    loss.losses(gradient)
    found = loss.variances(weights)
    for variances, slopes in zip(found.scored, gradient.scored, strict=True):
        p = np.where(slopes < 0, slopes + 1, slopes)
        np.testing.assert_allclose(variances, p * (1 - p), atol=1e-12)
    assert all(variances.max() > 0.01 for variances in found.scored)


def test_curvature_is_gathered_before_mixing(generator: np.random.Generator) -> None:
    """The square of what a parameter adds to each column, by the variance of the column."""
    loss = corpus_loss(generator)
    weights = random_weights(generator, loss)
    of_columns = np.empty_like(weights.features)
    loss.gradient(loss.variances(weights), of_columns)
    mixing = loss.data.structure.columns.mixing
    expected = np.zeros((N_FEATURES, len(mixing)))
    for parameter, row in enumerate(mixing):
        for column, share in enumerate(row):
            expected[:, parameter] += of_columns[:, column] * share**2
    np.testing.assert_allclose(loss.hessian_diagonal(weights), expected, atol=1e-12)


def test_a_hinge_has_a_smooth_neighbour_with_the_same_costs() -> None:
    hinge = Hinge(kappa=0.5, false_negative_weight=3.0)
    costs = [[0.0, 0.5, 0.5], [1.5, 0.0, 0.5], [1.5, 0.5, 0.0]]
    np.testing.assert_array_equal(hinge.margin_costs(3), costs)
    np.testing.assert_array_equal(hinge.smooth().label_costs(3), costs)
