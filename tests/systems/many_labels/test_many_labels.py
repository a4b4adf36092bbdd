"""A linear chain with many labels is that with any number, by other kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacy_cascade.inference import chain_kernels
from spacy_cascade.inference.chain_kernels import MANY_LABELS
from spacy_cascade.inference.linear_chain import ChainFamily, LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Part, Potentials
from spacy_cascade.parallel import LARGEST_PIECE
from strategies import random_chain

TAGS = TagSet("BILOU", tuple(f"L{i}" for i in range(20)))
STARTS = np.cumsum([0, 7, 0, 1, 12, 30, 3], dtype=np.int64)


def answers(structure: LinearChain, generator: np.random.Generator) -> dict[str, Any]:
    """What a structure says of some sequences with random scores."""
    chains = [
        random_chain(generator, structure.lattice, n, missing) for n, missing in
        zip(np.diff(STARTS).tolist(), (0.0, 0.0, 0.0, 0.5, 0.2, 1.0), strict=True)
    ]  # fmt: skip
    scores = np.concatenate([chain.scores for chain in chains])
    potentials = Potentials(scores, chains[0].transitions, STARTS)
    observed = np.concatenate([np.array(chain.tags, dtype=np.int32) for chain in chains])
    costs, losses = structure.costs(chains[0].costs), np.full(len(chains), np.nan)
    path, best = structure.best(potentials)
    found: dict[str, Any] = {
        "path": path,
        "best": best[np.diff(STARTS) > 0],
        "partitions": structure.log_partitions(potentials),
        "with costs": structure.log_partitions(potentials, costs, observed),
        "posteriors": structure.span_posteriors(potentials, path, TAGS.spans(path, STARTS)),
    }
    spans, probabilities = structure.likely_spans(potentials, 0.02)
    order = np.lexsort((spans.label, spans.end, spans.start))
    found["likely"] = np.stack([*spans, probabilities], axis=1)[order]
    assert len(order) > 5
    weights = np.linspace(0.5, 1.0, len(chains)), np.linspace(1.0, 0.3, len(chains))
    found["transitions"] = structure.losses(
        Part(potentials, observed, 1, 5, losses), costs, weights
    )
    return found | {"losses": losses, "gradient": potentials.scores}


def test_all_answers_are_those_of_the_other_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    many = LinearChain(TAGS.lattice(False), TAGS)
    assert many.n_columns >= MANY_LABELS
    found = answers(many, np.random.default_rng(1))
    monkeypatch.setattr(chain_kernels, "MANY_LABELS", 1000)
    other = LinearChain(TAGS.lattice(False), TAGS)
    assert other.transitions_at_once == 1 < many.transitions_at_once
    expected = answers(other, np.random.default_rng(1))
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-9, err_msg=name)


def test_gradient_is_that_of_finite_differences(generator: np.random.Generator) -> None:
    structure = LinearChain(TAGS.lattice(False))
    chain = random_chain(generator, structure.lattice, 6, 0.3)
    observed, starts = np.array(chain.tags, dtype=np.int32), np.array([0, 4, 6])
    costs = structure.costs(chain.costs)

    def loss(scores: Any, transitions: Any) -> tuple[float, Any, Any]:
        potentials, losses = Potentials(scores.copy(), transitions, starts), np.zeros(2)
        gradient = structure.losses(Part(potentials, observed, 0, 2, losses), costs)
        return losses.sum(), potentials.scores, gradient

    _, of_scores, of_transitions = loss(chain.scores, chain.transitions)
    for _ in range(5):
        directions = [generator.normal(size=x.shape) for x in (chain.scores, chain.transitions)]
        ends = [
            loss(chain.scores + h * directions[0], chain.transitions + h * directions[1])[0]
            for h in (1e-5, -1e-5)
        ]
        slope = (of_scores * directions[0]).sum() + (of_transitions * directions[1]).sum()
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("n_types", [50, 200, 600])
def test_pieces_have_many_units(n_types: int) -> None:
    structure = ChainFamily(False).of_spans(TagSet("IOB2", tuple(map(str, range(n_types)))))
    steps = structure.n_transitions // structure.transitions_at_once
    assert LARGEST_PIECE // steps >= 2000
    assert structure.transitions_at_once >= 128


@pytest.mark.parametrize("label_pairs", [False, True])
def test_few_labels_and_label_pairs_keep_their_kernels(label_pairs: bool) -> None:
    few = ChainFamily(label_pairs).of_spans(TagSet("BILOU", ("A", "B")))
    assert few.transitions_at_once == 1
    assert LinearChain(TAGS.lattice(True)).transitions_at_once == 1
    assert ChainFamily(False).of_classes(200).transitions_at_once == 1
