"""Locally normalised chains, against enumeration, differences and scikit-learn."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from reference import Chain, spans_of
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import ENDED, SCHEMES, UNOBSERVED, Spans, TagSet
from spacy_cascade.inference.structure import Part, Potentials, offered
from spacy_cascade.systems.local.structure import LocalChain, LocalFamily
from strategies import LABELS, random_chain

CASES = [*product(SCHEMES, (LABELS[:1],)), ("BILOU", LABELS)]


def random_potentials(
    generator: np.random.Generator, structure: LocalChain, lengths: list[int]
) -> Potentials:
    scores = generator.normal(size=(sum(lengths), structure.n_columns)) * 2.0
    starts = np.cumsum([0, *lengths]).astype(np.int64)
    return Potentials(scores, generator.normal(size=structure.n_transitions), starts)


def decisions(structure: LocalChain, potentials: Potentials) -> np.ndarray:
    """`log P(target | source)` of every edge, in plain Python, `[T, E]`."""
    lattice = structure.lattice
    found = np.full(potentials.scores.shape, -np.inf)
    lasts = set((potentials.starts[1:] - 1).tolist())
    for t, row in enumerate(potentials.scores + potentials.transitions):
        for source in set(lattice.source.tolist()):
            edges = [
                e
                for e in range(lattice.n_edges)
                if lattice.source[e] == source
                and (t not in lasts or lattice.final[lattice.target[e]])
            ]
            if edges:
                found[t, edges] = row[edges] - np.logaddexp.reduce(row[edges])
    return found


def as_chain(structure: LocalChain, local: np.ndarray) -> Chain:
    """One sequence of decisions as a chain that can be enumerated."""
    lattice = structure.lattice
    costs = np.zeros((lattice.n_labels + 2, lattice.n_labels))
    return Chain(lattice, local, np.zeros(lattice.n_edges), costs, [UNOBSERVED] * len(local))


@pytest.mark.parametrize(("scheme", "labels"), CASES)
def test_decisions_and_their_product(scheme, labels, generator):
    tag_set = TagSet(scheme, labels)
    structure = LocalFamily().of_spans(tag_set)
    linear = random_potentials(generator, structure, [4])
    potentials = structure.normalised(linear)
    expected = decisions(structure, linear)
    np.testing.assert_allclose(potentials.scores, expected, atol=1e-12)
    several = random_potentials(generator, structure, [3, 1, 4])
    found = structure.normalised(several).scores
    np.testing.assert_allclose(found, decisions(structure, several), atol=1e-12)
    chain = as_chain(structure, expected)
    score = {tuple(chain.labels(p)): chain.score(p) for p in chain.paths()}
    assert np.logaddexp.reduce(list(score.values())) == pytest.approx(0.0, abs=1e-9)
    assert structure.log_partitions(potentials)[0] == pytest.approx(0.0, abs=1e-9)
    path, best = structure.best(potentials)
    assert score[tuple(path.tolist())] == pytest.approx(max(score.values()), abs=1e-9)
    assert best[0] == pytest.approx(max(score.values()), abs=1e-9)
    paths, ranked = structure.k_best(potentials, 5)
    np.testing.assert_allclose(ranked[:, 0], sorted(score.values(), reverse=True)[:5], atol=1e-9)
    assert [score[tuple(path)] for path in paths.tolist()] == pytest.approx(ranked[:, 0].tolist())
    probability: dict[tuple[int, int, str], float] = {}
    for tags, of_path in score.items():
        for span in spans_of([tag_set.tags[tag] for tag in tags]):
            probability[span] = probability.get(span, 0.0) + np.exp(of_path)
    for (start, end, label), wanted in probability.items():
        number = np.array([labels.index(label)], dtype=np.int32)
        spans = Spans(np.array([start]), np.array([end]), number)
        tags = np.zeros(4, dtype=np.int32)
        tag_set.write(tags, *spans)
        found = structure.span_posteriors(potentials, tags, spans)
        assert found[0] == pytest.approx(wanted, abs=1e-9)


def loss_of(structure, potentials, costs, observed, weights=None):
    n = len(potentials.starts) - 1
    losses = np.empty(n)
    taken = potentials.replace(scores=potentials.scores.copy())
    ones = (np.ones(n), np.ones(n)) if weights is None else weights
    counts = structure.losses(Part(taken, observed, 0, n, losses), costs, ones)
    return losses, taken.scores, counts


@settings(max_examples=25)
@given(st.data())
def test_losses_are_sums_over_decisions(data):
    """With costs, and where labels are not known; the gradient against differences."""
    seed = data.draw(st.integers(0, 999))
    generator = np.random.default_rng(seed)
    structure = LocalFamily().of_spans(TagSet(*data.draw(st.sampled_from(CASES))))
    lengths = [3, 1, 4]
    potentials = random_potentials(generator, structure, lengths)
    chains = [random_chain(generator, structure.lattice, n) for n in lengths]
    gold = [list(next(iter(chain.paths()))) for chain in chains]
    labels = [chain.labels(path) for chain, path in zip(chains, gold, strict=True)]
    observed = np.concatenate([np.array(tags, dtype=np.int32) for tags in labels])
    hidden = generator.random(len(observed))
    observed[hidden < 0.2] = UNOBSERVED
    observed[(hidden > 0.9) & (observed == 0)] = ENDED
    costs = structure.costs(generator.random((structure.n_labels, structure.n_labels)))
    losses, gradient, counts = loss_of(structure, potentials, costs, observed)
    np.testing.assert_allclose(
        losses, expected_losses(structure, potentials, costs, observed), atol=1e-9
    )
    np.testing.assert_allclose(gradient.sum(axis=0), counts, atol=1e-9)
    step = 1e-6
    for _ in range(5):
        t, e = generator.integers(len(observed)), generator.integers(structure.n_columns)
        values = []
        for sign in (1, -1):
            moved = potentials.scores.copy()
            moved[t, e] += sign * step
            found, _, _ = loss_of(structure, potentials.replace(scores=moved), costs, observed)
            values.append(found.sum())
        assert gradient[t, e] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-6)


def expected_losses(structure, potentials, costs, observed) -> list[float]:
    lattice, losses = structure.lattice, []
    for begin, end in zip(potentials.starts[:-1], potentials.starts[1:], strict=True):
        previous, loss = lattice.start, 0.0
        for t in range(begin, end):
            edges = [
                e
                for e in range(lattice.n_edges)
                if lattice.source[e] == previous
                and (t < end - 1 or lattice.final[lattice.target[e]])
            ]
            row, targets = potentials.scores[t, edges], lattice.target[edges]
            row = row + potentials.transitions[edges]
            if edges:
                every = row + costs.margin[observed[t] + 1, targets]
                agreeing = row + costs.clamp[observed[t] + 1, targets]
                loss += np.logaddexp.reduce(every) - np.logaddexp.reduce(agreeing)
            previous = observed[t] if observed[t] >= 0 else -9
        losses.append(loss)
    return losses


def test_what_agrees_with_nothing_has_an_infinite_loss() -> None:
    """Only the sum over all labels has a gradient there: a span goes on that is said to end."""
    structure = LocalFamily().of_spans(TagSet("BILOU", LABELS[:1]))
    potentials = random_potentials(np.random.default_rng(1), structure, [2])
    costs = structure.costs(np.zeros((structure.n_labels, structure.n_labels)))
    begin = structure.lattice.final.tolist().index(False)
    for last in (ENDED, UNOBSERVED):
        observed = np.array([begin, last], dtype=np.int32)
        (loss,), gradient, _ = loss_of(structure, potentials, costs, observed)
        assert np.isposinf(loss) == (last == ENDED)
        assert gradient[1].sum() == pytest.approx(float(last == ENDED))


def test_shares_are_factors_of_both_terms(generator):
    structure = LocalFamily().of_spans(TagSet("IOB2", LABELS))
    potentials = random_potentials(generator, structure, [2])
    costs = structure.costs(np.zeros((5, 5)))
    observed = np.array([1, 2], dtype=np.int32)
    parts = [
        loss_of(structure, potentials, costs, observed, (np.array([a]), np.array([b])))[1]
        for a, b in ((1.0, 0.0), (0.0, 1.0), (2.0, 3.0))
    ]
    np.testing.assert_allclose(2 * parts[0] + 3 * parts[1], parts[2], atol=1e-12)


def test_what_is_not_offered():
    missing = offered(LinearChain) - offered(LocalChain)
    assert missing == {"path_scores", "learn_online", "cut"}


def test_free_labels_are_those_of_scikit_learn(generator):
    """At the optimum; the penalty is on weights of labels, and of labels with the label before."""
    n_labels, n_features, length, sigma = 3, 4, 300, 1.5
    features = (generator.random((length, n_features)) < 0.5).astype(float)
    observed = generator.integers(1, n_labels + 1, length).astype(np.int32)
    before = np.append(0, observed[:-1])
    structure = LocalFamily().of_labels(n_labels)
    weights = trained_weights(structure, features, observed, sigma)
    potentials = Potentials(
        features @ weights, np.zeros(structure.n_transitions), np.array([0, length])
    )
    ours = np.exp(structure.normalised(potentials).scores)
    after = [features * (before == y)[:, None] for y in range(n_labels + 1)]
    expanded = np.hstack([features, *after])
    # Of the solvers, this one goes on to the optimum in old releases, too.
    peer = LogisticRegression(
        C=sigma**2, fit_intercept=False, tol=1e-10, max_iter=5000, solver="newton-cg"
    )
    theirs = peer.fit(expanded, observed).predict_proba(expanded)
    edges = {
        (int(s), int(y)): e
        for e, (s, y) in enumerate(
            zip(structure.lattice.source, structure.lattice.target, strict=True)
        )
    }
    for y in range(1, n_labels + 1):
        found = [ours[t, edges[int(before[t]), y]] for t in range(length)]
        np.testing.assert_allclose(found, theirs[:, y - 1], atol=1e-4)


def trained_weights(structure, features, observed, sigma):
    """Weights of the columns at the optimum, by SciPy over the free parameters."""
    from scipy.optimize import minimize

    starts, mixing = np.array([0, len(features)]), structure.columns.mixing
    costs = structure.costs(np.zeros((structure.n_labels, structure.n_labels)))
    shape = (features.shape[1], structure.n_columns)

    def objective(flat):
        free = flat.reshape(shape)
        potentials = Potentials(features @ free @ mixing, np.zeros(structure.n_transitions), starts)
        losses, of_scores, _ = loss_of(structure, potentials, costs, observed)
        gradient = features.T @ of_scores @ mixing + free / sigma**2
        return losses.sum() + 0.5 * (free**2).sum() / sigma**2, gradient.reshape(-1)

    found = minimize(objective, np.zeros(shape).reshape(-1), jac=True, method="L-BFGS-B",
                     options={"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-8})  # fmt: skip
    return found.x.reshape(shape) @ mixing
