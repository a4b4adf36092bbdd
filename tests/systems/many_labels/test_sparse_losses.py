"""The loss of weights at few places against that of all weights, the others being zero."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from objectives import data_of
from reference import design_of
from spacy_cascade.inference.lattice import choice_lattice, free_lattice
from spacy_cascade.inference.linear_chain import FreeChoice
from spacy_cascade.inference.structure import Potentials, Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import SoftmaxMargin
from spacy_cascade.parallel import Workers
from spacy_cascade.systems.many_labels import losses as sparse
from spacy_cascade.systems.many_labels.losses import SparseCorpusLoss
from spacy_cascade.systems.many_labels.places import Places, nonzero_places
from strategies import random_corpus

LOSS = SoftmaxMargin(kappa=0.8, false_negative_weight=1.5)
N_FEATURES = 6


def random_data(generator: np.random.Generator, kind: str) -> LabelledSequences:
    lattice = choice_lattice(11) if kind == "choices" else free_lattice(5, label_pairs=False)
    lengths = [1] * 300 if kind == "choices" else [3, 1, 0, 4, 2, *[7] * 60]
    costs = LOSS.label_costs(lattice.n_labels)
    data = data_of(*random_corpus(generator, lattice, lengths, costs, 1.0, N_FEATURES))
    if kind == "chains":
        return data
    return LabelledSequences((design_of(data),), FreeChoice(lattice), data.observed, data.starts)


def random_weights(
    generator: np.random.Generator, data: LabelledSequences
) -> tuple[Weights, Weights, Places]:
    """Weights of which most are zero, the same at their places, and these."""
    shape = design_of(data).unit_features.n_columns, data.structure.n_columns
    weights = np.where(generator.random(shape) < 0.3, generator.normal(size=shape), 0.0)
    places = nonzero_places(weights)
    transitions = generator.normal(size=data.structure.n_transitions)
    own = Weights(places.taken_from(weights)[:, None], transitions)
    return Weights(weights, transitions), own, places


@pytest.fixture(params=["chains", "choices"])
def data(request: pytest.FixtureRequest, generator: np.random.Generator) -> LabelledSequences:
    return random_data(generator, request.param)


@pytest.mark.parametrize("block", [1, 40, 1 << 17])
def test_value_gradient_and_curvature(
    generator: np.random.Generator,
    data: LabelledSequences,
    block: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sparse, "_BLOCK", block)
    weights, own, places = random_weights(generator, data)
    whole = CorpusLoss(data, LOSS, Workers(1))
    expected = np.empty(weights.features.shape)
    value, of_transitions = whole.value_and_gradient(weights, expected)
    loss, found = SparseCorpusLoss(data, LOSS, places, Workers(1)), np.empty(own.features.shape)
    found_value, found_transitions = loss.value_and_gradient(own, found)
    assert found_value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(found[:, 0], places.taken_from(expected), atol=1e-11)
    np.testing.assert_allclose(found_transitions, of_transitions, atol=1e-11)
    np.testing.assert_array_equal(loss.counts(), whole.counts()[places.rows])
    diagonal = loss.hessian_diagonal(own)
    expected = places.taken_from(whole.hessian_diagonal(weights))
    np.testing.assert_allclose(diagonal[:, 0], expected, atol=1e-11)


@pytest.mark.parametrize("block", [1, 200, 400, 1 << 17])
def test_scores_are_made_for_as_many_sequences_as_there_is_room_for(
    generator: np.random.Generator,
    data: LabelledSequences,
    block: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Room for a block, or for eight times the transitions where these are more."""
    n, made = len(data.starts) - 1, []

    def counted(scores: np.ndarray, *others: np.ndarray) -> Potentials:
        made.append(len(scores))
        return Potentials(scores, *others)

    monkeypatch.setattr(sparse, "_BLOCK", block)
    monkeypatch.setattr(sparse, "Potentials", counted)
    monkeypatch.setattr(sparse, "split", lambda *_: [(0, n)])
    _, own, places = random_weights(generator, data)
    loss = SparseCorpusLoss(data, LOSS, places, Workers(1))
    loss.value_and_gradient(own, np.empty(own.features.shape))
    room = max(block, 8 * data.structure.n_transitions) // places.width
    expected: list[int] = []
    for length in np.diff(data.starts).tolist():
        if expected and expected[-1] + length <= room:
            expected[-1] += length
        else:
            expected.append(length)
    assert made == expected


@pytest.mark.parametrize("n_pieces", [3, 8, 20])
def test_every_sequence_is_in_a_part(
    generator: np.random.Generator,
    data: LabelledSequences,
    n_pieces: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = len(data.starts) - 1
    cuts = np.linspace(0, n, n_pieces + 1).astype(int).tolist()
    _, own, places = random_weights(generator, data)
    results = []
    for pieces in ([(0, n)], list(pairwise(cuts))):
        monkeypatch.setattr(sparse, "split", lambda *_, pieces=pieces: pieces)
        loss, gradient = (
            SparseCorpusLoss(data, LOSS, places, Workers(1)),
            np.empty(own.features.shape),
        )
        results.append([*loss.value_and_gradient(own, gradient), gradient])
    for one, many in zip(*results, strict=True):
        np.testing.assert_allclose(one, many, atol=1e-10)


def test_any_number_of_threads_gives_the_same_bits(
    generator: np.random.Generator, data: LabelledSequences, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_cascade.parallel._SMALLEST_PIECE", 100)
    _, own, places = random_weights(generator, data)
    results = []
    for threads in (1, 3):
        loss = SparseCorpusLoss(data, LOSS, places, Workers(threads))
        gradient = np.empty(own.features.shape)
        value, of_transitions = loss.value_and_gradient(own, gradient)
        results.append((value, of_transitions.tobytes(), gradient.tobytes()))
        assert len(loss._parts) == 8
    assert results[0] == results[1]
