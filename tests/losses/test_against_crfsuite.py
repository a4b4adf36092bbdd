"""The likelihood of a plain CRF has the optimum that CRFsuite finds.

The two models are made equal:

- every label may follow every label, and features see labels only;
- CRFsuite is told to give a weight to every (feature, label) and to every transition,
  seen or not, and penalises `c2·‖w‖²`, so `σ² = 1/(2·c2)`;
- CRFsuite knows no transition from the start of a sequence, this package has one for each
  label. A label `START` that nothing leads to stands before the sequences here, and the
  first item of every sequence has a feature of its own there: the same weights under the
  same prior.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from objectives import data_of, objective_of, start
from reference import Corpus, chain_lattice, dense_design
from spacy_cascade.inference.chain_losses import chain_losses
from spacy_cascade.inference.lattice import Chains, Lattice, LossTerms
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.margin import Likelihood
from spacy_cascade.numeric.design import Design
from strategies import random_design

LABELS = ["a", "b", "c"]
C2 = 0.4
FIRST = "first"


def free_lattice() -> Lattice:
    return chain_lattice(
        [*LABELS, "START"],
        follows=lambda _, current: current != "START",
        continues=lambda *_: False,
        ends=lambda _: True,
        start="START",
        label_pairs=False,
    )


@pytest.fixture
def corpus(generator) -> tuple[Design, Corpus]:
    """Thirty sequences whose labels depend on features and on the label before."""
    lengths = generator.integers(1, 8, 30)
    n_tokens = int(lengths.sum())
    design = random_design(generator, n_tokens, 7)
    matrix = dense_design(design)
    tags = (matrix @ generator.normal(size=(7, 3))).argmax(axis=1)
    repeat = np.flatnonzero(generator.random(n_tokens - 1) < 0.3)
    tags[repeat + 1] = tags[repeat]
    lattice = free_lattice()
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    costs = Likelihood().label_costs(lattice.n_labels)
    sigma = (2 * C2) ** -0.5
    return design, Corpus(matrix, lattice, costs, sigma, tags.astype(np.int32), starts)


def items(corpus: Corpus) -> list[pycrfsuite.ItemSequence]:
    """The sequences as CRFsuite wants them: a value for each feature."""
    sequences = []
    for begin, end in zip(corpus.starts[:-1], corpus.starts[1:], strict=True):
        rows = [
            {f"f{k}": float(value) for k, value in enumerate(row) if value}
            for row in corpus.matrix[begin:end]
        ]
        rows[0][FIRST] = 1.0
        sequences.append(pycrfsuite.ItemSequence(rows))
    return sequences


def train_crfsuite(corpus: Corpus, path: Path) -> pycrfsuite.Tagger:
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    every = {"feature.possible_states": True, "feature.possible_transitions": True}
    far = {"max_iterations": 2000, "epsilon": 1e-9, "delta": 1e-14}
    trainer.set_params({"c1": 0.0, "c2": C2, **every, **far})
    for begin, end, sequence in zip(
        corpus.starts[:-1], corpus.starts[1:], items(corpus), strict=True
    ):
        trainer.append(sequence, [LABELS[tag] for tag in corpus.tags[begin:end]])
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def weights_of(tagger: pycrfsuite.Tagger, corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """CRFsuite's weights where ours would stand."""
    info, lattice = tagger.info(), corpus.lattice
    weights = np.zeros((corpus.matrix.shape[1], lattice.n_columns))
    for (feature, label), weight in info.state_features.items():
        if feature != FIRST:
            weights[int(feature[1:]), LABELS.index(label)] = weight
    transitions = np.array(
        [
            info.state_features[FIRST, LABELS[target]]
            if source == lattice.start
            else info.transitions[LABELS[source], LABELS[target]]
            for source, target in zip(lattice.source, lattice.target, strict=True)
        ]
    )
    return weights, transitions


def test_same_optimum_and_marginals_as_crfsuite(corpus, tmp_path):
    """At CRFsuite's own weights, the score gradient gives CRFsuite's marginals."""
    design, texts = corpus
    problem = objective_of(data_of(design, texts), Likelihood(), texts.sigma)
    n_parameters = 7 * len(LABELS) + texts.lattice.n_edges
    assert problem.n_parameters == n_parameters
    run = start(problem, np.zeros(n_parameters), tolerance=1e-10)
    run.run(1000)
    own = problem.weights(run.parameters)
    tagger = train_crfsuite(texts, tmp_path / "crfsuite.model")
    weights, transitions = weights_of(tagger, texts)
    np.testing.assert_allclose(own.features, weights, atol=1e-4)
    np.testing.assert_allclose(own.transitions, transitions, atol=1e-4)
    # Their loss under our function: they stand at the same minimum.
    value, _ = problem.value_and_gradient(problem.parameters(Weights(weights, transitions)))
    assert run.value <= value
    assert value == pytest.approx(run.value, rel=1e-8)
    scores = texts.matrix @ weights
    costs, n = LinearChain(texts.lattice).costs(texts.costs), len(texts.starts) - 1
    chains = Chains(texts.lattice, scores, transitions, costs.margin, texts.tags, texts.starts)
    no_counts = np.zeros(texts.lattice.n_edges)
    terms = LossTerms(costs.clamp, (np.ones(n), np.ones(n)), 0, n, np.empty(n))
    chain_losses(chains, terms, no_counts)
    marginals = scores + np.eye(len(LABELS))[texts.tags]
    for begin, end, sequence in zip(texts.starts[:-1], texts.starts[1:], items(texts), strict=True):
        tagger.set(sequence)
        theirs = [[tagger.marginal(y, t) for y in LABELS] for t in range(end - begin)]
        np.testing.assert_allclose(marginals[begin:end], theirs, atol=1e-5)
