"""The linear model: scores of units, their gradient, its weights as parameters; its caches."""

from __future__ import annotations

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from thinc.api import Model

from linear_models import LINES, TEXTS, units_of
from reference import dense_design
from spacy_cascade.errors import ConfigError, NotTrainedError
from spacy_cascade.features.pair_scores import KnownPairs
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.units import Units
from spacy_cascade.scorers.kept_scores import PairScores
from spacy_cascade.scorers.linear import (
    add_features,
    get_hessian_diagonal,
    get_weights,
    keep_hessian_diagonal,
    make_linear_chain,
    make_span_classifier,
    rearrange,
    set_weights,
)

N_COLUMNS = 3


def expected_scores(model: Model, units: Units) -> np.ndarray:
    design = model.attrs["space"].design(units)
    return dense_design(design) @ get_weights(model)[0].astype(np.float64)


@pytest.fixture
def model(generator) -> Model:
    """A model with random weights for the features of `TEXTS`."""
    model = make_linear_chain(Templates(LINES, {}, {}), min_count=1)
    units = units_of(model, TEXTS)
    space = model.attrs["space"]
    space.learn(units, 1)
    weights = generator.normal(size=(len(space), N_COLUMNS))
    set_weights(model, weights, generator.normal(size=4))
    return model


def test_scores_are_features_times_weights(model):
    """Of words met before, of others, and of none."""
    for batch in (TEXTS[:1], ["STAT5 and more ."], [f"word{n} binds" for n in range(100)], TEXTS):
        units = units_of(model, batch)
        scores = model.predict(units)
        assert scores.dtype == np.float64
        np.testing.assert_allclose(scores, expected_scores(model, units), atol=1e-9)
    assert model.predict(units_of(model, [])).shape == (0, N_COLUMNS)


def test_a_batch_keeps_the_words_that_it_was_made_with(model):
    """Whatever other threads do between the making of a batch and its scores."""
    units = units_of(model, TEXTS)
    expected = model.predict(units)
    model.attrs["space"].forget_lexemes(0)
    others = units_of(model, [f"other{n}" for n in range(100)])
    np.testing.assert_array_equal(model.predict(units), expected)
    np.testing.assert_allclose(model.predict(others), expected_scores(model, others), atol=1e-9)
    np.testing.assert_array_equal(model.predict(units), expected)


def test_scores_go_with_the_table_of_words(model):
    scores, space = model.attrs["lexeme_scores"], model.attrs["space"]
    before = model.predict(units_of(model, TEXTS))
    assert len(scores._known) == 1
    space.forget_lexemes(0)
    gc.collect()
    assert len(scores._known) == 0
    np.testing.assert_array_equal(model.predict(units_of(model, TEXTS[2:])), before[-1:])
    np.testing.assert_array_equal(model.predict(units_of(model, TEXTS)), before)


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: m.copy()],
    ids=["deepcopy", "pickle", "copy"],
)
def test_copies_score_alike(model, copied):
    """A copied space has no words."""
    before = model.predict(units_of(model, TEXTS))
    other = copied(model)
    np.testing.assert_array_equal(other.predict(units_of(other, TEXTS)), before)
    space = model.attrs["space"]
    for alone in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert len(alone.lexemes) == 1 < len(space.lexemes)


def test_new_weights_count_at_once(model, generator):
    units = units_of(model, TEXTS)
    before = model.predict(units)
    weights, transitions = get_weights(model)
    set_weights(model, 2.0 * weights, transitions)
    np.testing.assert_allclose(model.predict(units), 2.0 * before, atol=1e-9)
    key = model.id, "W"
    with model.use_params({key: np.zeros_like(weights)}):
        assert not model.predict(units).any()
    np.testing.assert_allclose(model.predict(units), 2.0 * before, atol=1e-9)


def test_gradient_is_that_of_the_weights(model, generator):
    units = units_of(model, TEXTS)
    scores, backprop = model.begin_update(units)
    slopes = generator.normal(size=scores.shape)
    assert backprop(slopes) is units
    design = model.attrs["space"].design(units)
    expected = dense_design(design).T @ slopes
    np.testing.assert_allclose(model.get_grad("W"), expected, rtol=1e-5, atol=1e-6)
    backprop(slopes)
    np.testing.assert_allclose(model.get_grad("W"), 2 * expected, rtol=1e-5, atol=1e-6)


def test_weights_are_kept_in_half_precision_where_they_fit(model):
    shape = get_weights(model)[0].shape
    set_weights(model, np.full(shape, 0.1), np.array([1e6]))
    weights, transitions = get_weights(model)
    assert weights.dtype == np.float32
    assert transitions.dtype == np.float64
    assert (weights == np.float32(np.float16(0.1))).all()
    # What half precision cannot hold keeps single precision.
    assert transitions.tolist() == [1e6]


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (make_linear_chain, {"label_pairs": False}, "cascade_linear_chain"),
        (make_span_classifier, {}, "cascade_span_classifier"),
    ],
)
def test_what_the_two_models_are(make, options, name):
    model = make(Templates(("word@0",), {}, {}), min_count=2, **options)
    assert (model.name, model.attrs["min_count"]) == (name, 2)
    assert not model.attrs["structure"].label_pairs
    with pytest.raises(NotTrainedError, match="Train it with 'spacy train'"):
        get_weights(model)
    with pytest.raises(ConfigError, match="min_count must be 1 or more, not 0"):
        make(Templates(("word@0",), {}, {}), min_count=0)


def test_curvature_is_kept_to_a_few_percent(model, generator):
    assert get_hessian_diagonal(model) is None
    curvature = 10.0 ** generator.uniform(-4, 7, (50, N_COLUMNS))
    keep_hessian_diagonal(model, curvature)
    np.testing.assert_allclose(get_hessian_diagonal(model), curvature, rtol=0.05, atol=0.004)
    keep_hessian_diagonal(model, np.zeros((2, 3)) - 1e-9)
    assert (get_hessian_diagonal(model) == 0.0).all()


def test_new_features_and_other_labels_have_zero_weights(model):
    (weights, transitions), n = get_weights(model), len(model.attrs["space"])
    keep_hessian_diagonal(model, np.ones(weights.shape))
    add_features(model, 2)
    before = ["O", "B", "I"], [f"edge {i}" for i in range(len(transitions))]
    rearrange(model, before, (["I", "new", "O", "B"], ["new", "edge 3"]))
    found, edges = get_weights(model)
    np.testing.assert_array_equal(found[:n, [2, 3, 0]], weights)
    assert not found[n:].any()
    assert not found[:, 1].any()
    np.testing.assert_array_equal(edges, [0.0, transitions[3]])
    curvature = get_hessian_diagonal(model)
    np.testing.assert_allclose(curvature[:n, [0, 2, 3]], 1.0, rtol=0.05)
    assert not curvature[n:].any()
    assert not curvature[:, 1].any()


SPACE = FeatureSpace(Templates(("word@-1 & word@0",), {}, {}))
WEIGHTS = np.zeros((4, 2))


def lend(kept: PairScores, *wanted: Any) -> KnownPairs:
    """What is lent, and given back at once."""
    with kept.lent(*wanted) as known:
        return known


def test_pairs_are_kept_until_weights_or_words_are_others() -> None:
    kept = PairScores()
    known = lend(kept, SPACE, SPACE.lexemes, WEIGHTS)
    assert known.shape == (1, 2)
    table = FeatureSpace(Templates(("word@-1 & word@0",), {}, {})).lexemes
    for others in ((SPACE.lexemes, WEIGHTS.copy()), (table, WEIGHTS)):
        known.pairs[:], known.sizes[:] = 7, 3
        assert lend(kept, SPACE, SPACE.lexemes, WEIGHTS) is known
        assert known.pairs.any()
        assert lend(kept, SPACE, *others) is known  # for a new table would leave a hole
        assert not known.pairs.any()
        assert not known.sizes.any()
        lend(kept, SPACE, SPACE.lexemes, WEIGHTS)
    wider = lend(kept, SPACE, SPACE.lexemes, np.zeros((4, 3)))
    assert wider.shape == (1, 3)


def test_one_at_a_time_has_known_pairs_and_copies_have_none() -> None:
    kept, wanted = PairScores(), (SPACE, SPACE.lexemes, WEIGHTS)
    with ThreadPoolExecutor(1) as pool:
        with kept.lent(*wanted) as known:
            meanwhile = pool.submit(lend, kept, *wanted).result()
        assert meanwhile is not known
        assert pool.submit(lend, kept, *wanted).result() is known  # what it knows is not lost
    with pytest.raises(ZeroDivisionError), kept.lent(*wanted):
        _ = 1 / 0
    assert lend(kept, *wanted) is known
    for other in (copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert lend(other, *wanted) is not known
