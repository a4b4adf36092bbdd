"""Rounds of induction on made data: what is found, what is admitted, and that it repeats."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from objectives import data_of
from reference import dense_design, design_of, encoded_of, rows_from_dense
from spacy_cascade.errors import ConfigError, TrainingError
from spacy_cascade.inference.lattice import choice_lattice
from spacy_cascade.inference.linear_chain import FreeChoice
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.losses.base import LabelledSequences
from spacy_cascade.losses.margin import Likelihood, SoftmaxMargin
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.systems.induction.candidates import AtomicTests
from spacy_cascade.systems.induction.trainer import Induced, Induction
from spacy_cascade.trainers.lbfgs import LBFGS
from strategies import LABELS, random_corpus

SETTINGS: dict[str, Any] = {"rounds": 4, "features": 5, "min_count": 2, "round_iterations": 8}


def single_tests(n: int) -> AtomicTests:
    """Tests that are the only ones of their templates."""
    parts = [frozenset([f"part {i}"]) for i in range(n)]
    return AtomicTests(np.arange(n, dtype=np.int32), np.ones(n, dtype=np.bool_), parts)


def choices(matrix: np.ndarray, labels: np.ndarray) -> LabelledSequences:
    structure = FreeChoice(choice_lattice(int(labels.max()) + 1))
    starts = np.arange(len(labels) + 1)
    encoded = encoded_of(rows_from_dense(matrix))
    return LabelledSequences(encoded, structure, labels.astype(np.int32), starts)


def run(
    data: LabelledSequences, tests: AtomicTests, threads: int = 1, loss: Any = None, **settings: Any
) -> Induced:
    induction = Induction(LBFGS(threads=threads), **{**SETTINGS, **settings})
    return induction.run(data, tests, loss or Likelihood(), Gaussian(1.0), lambda _: None)


def exclusive_or(generator: np.random.Generator) -> tuple[LabelledSequences, AtomicTests]:
    """A label that two tests decide together and neither alone, among other tests."""
    matrix = (generator.random((400, 6)) < 0.5).astype(np.int64)
    return choices(matrix, matrix[:, 1] ^ matrix[:, 4]), single_tests(6)


def test_what_a_round_says_is_so(generator):
    """Of the model after it, by the formulas: its objective, and the units that are wrong next."""
    data, tests = exclusive_or(generator)
    data.observed[::7] = -1
    told: list[Any] = []
    found = [
        Induction(LBFGS(threads=1), **{**SETTINGS, "rounds": n, "certainty": 0.55}).run(
            data, tests, Likelihood(), Gaussian(0.8), told.append
        )
        for n in (1, 2, 3)
    ]
    assert told == [each for one in found for each in one.rounds]
    assert [len(one.rounds) for one in found] == [2, 3, 4]
    assert found[2].rounds[0].n_hard == (data.observed >= 0).sum()
    matrix = dense_design(design_of(data)) > 0
    for one, later in pairwise(found):
        has = np.stack([matrix[:, list(tests)].all(axis=1) for tests in one.features], axis=1)
        scores = has @ one.weights.features + one.weights.transitions
        terms = log_softmax(scores, axis=1)
        known = data.observed >= 0
        right = terms[known, data.observed[known]]
        width = (one.weights.features**2).sum() + (one.weights.transitions**2).sum()
        assert one.rounds[-1].loss == pytest.approx(0.5 * width / 0.8**2 - right.sum(), rel=1e-9)
        assert later.rounds[-1].n_hard == (np.exp(right) <= 0.55).sum() > 0


def test_rounds_add_as_many_features_as_they_are_to(generator):
    """The first one a single test, whatever a conjunction would gain."""
    data, tests = exclusive_or(generator)
    found = run(data, tests, features=3)
    added = [[len(candidate.tests) for candidate in one.added] for one in found.rounds]
    assert added[0] == [1]
    assert all(0 < len(lengths) <= 3 for lengths in added[1:])
    assert len(added[1]) == 3
    features = [candidate.tests for one in found.rounds for candidate in one.added]
    assert list(found.features) == features
    assert found.weights.features.shape == (len(features), data.structure.n_columns)
    assert max(map(len, run(data, tests, features=1).features)) == 1


def test_a_conjunction_is_found_where_no_test_decides(generator):
    """And the unit that is told of a feature has it; a test that cannot join stays alone."""
    data, tests = exclusive_or(generator)
    found, active = run(data, tests), design_of(data).active_features()
    assert (1, 4) in found.features
    assert all(one.n_hard for one in found.rounds)
    assert found.rounds[-1].loss < 0.4 * found.rounds[0].loss
    for feature, unit in zip(found.features, found.units.tolist(), strict=True):
        row = active.indices[active.indptr[unit] : active.indptr[unit + 1]]
        assert set(feature) <= set(row.tolist())
    alone = AtomicTests(tests.template, np.arange(6) != 4, tests.parts)
    assert not [f for f in run(data, alone).features if 4 in f and len(f) > 1]


def test_conjunctions_grow_as_long_as_they_have_to(generator):
    matrix = (generator.random((600, 5)) < 0.6).astype(np.int64)
    found = run(choices(matrix, matrix[:, :4].prod(axis=1)), single_tests(5), certainty=0.95)
    assert max(map(len, found.features)) > 2
    shorter = run(choices(matrix, matrix[:, :4].prod(axis=1)), single_tests(5), longest=2)
    assert max(map(len, shorter.features)) == 2


def test_only_so_many_templates_are_admitted(generator):
    """Each test is of another template, so each conjunction is."""
    matrix = (generator.random((300, 8)) < 0.5).astype(np.int64)
    labels = (matrix[:, 0] ^ matrix[:, 1]) + (matrix[:, 2] & matrix[:, 3])
    data, tests = choices(matrix, labels), single_tests(8)
    joined = [f for f in run(data, tests, templates=1, rounds=3).features if len(f) > 1]
    assert 1 <= len(joined) <= 3
    assert not [f for f in run(data, tests, templates=0).features if len(f) > 1]


def test_a_chain_gives_the_same_on_any_number_of_threads(generator):
    lattice = TagSet("BILOU", LABELS).lattice(label_pairs=True)
    costs = np.zeros((lattice.n_labels, lattice.n_labels))
    design, corpus = random_corpus(generator, lattice, [6, 4, 7, 5] * 12, costs, 1.0, n_features=9)
    data, loss = data_of(design, corpus), SoftmaxMargin(kappa=1.0)
    one = run(data, single_tests(9), 1, loss)
    two = run(data, single_tests(9), 3, loss)
    assert one.features == two.features
    assert [each.added for each in one.rounds] == [each.added for each in two.rounds]
    np.testing.assert_array_equal(one.weights.features, two.weights.features)
    assert len(one.features) > 5


def test_units_without_annotation_teach_nothing(generator):
    """A test that holds only where no label is known is no candidate, and none is an error."""
    matrix = (generator.random((200, 4)) < 0.5).astype(np.int64)
    data = choices(matrix, matrix[:, 0])
    data.observed[matrix[:, 3] > 0] = -1
    assert not [feature for feature in run(data, single_tests(4)).features if 3 in feature]
    matrix = np.zeros((10, 2), dtype=np.int64)
    with pytest.raises(TrainingError, match="Lower min_count"):
        run(choices(matrix, np.arange(10) % 2), single_tests(2))


@pytest.mark.parametrize(
    "settings",
    [{"rounds": 0}, {"features": 0}, {"templates": -1}, {"round_iterations": 0}, {"longest": 0},
     {"min_count": 0}, {"certainty": 0.0}, {"certainty": 1.1}, {"certainty": float("nan")}],
)  # fmt: skip
def test_settings_out_of_range(settings):
    with pytest.raises(ConfigError, match=r"\[trainer\]"):
        Induction(LBFGS(), **settings)


@pytest.mark.parametrize("is_new", [True, False])
def test_features_are_chosen_where_nothing_has_been_learnt(is_new, generator):
    """Training goes on with those that the source has then."""
    data, tests = exclusive_or(generator)
    told, adopted, begun = [], [], []
    source = SimpleNamespace(
        is_new=is_new, penalty=Gaussian(1.0), adopt=adopted.append,
        tests=lambda: (SimpleNamespace(data=data, loss=Likelihood()), tests),
        tell=lambda number, done: told.append((number, done)), extended=lambda kind: source,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LBFGS, "begin", lambda self, source: begun.append(source) or "fit")
        assert Induction(LBFGS(threads=1), **SETTINGS).begin(source) == "fit"
    assert begun == [source]
    expected = [run(data, tests)] if is_new else []
    assert [one.features for one in adopted] == [one.features for one in expected]
    assert told == [(i, done) for one in expected for i, done in enumerate(one.rounds)]
