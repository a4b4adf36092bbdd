"""Costs of wrong labels; the loss of a corpus with features of segments, and what curves it."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

from objectives import slopes_at
from reference import rows_from_dense
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.lattice import choice_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import Hinge, Likelihood, SoftmaxMargin
from spacy_cascade.numeric.design import SegmentRows
from spacy_cascade.parallel import Workers
from spacy_cascade.systems.semi_markov.structure import SemiMarkovChain
from strategies import random_design


@pytest.mark.parametrize(
    ("loss", "options", "expected"),
    [
        (Likelihood, {}, [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        (SoftmaxMargin, {"kappa": 0.0}, [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        (SoftmaxMargin, {}, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
        (
            SoftmaxMargin, {"kappa": 0.5, "false_negative_weight": 3.0},
            [[0, 0.5, 0.5], [1.5, 0, 0.5], [1.5, 0.5, 0]],
        ),
    ],
)  # fmt: skip
def test_costs_of_wrong_labels(loss: Any, options: dict[str, float], expected: Any) -> None:
    """A miss can cost more than a false alarm; a hinge has a smooth neighbour of the same costs."""
    np.testing.assert_array_equal(loss(**options).label_costs(3), expected)
    if any(map(any, expected)):
        hinge = Hinge(**options)
        np.testing.assert_array_equal(hinge.margin_costs(3), expected)
        assert hinge.smooth() == SoftmaxMargin(**options)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("option", ["kappa", "false_negative_weight"])
@pytest.mark.parametrize("loss", [SoftmaxMargin, Hinge])
def test_costs_must_be_positive(loss: Any, option: str, value: float) -> None:
    """The margin of a likelihood may be 0."""
    if (loss, option, value) == (SoftmaxMargin, "kappa", 0.0):
        return
    with pytest.raises(ConfigError, match=rf"{option} .*\[loss\]"):
        loss(**{option: value})


def test_costs_as_kernels_want_them(generator):
    costs = generator.random((3, 3))
    margin, clamp = LinearChain(choice_lattice(3)).costs(costs)
    np.testing.assert_array_equal(margin, [np.zeros(3), *costs, np.zeros(3)])
    assert not clamp[0].any()
    for observed in range(3):
        assert clamp[observed + 1, observed] == 0.0
        assert np.isneginf(np.delete(clamp[observed + 1], observed)).all()


def test_no_label_that_continues_a_span_is_left_where_one_has_ended():
    tag_set = TagSet("IOB2", ("x", "y"))
    lattice = tag_set.lattice(label_pairs=False)
    margin, clamp = LinearChain(lattice).costs(np.ones((5, 5)))
    assert not margin[-1].any()
    assert [tag for tag, cost in zip(tag_set.tags, clamp[-1], strict=True) if cost] == [
        "I-x",
        "I-y",
    ]
    assert np.isneginf(clamp[-1, lattice.continued]).all()


LENGTHS, LONGEST, N_FEATURES = (3, 1, 4), 3, 5


def segment_rows(generator: np.random.Generator) -> SegmentRows:
    """Segments of up to three tokens within each of the sequences, with random features."""
    lengths = [list(range(1, min(t + 1, LONGEST) + 1)) for length in LENGTHS for t in range(length)]
    ends = np.cumsum([0, *map(len, lengths)])
    length = np.array([d for of_token in lengths for d in of_token], dtype=np.int32)
    matrix = generator.integers(0, 2, (len(length), N_FEATURES))
    return SegmentRows(ends, length, rows_from_dense(matrix), LONGEST)


def corpus_loss(generator: np.random.Generator) -> CorpusLoss:
    structure = SemiMarkovChain(TagSet("IOB2", ("A", "B")), True)
    design = random_design(generator, sum(LENGTHS), N_FEATURES)
    observed = np.zeros(sum(LENGTHS), dtype=np.int32)
    structure.tag_set.write(observed, np.array([0, 5]), np.array([2, 8]), np.array([1, 0]))
    starts = np.cumsum([0, *LENGTHS])
    data = LabelledSequences((design, segment_rows(generator)), structure, observed, starts)
    return CorpusLoss(data, Likelihood(), Workers(1))


def loss_of_choices(at_once: int = 1) -> CorpusLoss:
    """Of ten thousand units without scores, each a choice of 20 labels; on four threads."""
    structure = LinearChain(choice_lattice(20))
    structure.transitions_at_once = at_once
    data = LabelledSequences((), structure, np.zeros(0, np.int32), np.arange(10_001))
    return CorpusLoss(data, Likelihood(), Workers(4))


def random_weights(generator: np.random.Generator, loss: CorpusLoss) -> Weights:
    structure = loss.data.structure
    return Weights(
        generator.normal(size=(N_FEATURES, structure.n_columns)),
        generator.normal(size=structure.n_transitions),
    )


@pytest.mark.parametrize(("at_once", "n_pieces"), [(1, 24), (5, 4), (40, 1)])
def test_many_transitions_are_worth_more_pieces(at_once: int, n_pieces: int) -> None:
    """A unit takes as long as its transitions; some structures take several of them at once."""
    assert len(loss_of_choices(at_once).pieces) == n_pieces


def test_pieces_are_added_one_after_the_other(generator: np.random.Generator) -> None:
    """In their order, by one thread at a time, whichever piece is ready first."""
    at_work, most = 0, 0

    class Watched(np.ndarray[Any, Any]):
        """Numbers that take a while to add up, and say how often that is done at once."""

        def __array_ufunc__(self, ufunc: Any, _: str, *inputs: Any, **options: Any) -> Any:
            nonlocal at_work, most
            at_work += 1
            most = max(most, at_work)
            time.sleep(0.002)
            found = ufunc(*(np.asarray(values) for values in inputs), **options)
            at_work -= 1
            return found

    loss = loss_of_choices()
    of_pieces = {first: generator.normal(size=20) for first, _ in loss.pieces}
    expected = np.zeros(20)
    for each in of_pieces.values():
        expected += each
    found = loss.sum_of_pieces(lambda first, _: of_pieces[first].view(Watched))
    np.testing.assert_array_equal(found, expected)
    assert most == 1


def test_the_gradient_is_the_slope_of_the_value(generator: np.random.Generator) -> None:
    """Of weights of tokens and of segments, and of transitions and lengths."""
    loss = corpus_loss(generator)
    weights = random_weights(generator, loss)
    out = np.full_like(weights.features, np.nan)
    _, of_transitions = loss.value_and_gradient(weights, out)
    unused = np.empty_like(out)
    for gradient, array in ((out, weights.features), (of_transitions, weights.transitions)):
        slopes = slopes_at(lambda: loss.value_and_gradient(weights, unused)[0], array)
        np.testing.assert_allclose(gradient, slopes, atol=1e-6)
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
