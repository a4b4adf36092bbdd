"""Expected parts from probabilities of spans, against the marginals of the chain they came from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reference import log_partition, sum_columns
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.lattice import Lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Potentials
from spacy_cascade.systems.ensembles.targets import ExpectedParts, expected_parts

STARTS = np.array([0, 6, 7, 11])


def by_tag(lattice: Lattice, by_edge: np.ndarray) -> np.ndarray:
    found = np.zeros((len(by_edge), lattice.n_labels))
    np.add.at(found, (slice(None), lattice.target), by_edge)
    return found


def of_chain(
    generator: np.random.Generator, scheme: str, labels: tuple[str, ...], label_pairs: bool
) -> tuple[TagSet, LinearChain, Potentials, ExpectedParts]:
    tag_set = TagSet(scheme, labels)
    chain = LinearChain(tag_set.lattice(label_pairs), tag_set)
    scores = generator.normal(size=(STARTS[-1], chain.n_columns))
    transitions = generator.normal(size=chain.n_transitions) * (not label_pairs)
    potentials = Potentials(scores, transitions, STARTS)
    spans, probabilities = chain.likely_spans(potentials, 0.0)
    found = expected_parts(chain.lattice, tag_set, spans, probabilities, STARTS)
    return tag_set, chain, potentials, found


def marginals(chain: LinearChain, potentials: Potentials) -> np.ndarray:
    """The probability of each column at each token, by plain forward-backward."""
    lattice = chain.lattice
    edges = potentials.scores[:, lattice.column] + potentials.transitions
    found = [log_partition(lattice, edges[begin:end])[1] for begin, end in pairwise(STARTS)]
    return sum_columns(lattice, np.concatenate(found))


@pytest.mark.parametrize("labels", [("ENT",), ("a", "b", "c")])
@pytest.mark.parametrize("scheme", ["BILOU", "IOB2"])
def test_tags_and_edges_inside_of_spans_are_those_of_the_chain(generator, scheme, labels):
    _, chain, potentials, found = of_chain(generator, scheme, labels, True)
    expected = marginals(chain, potentials)
    lattice = chain.lattice
    np.testing.assert_allclose(by_tag(lattice, found.scores), by_tag(lattice, expected), atol=1e-12)
    inside = lattice.continues
    np.testing.assert_allclose(found.scores[:, inside], expected[:, inside], atol=1e-12)
    of_sequences = np.add.reduceat(found.scores, STARTS[:-1])
    np.testing.assert_allclose(found.transitions, of_sequences, atol=1e-12)
    np.testing.assert_allclose(found.scores.sum(axis=1), 1.0)


@pytest.mark.parametrize("scheme", ["BILOU", "IOB2"])
def test_tags_on_both_sides_of_a_boundary_are_independent(generator, scheme):
    tag_set, chain, _, found = of_chain(generator, scheme, ("a", "b"), True)
    lattice, outside = chain.lattice, ~chain.lattice.continues
    for t in range(1, STARTS[1]):
        joint = np.zeros((len(tag_set.tags),) * 2)
        joint[lattice.source[outside], lattice.target[outside]] = found.scores[t, outside]
        product = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / joint.sum()
        np.testing.assert_allclose(joint, product, atol=1e-12)


def test_columns_of_labels_where_features_see_no_pairs(generator):
    _, chain, potentials, found = of_chain(generator, "BILOU", ("a", "b"), False)
    np.testing.assert_allclose(found.scores, marginals(chain, potentials), atol=1e-12)
    assert found.transitions.shape == (3, chain.n_transitions)
    np.testing.assert_allclose(found.transitions.sum(axis=1), np.diff(STARTS))


def test_touching_spans_have_to_be_told_apart(generator):
    with pytest.raises(ConfigError, match="under the scheme IO"):
        of_chain(generator, "IO", ("a",), True)
