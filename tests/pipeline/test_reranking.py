"""The choice among candidates, and the gradient of the expected errors."""

from __future__ import annotations

import numpy as np

from spacy_cascade.pipeline.reranking import Judged, Learner, choose, judge


def expected_errors(theta: np.ndarray, sentence: Judged) -> float:
    total = np.exp(sentence.base + sentence.features @ theta)
    return float(total @ sentence.errors / total.sum())


def random_sentence(generator: np.random.Generator, n: int = 4, n_features: int = 3) -> Judged:
    return Judged(
        generator.normal(size=(n, n_features)),
        generator.normal(size=n),
        generator.integers(0, 4, n).astype(float),
    )


def test_the_first_of_the_highest_is_chosen() -> None:
    base = np.array([[0.0, 1.0, -1.0], [0.0, 2.0, -np.inf]])
    assert choose(base, None, np.zeros(1)).tolist() == [0, 1, 0]
    features = np.zeros((2, 3, 1))
    features[1, 0] = 1.0
    assert choose(base, features, np.array([0.5])).tolist() == [1, 1, 0]


def test_only_sentences_with_a_better_and_a_worse_candidate_teach() -> None:
    base = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -np.inf]])
    errors = np.array([[1.0, 2.0, 1.0], [-1.0, 2.0, 0.0]])
    (sentence,) = judge(base, np.ones((2, 3, 2)), errors)
    assert sentence.errors.tolist() == [2.0, 0.0]


def test_a_step_goes_against_the_gradient(generator: np.random.Generator) -> None:
    sentence = random_sentence(generator)
    theta = generator.normal(size=3)
    learner = Learner(theta, rate=1e-6)
    loss = learner.pass_over([sentence], [0])
    assert np.isclose(loss, expected_errors(theta, sentence))
    gradient = np.array(
        [
            (expected_errors(theta + d, sentence) - expected_errors(theta - d, sentence)) / 2e-5
            for d in 1e-5 * np.eye(3)
        ]
    )
    scale = sentence.features.std(axis=0)
    scaled = gradient / scale
    expected = -1e-6 * scaled / np.sqrt(1.0 + scaled**2) / scale
    np.testing.assert_allclose(learner.theta - theta, expected, rtol=1e-4)


def test_units_of_features_do_not_matter(generator: np.random.Generator) -> None:
    sentences = [random_sentence(generator) for _ in range(5)]
    units = np.array([1e-3, 1.0, 1e4])
    other = [Judged(s.features * units, s.base, s.errors) for s in sentences]
    learners = [Learner(np.zeros(3), 0.1) for _ in range(2)]
    for learner, data in zip(learners, (sentences, other), strict=True):
        for _ in range(3):
            learner.pass_over(data, range(5))
    np.testing.assert_allclose(learners[1].theta * units, learners[0].theta, rtol=1e-9)


def test_a_feature_that_never_differs_keeps_its_weight(generator: np.random.Generator) -> None:
    sentence = random_sentence(generator)
    sentence.features[:, 1] = 5.0
    learner = Learner(np.array([0.0, 0.25, 0.0]), 0.1)
    learner.pass_over([sentence], [0])
    assert np.isclose(learner.theta[1], 0.25)
    assert (learner.theta[[0, 2]] != 0.0).all()
