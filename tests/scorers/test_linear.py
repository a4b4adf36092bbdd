"""The linear model: scores of units, their gradient, its weights as parameters; its caches."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import ClassVar

import numpy as np
import pytest
from thinc.api import Model

from linear_models import LINES, TEXTS, units_of
from reference import dense_design
from spacy_cascade.errors import ConfigError, NotTrainedError, TrainingError
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.units import Units
from spacy_cascade.inference.linear_chain import ChainFamily
from spacy_cascade.scorers.linear import (
    add_features,
    can_be_kept,
    encoder_of,
    forget_weights,
    get_hessian_diagonal,
    get_weights,
    keep_hessian_diagonal,
    make_linear_chain,
    make_linear_model,
    make_span_classifier,
    n_dense,
    parts_of,
    places,
    rearrange,
    set_to_zero,
    set_weights,
    taken,
    unit_scores,
    with_rows,
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
        np.testing.assert_array_equal(unit_scores(model, units), scores)
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
    with np.errstate(over="raise"):
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
    assert model.param_names == ("W", "transitions")
    assert not model.attrs["structure"].label_pairs
    with pytest.raises(NotTrainedError, match="Train it with 'spacy train'"):
        get_weights(model)
    with pytest.raises(ConfigError, match="min_count must be 1 or more, not 0"):
        make(Templates(("word@0",), {}, {}), min_count=0)


@pytest.mark.parametrize(("make", "places"), [(make_linear_chain, 1), (make_span_classifier, 3)])
def test_an_encoder_is_a_layer_and_its_vectors_have_the_last_rows(make, places):
    encoder = Model("vectors", lambda *_: None, dims={"nO": 4})
    model = make(Templates(("word@0",), {}, {}), min_count=1, tok2vec=encoder)
    assert encoder_of(model) is encoder
    assert model.layers == [encoder]
    assert (n_dense(model), n_dense(model, 7)) == (4 * places, 7 * places)
    assert parts_of(model) == {"tok2vec": True}
    plain = make(Templates(("word@0",), {}, {}), min_count=1)
    assert (n_dense(plain), n_dense(plain, 7), plain.layers, parts_of(plain)) == (0, 0, [], {})


def test_a_model_has_the_space_that_is_made_for_it():
    templates = Templates(("word@0",), {}, {})
    space = FeatureSpace(templates)
    made = make_linear_model("larger", templates, 1, ChainFamily(True), space)
    assert made.attrs["space"] is space


LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize(
    ("values", "can"),
    [
        ([], True),
        ([LARGEST, -LARGEST], True),
        ([2 * LARGEST, 0.0], False),
        ([0.0, -2 * LARGEST], False),
        ([0.0, np.nan], False),
    ],
)
def test_numbers_of_single_precision_can_be_kept(values, can):
    assert can_be_kept(np.array(values)) is can


def test_curvature_is_kept_to_a_few_percent(model, generator):
    assert get_hessian_diagonal(model) is None
    curvature = 10.0 ** generator.uniform(-4, 7, (50, N_COLUMNS))
    keep_hessian_diagonal(model, curvature)
    np.testing.assert_allclose(get_hessian_diagonal(model), curvature, rtol=0.05, atol=0.004)
    keep_hessian_diagonal(model, np.array([[-1e-9, 0.0, 1e12]]))
    assert model.attrs["hessian_diagonal"].tolist() == [[0, 0, 255]]
    assert model.attrs["hessian_diagonal"].dtype == np.uint8
    assert not get_hessian_diagonal(model)[0, :2].any()


class Rows(np.ndarray):
    """An array that notes how many rows are looked at each time."""

    asked: ClassVar[list[int]] = []

    def __getitem__(self, place):
        found = super().__getitem__(place)
        self.asked.append(len(found))
        return found


@pytest.mark.parametrize(
    ("shape", "n_rows"),
    [((5, 1), [5]), ((5, 3), [2, 2, 1]), ((2, 7), [1, 1]), ((7, 0), [6, 1])],
)
def test_curvature_is_rounded_some_rows_at_a_time(model, shape, n_rows, monkeypatch):
    """What is made on the way takes as much memory for many rows as for few."""
    monkeypatch.setattr("spacy_cascade.scorers.linear._BLOCK", 6)
    monkeypatch.setattr(Rows, "asked", [])
    keep_hessian_diagonal(model, np.ones(shape).view(Rows))
    assert Rows.asked == n_rows


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


def test_rows_are_added_before_those_of_vectors():
    values = np.arange(1, 9, dtype=np.uint8).reshape(4, 2)
    found = with_rows(values, 3, 1)
    assert found.dtype == np.uint8
    assert found.tolist() == [[1, 2], [3, 4], [5, 6], [0, 0], [0, 0], [0, 0], [7, 8]]


def test_nothing_may_be_left_of_what_there_was():
    assert taken(np.ones((2, 3)), places(["a", "b", "c"], [])).shape == (2, 0)


def test_all_weights_can_be_zero_or_forgotten(model):
    n = len(model.attrs["space"])
    keep_hessian_diagonal(model, np.ones(get_weights(model)[0].shape))
    set_to_zero(model, 2, 5, n_dense=4)
    weights, transitions = get_weights(model)
    assert (weights.shape, transitions.shape) == ((n + 4, 2), (5,))
    assert not weights.any()
    assert not transitions.any()
    assert get_hessian_diagonal(model) is None
    with pytest.raises(MemoryError, match=rf"^{n} features take {n} x {1 << 45} weights$"):
        set_to_zero(model, 1 << 45, 5)
    keep_hessian_diagonal(model, weights)
    forget_weights(model)
    assert not any(map(model.has_param, model.param_names))
    assert get_hessian_diagonal(model) is None


def test_features_that_were_added_meanwhile_are_refused(model):
    """Words and their features may have been found before, or sparse weights may be summed."""
    units, space = units_of(model, TEXTS), model.attrs["space"]
    model.predict(units)
    space._know(np.append(space.index.keys, np.uint64(1)))
    with pytest.raises(TrainingError, match="Did another thread train the component meanwhile"):
        model.predict(units)
