"""What a structure says of several sequences is what it says of each alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference import encoded_of, rows_from_dense
from spacy_cascade.inference.linear_chain import ChainFamily
from spacy_cascade.inference.online_prior import no_prior
from spacy_cascade.inference.schemes import UNOBSERVED, Spans, TagSet
from spacy_cascade.inference.structure import (
    Averaged,
    OnlineStep,
    Part,
    Potentials,
    Structure,
    offered,
)
from spacy_cascade.numeric.design import SegmentRows
from spacy_cascade.systems.higher_order.structure import HigherOrderFamily
from spacy_cascade.systems.local.structure import LocalFamily
from spacy_cascade.systems.semi_markov.structure import (
    SegmentPotentials,
    SegmentScores,
    SemiMarkovFamily,
)
from strategies import LABELS

LENGTHS, LONGEST, N_FEATURES = (3, 1, 5, 2), 4, 5
STARTS = np.cumsum([0, *LENGTHS]).astype(np.int64)
BOUNDS = [*zip(STARTS[:-1].tolist(), STARTS[1:].tolist(), strict=True)]
TAGS = {scheme: TagSet(scheme, LABELS) for scheme in ("IOB2", "BILOU", "IO")}
FAMILIES = {
    "pairs": ChainFamily(True),
    "labels": ChainFamily(False),
    "second order": HigherOrderFamily(order=2, tags_seen=2),
    "local": LocalFamily(),
    "segments with pairs": SemiMarkovFamily(True),
    "segments": SemiMarkovFamily(False),
}
SLOW = "segments with pairs"
"""Its kernels take longest to compile."""
CASES = [
    pytest.param(
        (name, scheme),
        id=f"{name} {scheme}",
        marks=[pytest.mark.slow(kind="several sequences")] if name == SLOW else [],
    )
    for name in FAMILIES
    for scheme in (("IOB2", "BILOU") if "segments" in name else TAGS)
]


class Case:
    """A structure with random potentials, and labels of which some are not known."""

    def __init__(self, name: str, scheme: str, generator: np.random.Generator) -> None:
        self.tag_set, self.generator = TAGS[scheme], generator
        self.structure: Structure = FAMILIES[name].of_spans(self.tag_set)
        scores = generator.normal(size=(STARTS[-1], self.structure.n_columns))
        transitions = generator.normal(size=self.structure.n_transitions)
        transitions[: self.structure.columns.n_bound] = 0.0
        linear = Potentials(scores, transitions, STARTS)
        if "segments" in name:
            linear = SegmentPotentials(scores, transitions, STARTS, self._segments())
        self.potentials = self.structure.normalised(linear)
        best, _ = self.structure.best(self._random(linear))
        self.known = best
        self.partly = np.where(generator.random(len(best)) < 0.4, UNOBSERVED, best)
        self.partly = self.partly.astype(np.int32)

    def _segments(self) -> SegmentScores:
        lengths = [
            [d for d in range(1, LONGEST + 1) if self.generator.random() < 0.7]
            for _ in range(STARTS[-1])
        ]
        ends = np.cumsum([0, *map(len, lengths)]).astype(np.int64)
        length = np.concatenate(lengths).astype(np.int32)
        return SegmentScores(
            ends, length, self.generator.normal(size=(ends[-1], len(LABELS))), LONGEST
        )

    def _random(self, linear: Potentials) -> Potentials:
        """Others, whose best labels are those that are observed."""
        scores = self.generator.normal(size=linear.scores.shape) * 3.0
        return self.structure.normalised(linear.replace(scores=scores))

    def alone(self) -> list[Potentials]:
        return [self.potentials.of_sequence(begin, end) for begin, end in BOUNDS]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, generator: np.random.Generator) -> Case:
    return Case(*request.param, generator)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_best_labels_and_sums(case: Case) -> None:
    labels, scores = case.structure.best(case.potentials)
    paths, of_paths = case.structure.k_best(case.potentials, 3)
    sums = case.structure.log_partitions(case.potentials)
    assert labels.dtype == paths.dtype == np.int32
    for i, ((begin, end), own) in enumerate(zip(BOUNDS, case.alone(), strict=True)):
        expected, score = case.structure.best(own)
        np.testing.assert_array_equal(labels[begin:end], expected)
        close(scores[i], score[0])
        expected_paths, expected_scores = case.structure.k_best(own, 3)
        np.testing.assert_array_equal(paths[:, begin:end], expected_paths)
        close(of_paths[:, i], expected_scores[:, 0])
        close(sums[i], case.structure.log_partitions(own)[0])


def rows_of(spans: Spans) -> list[tuple[int, int, int]]:
    return [*zip(*(column.tolist() for column in spans), strict=True)]


def test_spans(case: Case) -> None:
    """Each likely span, too, with those of the other sequences."""
    structure, tag_set = case.structure, case.tag_set
    spans, found = structure.likely_spans(case.potentials, 0.01)
    by_sequence, expected = [], {}
    for (begin, _), own in zip(BOUNDS, case.alone(), strict=True):
        its, values = structure.likely_spans(own, 0.01)
        rows = [(start + begin, end + begin, label) for start, end, label in rows_of(its)]
        by_sequence.append(rows)
        expected.update(zip(rows, values.tolist(), strict=True))
    assert dict(zip(rows_of(spans), found.tolist(), strict=True)) == pytest.approx(expected)
    for k in range(max(map(len, by_sequence))):
        chosen = [rows[k] for rows in by_sequence if k < len(rows)]
        start, end, label = np.array(chosen, dtype=np.int64).T.copy()
        together = Spans(start, end, label.astype(np.int32))
        labels = np.zeros(STARTS[-1], dtype=np.int32)
        tag_set.write(labels, *together)
        values = structure.span_posteriors(case.potentials, labels, together)
        close(values, [expected[span] for span in chosen])


def losses_of(
    structure: Structure, potentials: Potentials, costs: Any, observed: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Losses, and gradients of all scores and of transitions; the potentials stay."""
    scored = [scores.copy() for scores in potentials.scored]
    own = potentials.with_scored(scored, potentials.transitions)
    n = len(own.starts) - 1
    values, weights = np.full(n, np.nan), (np.full(n, 0.7), np.full(n, 1.3))
    gradient = structure.losses(Part(own, observed, 0, n, values), costs, weights)
    _, *others = own.scored
    return values, own.scores, *others, gradient


@pytest.mark.parametrize("what", ["partly", "known", "nothing"])
def test_losses(case: Case, what: str) -> None:
    """Of sequences of which nothing is known there are none."""
    structure = case.structure
    if "losses" not in offered(type(structure)) or structure.is_local:
        return
    nothing = np.full(STARTS[-1], UNOBSERVED, dtype=np.int32)
    observed = nothing if what == "nothing" else getattr(case, what)
    n_labels = structure.n_labels
    costs = structure.costs(1.0 - np.eye(n_labels))
    found = losses_of(structure, case.potentials, costs, observed)
    each = [
        (own, observed[begin:end].copy())
        for (begin, end), own in zip(BOUNDS, case.alone(), strict=True)
    ]
    alone = [losses_of(structure, own, costs, its) for own, its in each]
    *parts, gradients = zip(*alone, strict=True)
    for whole, of_sequences in zip(found, parts, strict=False):
        close(whole, np.concatenate(of_sequences))
    close(found[-1], sum(gradients))
    if what == "nothing":
        assert not any(array.any() for array in found)
    close(
        structure.log_partitions(case.potentials, costs, observed),
        [structure.log_partitions(own, costs, its)[0] for own, its in each],
    )
    if what == "known":
        close(
            structure.path_scores(case.potentials, observed),
            [structure.path_scores(own, its)[0] for own, its in each],
        )


def test_updates(case: Case) -> None:
    """One sequence after the other, in the order that is given."""
    structure, generator = case.structure, case.generator
    if "learn_online" not in offered(type(structure)):
        return
    features = rows_from_dense((generator.random((STARTS[-1], N_FEATURES)) < 0.5).astype(np.int64))
    segments = None
    if isinstance(case.potentials, SegmentPotentials):
        ends, length, _, longest = case.potentials.segments
        dense = (generator.random((len(length), N_FEATURES)) < 0.5).astype(np.int64)
        segments = SegmentRows(ends, length, rows_from_dense(dense), longest)
    encoded = encoded_of(features, segments)
    costs = structure.costs(1.0 - np.eye(structure.n_labels))
    shape, order = (N_FEATURES, structure.n_columns), np.array([2, 0, 3, 1])
    prior = no_prior(structure.n_columns, structure.n_transitions)

    def learnt(parts: list[np.ndarray]) -> tuple[float, Averaged]:
        start = np.random.default_rng(4).normal(size=shape)
        averaged = Averaged(
            start, np.zeros(shape), np.zeros(structure.n_transitions),
            np.zeros(structure.n_transitions),
        )  # fmt: skip
        loss, n_before = 0.0, 0
        for part in parts:
            before = np.arange(n_before, n_before + len(part), dtype=np.float64)
            step = OnlineStep(costs, True, 0.1, part, before, averaged, prior)
            loss += structure.learn_online(encoded, case.partly, STARTS)(step)
            n_before += len(part)
        return loss, averaged

    together, apart = learnt([order]), learnt([order[i : i + 1] for i in range(4)])
    assert together[0] == pytest.approx(apart[0]) != 0.0
    for found, expected in zip(together[1], apart[1], strict=True):
        close(found, expected)
