"""Scores under weights that are mostly zero, as those of hundreds of labels are."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Model

from helpers import add_classifier, blank
from linear_models import LINES, TEXTS, units_of
from reference import dense_design
from spacy_cascade.features.templates import Templates
from spacy_cascade.scorers.linear import (
    get_weights,
    make_linear_chain,
    make_span_classifier,
    set_weights,
)
from spacy_cascade.systems.many_labels.scores import SparseScores
from spacy_cascade.systems.semi_markov.structure import SemiMarkovFamily

N_LABELS = 150


@pytest.fixture
def model(generator: np.random.Generator) -> Model:
    model = make_span_classifier(Templates(LINES, {}, {}), min_count=1)
    space = model.attrs["space"]
    space.learn(units_of(model, TEXTS), 1)
    weights = generator.normal(size=(len(space), N_LABELS))
    weights[generator.random(weights.shape) < 0.95] = 0.0
    set_weights(model, weights, np.zeros(N_LABELS))
    return model


@pytest.mark.parametrize("block", [1, 4096])
def test_scores_are_those_of_all_weights(
    model: Model, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_cascade.scorers.linear._SPARSE_BLOCK", block)
    assert SparseScores().of(get_weights(model)[0]) is not None
    units = units_of(model, [*TEXTS, "STAT5 is new ."])
    expected = dense_design(model.attrs["space"].design(units)) @ get_weights(model)[0]
    np.testing.assert_allclose(model.predict(units), expected, rtol=1e-5, atol=1e-5)
    monkeypatch.setattr("spacy_cascade.scorers.linear.MANY_COLUMNS", 1000)
    dense = copy.deepcopy(model)
    np.testing.assert_allclose(model.predict(units), dense.predict(units), atol=1e-12)


@pytest.mark.parametrize(("fewest", "are_many"), [(N_LABELS, True), (N_LABELS + 1, False)])
def test_many_labels_have_sums_of_their_own_which_are_kept(
    model: Model, fewest: int, are_many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_cascade.scorers.linear.MANY_COLUMNS", fewest)
    units = units_of(model, TEXTS)
    model.predict(units)
    first = model.attrs["sparse_scores"]
    assert (first is not None) == are_many
    model.predict(units)
    assert model.attrs["sparse_scores"] is first


def test_nobody_has_to_offer_sums_of_their_own(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, units = copy.deepcopy(model), units_of(model, TEXTS)
    monkeypatch.setattr("spacy_cascade.scorers.linear.offered", lambda kind: None)
    np.testing.assert_allclose(other.predict(units), model.predict(units), atol=1e-12)
    assert model.attrs["sparse_scores"] is None


def test_label_pairs_are_summed_by_words(model: Model) -> None:
    """As ever: their scores of words are kept, and it is they that make annotation fast."""
    weights = get_weights(model)
    other = make_linear_chain(Templates(LINES, {}, {}), min_count=1, label_pairs=True)
    other.attrs["space"] = model.attrs["space"]
    set_weights(other, *weights)
    units = units_of(model, TEXTS)
    np.testing.assert_allclose(other.predict(units), model.predict(units), atol=1e-12)
    assert other.attrs["sparse_scores"] is None
    assert model.attrs["sparse_scores"]._last is not None
    other.attrs["structure"] = SemiMarkovFamily(label_pairs=False)
    other.predict(units)
    assert other.attrs["sparse_scores"] is None


def test_weights_that_change(model: Model) -> None:
    """Others are sparse, dense, few; each time scores are those of the weights that there are."""
    units = units_of(model, TEXTS)
    rows = dense_design(model.attrs["space"].design(units))
    weights, transitions = get_weights(model)
    for now in (2 * weights, weights + 1, weights[:, :10]):
        set_weights(model, now, transitions)
        expected = rows @ get_weights(model)[0]
        np.testing.assert_allclose(model.predict(units), expected, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def many() -> tuple[Language, list[Example]]:
    """A classifier of 150 types, trained for a moment."""
    nlp = blank()
    classifier = add_classifier(nlp, spans_key=None, confidence=True)
    examples = []
    for i in range(2 * N_LABELS):
        words = ["the", f"name{i % N_LABELS}", "of", f"kind{i % 7}", "."]
        gold = Doc(nlp.vocab, words=words)
        gold.ents = [Span(gold, 1, 2, f"T{i % N_LABELS}")]
        examples.append(Example(Doc(nlp.vocab, words=words), gold))
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    assert SparseScores().of(classifier.weights.features) is not None
    return nlp, examples


def test_many_types_are_learnt_saved_and_extended(many: tuple[Language, list[Example]]) -> None:
    nlp, examples = many
    classifier = nlp.get_pipe("cascade_classifier")
    docs = [example.reference.copy() for example in examples]
    bounds = [[(e.start, e.end) for e in doc.ents] for doc in docs]
    right = [[e.label_ for e in doc.ents] for doc in docs]
    assert classifier.classify(docs, bounds) == right
    weights = classifier.weights.features
    assert 0 < np.count_nonzero(weights) < weights.size / 8
    data = classifier.to_bytes()
    assert len(data) < weights.size
    other = add_classifier(blank(), spans_key=None, confidence=True).from_bytes(data)
    assert other.classify(docs, bounds) == right
    assert other.to_bytes() == data
    gold = Doc(nlp.vocab, words=["a", "newcomer", "."])
    gold.ents = [Span(gold, 1, 2, "NEW")]
    for _ in range(3):
        other.update([Example(Doc(nlp.vocab, words=["a", "newcomer", "."]), gold)])
    assert other.classify([gold], [[(1, 2)]]) == [["NEW"]]
    found = sum(a == b for a, b in zip(other.classify(docs, bounds), right, strict=True))
    assert found == len(right)
