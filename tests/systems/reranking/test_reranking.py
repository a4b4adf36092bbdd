"""Choice among hypotheses and minimum-risk training, against enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from reference import encoded_of, rows_from_dense
from spacy_cascade.inference.structure import Weights
from spacy_cascade.systems.reranking.minimum_risk import (
    Learnt,
    Lists,
    MinimumRiskFit,
    RiskData,
    choose,
    minimum_risk,
    span_posteriors,
)

N_CLASSES = 3


@dataclass
class Sentence:
    """Segmentations as lists of span numbers, with scores; one sentence on its own."""

    segmentations: list[list[int]]
    sequence_scores: np.ndarray
    class_scores: np.ndarray
    errors: np.ndarray


def random_sentence(generator: np.random.Generator, n_spans: int, n: int) -> Sentence:
    errors = generator.choice([-1.0, 0.0, 1.0], (n_spans, N_CLASSES))
    return Sentence(
        [np.flatnonzero(generator.random(n_spans) < 0.6).tolist() for _ in range(n)],
        generator.normal(size=n),
        generator.normal(size=(n_spans, N_CLASSES)),
        errors,
    )


def random_sentences(generator: np.random.Generator) -> list[Sentence]:
    return [random_sentence(generator, *size) for size in ((3, 4), (0, 1), (2, 0), (4, 3), (1, 2))]


def as_lists(sentences: list[Sentence]) -> tuple[Lists, np.ndarray]:
    offsets = np.cumsum([0, *(len(s.errors) for s in sentences)])
    members = [
        [span + offset for span in spans]
        for s, offset in zip(sentences, offsets, strict=False)
        for spans in s.segmentations
    ]
    lists = Lists(
        span_starts=offsets,
        starts=np.cumsum([0, *(len(s.segmentations) for s in sentences)]),
        member_starts=np.cumsum([0, *map(len, members)]),
        members=np.array([m for spans in members for m in spans], dtype=np.int32),
        sequence_scores=np.concatenate([s.sequence_scores for s in sentences]),
        class_scores=np.concatenate([s.class_scores for s in sentences]),
    )
    return lists, np.concatenate([s.errors for s in sentences])


def hypotheses(s: Sentence) -> list[tuple[int, dict[int, int], float, float]]:
    """All of a sentence: number of the segmentation, class by span, total score, errors."""
    found = []
    for k, spans in enumerate(s.segmentations):
        for classes in product(range(N_CLASSES), repeat=len(spans)):
            pairs = list(zip(spans, classes, strict=True))
            total = s.sequence_scores[k] + sum(s.class_scores[pair] for pair in pairs)
            found.append((k, dict(pairs), total, sum(s.errors[pair] for pair in pairs)))
    return found


def expected_errors(s: Sentence) -> float:
    every = hypotheses(s)
    if not every:
        return 0.0
    p = np.exp([total for _, _, total, _ in every])
    return float(p @ [errors for *_, errors in every] / p.sum())


def risk_and_gradient(sentences: list[Sentence]) -> tuple[float, np.ndarray]:
    """From one step for each sentence, of weights of spans themselves, in the gradient's length."""
    lists, errors = as_lists(sentences)
    even = 1e20  # beside which no gradient counts
    shape = errors.shape
    learnt = Learnt(np.zeros(shape), np.zeros(shape), np.full(shape, even))
    order = np.arange(len(sentences))
    numbers = np.arange(len(errors) + 1)  # span `u` has the feature `u`
    rows = numbers, numbers[:-1].astype(np.int32)
    risk = minimum_risk(*rows, lists, errors, order, even**0.5, 0, learnt)
    return risk, -learnt.weights


def test_the_highest_total_is_chosen(generator: np.random.Generator) -> None:
    """Of equals the first."""
    nothing = np.zeros((2, N_CLASSES))
    flat = Sentence([[0], [1], []], np.zeros(3), nothing, nothing)
    sentences = [*random_sentences(generator), flat]
    lists, errors = as_lists(sentences)
    chosen = np.empty(len(sentences), dtype=np.int32)
    classes = np.empty(len(errors), dtype=np.int32)
    choose(lists, chosen, classes)
    for i, s in enumerate(sentences):
        if not s.segmentations:
            assert chosen[i] == -1
            continue
        k, by_span, _, _ = max(hypotheses(s), key=lambda h: h[2])
        assert chosen[i] == k
        assert [classes[lists.span_starts[i] + u] for u in by_span] == list(by_span.values())


def test_posteriors_are_sums_over_hypotheses(generator: np.random.Generator) -> None:
    sentences = random_sentences(generator)
    lists, errors = as_lists(sentences)
    classes = generator.integers(0, N_CLASSES, len(errors)).astype(np.int32)
    posteriors = np.full(len(errors), np.nan)
    span_posteriors(lists, classes, posteriors)
    for i, s in enumerate(sentences):
        every = hypotheses(s)
        total = sum(np.exp(score) for _, _, score, _ in every)
        for u in range(len(s.errors) if every else 0):
            wanted = classes[lists.span_starts[i] + u]
            mass = sum(np.exp(h[2]) for h in every if h[1].get(u) == wanted)
            assert posteriors[lists.span_starts[i] + u] == pytest.approx(mass / total, abs=1e-12)


def test_the_risk_is_the_expected_number_of_errors(generator: np.random.Generator) -> None:
    """And its gradient is that by differences; huge scores do not overflow."""
    sentences = random_sentences(generator)
    expected = sum(expected_errors(s) for s in sentences if len(s.errors))
    assert risk_and_gradient(sentences)[0] == pytest.approx(expected, abs=1e-12)
    for s in sentences:
        s.sequence_scores, s.class_scores = s.sequence_scores * 1e3, s.class_scores * 1e3
    risk, gradient = risk_and_gradient(sentences)
    assert np.isfinite([risk, *gradient.reshape(-1)]).all()
    for s in random_sentences(generator):
        gradient = risk_and_gradient([s])[1]
        numeric = np.zeros_like(gradient)
        for place in np.ndindex(*gradient.shape):
            for sign in (1.0, -1.0):
                s.class_scores[place] += sign * 1e-5
                numeric[place] += sign * expected_errors(s) / 2e-5
                s.class_scores[place] -= sign * 1e-5
        np.testing.assert_allclose(gradient, numeric, atol=2e-6)


def some_data(generator: np.random.Generator) -> tuple[list[Sentence], np.ndarray, RiskData]:
    """Sentences, whose spans have random features `[U, 6]`, and what they teach."""
    sentences = random_sentences(generator)
    lists, errors = as_lists(sentences)
    dense = (generator.random((len(errors), 6)) < 0.4).astype(np.int64)
    (design,) = encoded_of(rows_from_dense(dense))
    return sentences, dense, RiskData(design, lists, errors)


def test_steps_are_those_of_adagrad_and_averaged(generator: np.random.Generator) -> None:
    """Sentence by sentence, in the order of the seed; a step makes the model's weights stale."""
    sentences, dense, data = some_data(generator)
    rate, lists = 0.2, data.lists
    start = Weights(generator.normal(size=(6, N_CLASSES)).astype(np.float32), np.arange(3.0))
    fit, orders = MinimumRiskFit(start, rate, seed=1), np.random.default_rng(1)
    np.testing.assert_array_equal(fit.weights().features, start.features)
    assert (fit.weights_are_stale, fit.hessian_is_stale) == (False, False)
    weights, squares = start.features.astype(np.float64), np.full((6, N_CLASSES), 0.3)
    history = []
    for _ in range(2):
        found, risks = fit.step(data), 0.0
        for i in orders.permutation(len(sentences)):
            s, rows = sentences[i], slice(lists.span_starts[i], lists.span_starts[i + 1])
            if s.segmentations and len(s.errors):
                base = s.class_scores
                s.class_scores = base + dense[rows] @ weights
                risk, slopes = risk_and_gradient([s])
                risks += risk
                s.class_scores = base
                for u, slope in enumerate(slopes):
                    for f in np.flatnonzero(dense[rows][u]):
                        squares[f] += slope**2
                        weights[f] -= rate * slope / np.sqrt(squares[f])
            history.append(weights.copy())
        assert found == pytest.approx(risks)
        now = fit.weights()
        np.testing.assert_allclose(now.features, np.mean(history, axis=0), atol=1e-5)
        np.testing.assert_array_equal(now.transitions, start.transitions)
    assert (fit.weights_are_stale, fit.hessian_is_stale) == (True, True)


def test_seeds_are_orders(generator: np.random.Generator) -> None:
    """Without a rate nothing is learnt, and any order has the risk of the start."""
    *_, data = some_data(generator)
    start = Weights(generator.normal(size=(6, N_CLASSES)), np.zeros(3))
    first, again, other = (MinimumRiskFit(start, 0.5, seed) for seed in (1, 1, 2))
    risks = [fit.step(data) for fit in (first, again, other)]
    assert risks[0] == risks[1] != risks[2]
    np.testing.assert_array_equal(first.weights().features, again.weights().features)
    still = [MinimumRiskFit(start, 0.0, seed).step(data) for seed in (1, 2)]
    assert still[0] == pytest.approx(still[1])
