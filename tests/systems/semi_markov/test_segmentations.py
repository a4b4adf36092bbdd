"""The semi-Markov chain against enumeration of all segmentations, and against the linear chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import encoded_of
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.online_prior import OnlinePrior, no_prior
from spacy_cascade.inference.schemes import ENDED, UNOBSERVED, Spans, TagSet
from spacy_cascade.inference.structure import (
    Averaged,
    Labelling,
    OnlineStep,
    Part,
    Potentials,
)
from spacy_cascade.losses.margin import wrong_label_costs
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.numeric.design import SegmentRows
from spacy_cascade.systems.semi_markov.structure import (
    LENGTHS,
    SegmentPotentials,
    SegmentScores,
    SemiMarkovChain,
    length_basis,
)

EXAMPLES = settings(max_examples=25, deadline=None)
Span = tuple[int, int, int]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A sequence with random potentials."""

    structure: SemiMarkovChain
    potentials: SegmentPotentials
    observed: npt.NDArray[np.int32]
    costs: Array

    @property
    def n_tokens(self) -> int:
        return len(self.potentials.scores)

    @property
    def segments(self) -> SegmentScores:
        return self.potentials.segments

    def segmentations(self) -> Iterator[tuple[Span, ...]]:
        """All sets of spans of up to `L` tokens that do not overlap."""

        def extend(t: int) -> Iterator[tuple[Span, ...]]:
            if t == self.n_tokens:
                yield ()
                return
            yield from extend(t + 1)
            for d in range(1, min(self.segments.longest, self.n_tokens - t) + 1):
                for label in range(self.structure.n_spans):
                    for rest in extend(t + d):
                        yield ((t, t + d, label), *rest)

        return extend(0)

    @cached_property
    def scores(self) -> dict[tuple[Span, ...], float]:
        """The score of every segmentation."""
        return {spans: self.score(spans) for spans in self.segmentations()}

    @cached_property
    def by_tags(self) -> dict[tuple[int, ...], float]:
        """The same, by their tags."""
        return {tuple(self.tags(s).tolist()): score for s, score in self.scores.items()}

    def tags(self, spans: Sequence[Span]) -> npt.NDArray[np.int32]:
        tags = np.zeros(self.n_tokens, dtype=np.int32)
        if spans:
            self.structure.tag_set.write(tags, *np.array(spans).T)
        return tags

    def columns(self, tags: npt.NDArray[np.int32]) -> tuple[list[int], list[int]]:
        """Columns and edges of a path, found by their labels."""
        lattice = self.structure.lattice
        pairs = list(zip(lattice.source.tolist(), lattice.target.tolist(), strict=True))
        edges = [
            pairs.index(pair) for pair in zip([0, *tags[:-1].tolist()], tags.tolist(), strict=True)
        ]
        return [int(lattice.column[e]) for e in edges], edges

    def score(self, spans: Sequence[Span]) -> float:
        """The score of a segmentation, without costs."""
        columns, edges = self.columns(self.tags(spans))
        n_edges = self.structure.lattice.n_edges
        total = sum(self.potentials.scores[t, c] for t, c in enumerate(columns))
        total += self.potentials.transitions[edges].sum()
        basis = length_basis(self.segments.longest)
        weights = self.potentials.transitions[n_edges:].reshape(-1, self.structure.n_spans)
        for start, end, label in spans:
            total += basis[end - start - 1] @ weights[:, label]
            for m in range(self.segments.ends[end - 1], self.segments.ends[end]):
                if self.segments.length[m] == end - start:
                    total += self.segments.scores[m, label]
        return float(total)

    def cost(self, spans: Sequence[Span], costs: Array) -> float:
        return sum(
            costs[o, y] for o, y in zip(self.observed, self.tags(spans), strict=True) if o >= 0
        )

    def agrees(self, spans: Sequence[Span]) -> bool:
        tags, continued = self.tags(spans), self.structure.lattice.continued
        return all(
            (o < 0 or o == y) and not (o == ENDED and continued[y])
            for o, y in zip(self.observed.tolist(), tags.tolist(), strict=True)
        )


@st.composite
def cases(draw: st.DrawFn, complete: bool = False, size: float = 1.0) -> Case:
    """A random sequence of up to five tokens; complete: all tags are observed. size: of scores."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_tokens, longest = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    labels = ("A", "B")[: draw(st.integers(1, 2))]
    tag_set = TagSet(draw(st.sampled_from(["IOB2", "BILOU"])), labels)
    structure = SemiMarkovChain(tag_set, draw(st.booleans()))
    lengths = [
        [d for d in range(1, longest + 2) if generator.random() < 0.6] for _ in range(n_tokens)
    ]
    ends = np.cumsum([0, *map(len, lengths)])
    segments = SegmentScores(
        ends,
        np.array([d for of_token in lengths for d in of_token], dtype=np.int32),
        size * generator.normal(size=(ends[-1], len(labels))),
        longest,
    )
    potentials = SegmentPotentials(
        size * generator.normal(size=(n_tokens, structure.n_columns)),
        size * generator.normal(size=structure.n_transitions),
        np.array([0, n_tokens]),
        segments,
    )
    case = Case(
        structure,
        potentials,
        np.zeros(n_tokens, np.int32),
        generator.random((structure.n_labels,) * 2),
    )
    possible = list(case.segmentations())
    observed = case.tags(possible[generator.integers(len(possible))])
    if not complete:
        observed[generator.random(n_tokens) < 0.5] = UNOBSERVED
    return Case(structure, potentials, observed, case.costs)


def log_sum(values: list[float]) -> float:
    return float(np.logaddexp.reduce(values))


@EXAMPLES
@given(cases())
def test_best_and_k_best(case: Case) -> None:
    expected = sorted(case.scores.values(), reverse=True)
    path, score = case.structure.best(case.potentials)
    assert score[0] == pytest.approx(expected[0], abs=1e-9)
    k = len(expected) + 2 if len(expected) < 40 else 10
    paths, scores = case.structure.k_best(case.potentials, k)
    n = min(k, len(expected))
    np.testing.assert_allclose(scores[:n, 0], expected[:n], atol=1e-9)
    assert np.isneginf(scores[n:]).all()
    assert len({tuple(row) for row in paths[:n].tolist()}) == n
    own = [case.by_tags[tuple(row)] for row in paths[:n].tolist()]
    np.testing.assert_allclose(own, scores[:n, 0])
    np.testing.assert_array_equal(paths[0], path)


@EXAMPLES
@given(cases())
def test_sums_over_all_segmentations(case: Case) -> None:
    log_partition = log_sum(list(case.scores.values()))
    np.testing.assert_allclose(
        case.structure.log_partitions(case.potentials), [log_partition], atol=1e-9
    )
    probabilities: dict[Span, float] = {}
    for spans, score in case.scores.items():
        p = np.exp(score - log_partition)
        for span in spans:
            probabilities[span] = probabilities.get(span, 0.0) + p
    found, values = case.structure.likely_spans(case.potentials, 1e-12)
    rows = zip(*(column.tolist() for column in found), strict=True)
    assert dict(zip(rows, values.tolist(), strict=True)) == pytest.approx(probabilities, abs=1e-9)
    least = float(np.median(values)) if len(values) else 1.0
    likely, _ = case.structure.likely_spans(case.potentials, least)
    np.testing.assert_array_equal(np.stack(likely), np.stack(found)[:, values >= least])
    for span, probability in probabilities.items():
        one = Spans(*(np.array([part]) for part in span[:2]), np.array([span[2]], np.int32))
        path = case.tags([span])
        value = case.structure.span_posteriors(case.potentials, path, one)
        assert value[0] == pytest.approx(probability, abs=1e-9)


def copied(potentials: Potentials) -> Potentials:
    """Other arrays of scores, which losses overwrite."""
    scored = [scores.copy() for scores in potentials.scored]
    return potentials.with_scored(scored, potentials.transitions)


def losses(case: Case, potentials: Potentials) -> tuple[float, Potentials]:
    """The margin loss, and its gradient."""
    own = copied(potentials)
    costs = case.structure.costs(case.costs)
    values = np.empty(1)
    gradient = case.structure.losses(Part(own, case.observed, 0, 1, values), costs)
    return float(values[0]), own.replace(transitions=gradient)


@EXAMPLES
@given(st.one_of(cases(), cases(complete=True), cases(size=1000.0)))
def test_losses_and_gradients(case: Case) -> None:
    """And of a segmentation that is known everywhere its score, and the sum with costs.

    Large scores make probabilities zero or one.
    """
    value, gradient = losses(case, case.potentials)
    if (case.observed < 0).all():
        assert value == 0.0
        assert not any(of_scores.any() for of_scores in gradient.scored)
        return
    raised = log_sum([score + case.cost(s, case.costs) for s, score in case.scores.items()])
    observed = log_sum([score for s, score in case.scores.items() if case.agrees(s)])
    if (case.observed >= 0).all():
        structure, costs = case.structure, case.structure.costs(case.costs)
        on_path = structure.path_scores(case.potentials, case.observed)
        everything = structure.log_partitions(case.potentials, costs, case.observed)
        assert (on_path[0], everything[0]) == pytest.approx((observed, raised), abs=1e-9)
    assert value == pytest.approx(raised - observed, abs=1e-9)
    arrays = [(*of.scored, of.transitions) for of in (case.potentials, gradient)]
    generator = np.random.default_rng(0)
    for _ in range(3):
        directions = [generator.normal(size=array.shape) for array in arrays[0]]
        ends = []
        for step in (1e-5, -1e-5):
            pairs = zip(arrays[0], directions, strict=True)
            *scored, transitions = (array + step * direction for array, direction in pairs)
            ends.append(losses(case, case.potentials.with_scored(scored, transitions))[0])
        slope = sum((d * g).sum() for d, g in zip(directions, arrays[1], strict=True))
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope, rel=1e-5, abs=1e-5)


def scored_by(case: Case, labelling: Labelling) -> float:
    """The sum of all that adds up to the score of a labelling."""
    potentials, segments = case.potentials, case.segments
    total = potentials.scores[np.arange(case.n_tokens), labelling.columns].sum()
    total += potentials.transitions[labelling.transitions].sum()
    for start, end, column, of_length in labelling.wholes:
        rows = range(*segments.ends[end - 1 : end + 1])
        label = column - case.structure.lattice.n_columns
        own = [segments.scores[m, label] for m in rows if segments.length[m] == end - start]
        total += of_length + sum(own)
    return float(total)


@EXAMPLES
@given(cases())
def test_clamp_and_contrast(case: Case) -> None:
    potentials = case.potentials.replace(scores=case.potentials.scores.copy())
    case.structure.clamp(potentials, case.observed)
    agreeing = [score for s, score in case.scores.items() if case.agrees(s)]
    found = case.structure.log_partitions(potentials)
    assert found[0] == pytest.approx(log_sum(agreeing), abs=1e-9)
    paths, values = case.structure.k_best(potentials, len(agreeing) + 2)
    ranked = sorted(agreeing, reverse=True)
    np.testing.assert_allclose(values[:, 0], [*ranked, -np.inf, -np.inf], atol=1e-9)
    assert not paths[len(agreeing) :].any()
    for span in sorted({span for spans in case.scores for span in spans}):
        labels = case.tags([span])[span[0] : span[1]]
        paths = case.structure.contrast(case.potentials, labels, span[0])
        having = max(score for spans, score in case.scores.items() if span in spans)
        lacking = max(score for spans, score in case.scores.items() if span not in spans)
        assert paths is not None
        values = [case.by_tags[tuple(path.labels.tolist())] for path in paths]
        assert values == pytest.approx([having, lacking], abs=1e-9)
        for path, value in zip(paths, values, strict=True):
            assert scored_by(case, path) == pytest.approx(value, abs=1e-9)


@EXAMPLES
@given(cases(complete=True))
def test_without_scores_of_segments_it_is_the_linear_chain(case: Case) -> None:
    n_edges, n_columns = case.structure.lattice.n_edges, case.structure.lattice.n_columns
    transitions = np.where(
        np.arange(len(case.potentials.transitions)) < n_edges, case.potentials.transitions, 0.0
    )
    nothing = SegmentScores(
        np.zeros(case.n_tokens + 1, np.int64), np.zeros(0, np.int32),
        np.zeros((0, case.structure.n_spans)), case.n_tokens,
    )  # fmt: skip
    own = case.potentials.replace(transitions=transitions, segments=nothing)
    chain = LinearChain(case.structure.lattice)
    same = Potentials(own.scores[:, :n_columns].copy(), transitions[:n_edges], own.starts)
    np.testing.assert_allclose(
        case.structure.log_partitions(own), chain.log_partitions(same), atol=1e-9
    )
    np.testing.assert_array_equal(case.structure.best(own)[0], chain.best(same)[0])
    costs = chain.costs(wrong_label_costs(chain.n_labels, 1.5, 2.0))
    values = np.empty((2, 1))
    chain.losses(Part(same, case.observed, 0, 1, values[0]), costs)
    case.structure.losses(Part(own, case.observed, 0, 1, values[1]), costs)
    np.testing.assert_allclose(values[0], values[1], atol=1e-9)
    np.testing.assert_allclose(own.scores[:, :n_columns], same.scores, atol=1e-9)


@EXAMPLES
@given(cases(), st.integers(0, 2**32 - 1), st.booleans())
def test_an_online_update_gives_the_margin(case: Case, seed: int, is_cost_augmented: bool) -> None:
    """After an update that nothing limits, the observed labels win by their cost.

    Over the best segmentation with costs, or without them. With a prior, too, which makes other
    weights move.
    """
    generator = np.random.default_rng(seed)
    n_features, n = 6, case.structure.n_spans
    structure = case.structure

    def rows(n_rows: int, first: int) -> BinaryCSR:
        sizes = generator.integers(0, 3, n_rows)
        indptr = np.append(0, np.cumsum(sizes)).astype(np.int64)
        chosen = [generator.choice(3, size, replace=False) + first for size in sizes]
        indices = np.concatenate([np.zeros(0, np.int64), *chosen]).astype(np.int32)
        return BinaryCSR(indptr, indices, n_features)

    of_units = rows(case.n_tokens, 0)
    segments = SegmentRows(
        case.segments.ends, case.segments.length, rows(len(case.segments.length), 3),
        case.segments.longest,
    )  # fmt: skip
    weights = generator.normal(size=(n_features, structure.n_columns))
    transitions = generator.normal(size=structure.n_transitions)
    if structure.lattice.label_pairs:
        transitions[: structure.lattice.n_edges] = 0.0

    def with_weights(weights: Array, transitions: Array) -> Case:
        dense = np.zeros((case.n_tokens, n_features))
        of_segments = np.zeros((len(segments.length), n_features))
        for matrix, sparse in ((dense, of_units), (of_segments, segments.features)):
            for row in range(len(matrix)):
                matrix[row, sparse.indices[sparse.indptr[row] : sparse.indptr[row + 1]]] = 1.0
        scores = case.segments._replace(scores=of_segments @ weights[:, -n:])
        own = SegmentPotentials(dense @ weights, transitions, case.potentials.starts, scores)
        return Case(structure, own, case.observed, case.costs)

    before = with_weights(weights, transitions)
    costs = structure.costs(case.costs)

    def learnt(prior: OnlinePrior) -> tuple[float, Averaged]:
        drifts = np.zeros_like(weights), np.zeros_like(transitions)
        averaged = Averaged(weights.copy(), drifts[0], transitions.copy(), drifts[1])
        order, before = np.zeros(1, np.int64), np.ones(1)
        step = OnlineStep(costs, is_cost_augmented, 1e9, order, before, averaged, prior)
        encoded = encoded_of(of_units, segments)
        learn = structure.learn_online(encoded, case.observed, case.potentials.starts)
        return learn(step), averaged

    mixing = structure.columns.mixing
    inverse = np.linalg.inv(mixing)
    known = generator.gamma(1.0, 3.0, size=(n_features - 1, structure.n_columns))
    known[0], known[1:, 0] = 0.0, 0.0
    of_transitions = 1.0 + generator.gamma(1.0, 3.0, size=structure.n_transitions)
    prior = OnlinePrior(known, of_transitions, mixing, inverse)
    loss, plain = learnt(no_prior(structure.n_columns, structure.n_transitions))
    same_loss, averaged = learnt(prior)
    certain = [np.full(shape, 1e17) for shape in (weights.shape, transitions.shape)]
    _, same = learnt(OnlinePrior(*certain, mixing, inverse))
    assert same_loss == loss
    np.testing.assert_allclose(same.weights, weights, atol=1e-6)
    np.testing.assert_allclose(same.transitions, transitions, atol=1e-6)
    counted = case.costs if is_cost_augmented else np.zeros_like(case.costs)
    wrong = max(before.scores, key=lambda s: before.scores[s] + before.cost(s, counted))
    right = max((s for s in before.scores if before.agrees(s)), key=before.scores.__getitem__)

    def violation(of: Case) -> float:
        return of.score(wrong) + of.cost(wrong, case.costs) - of.score(right)

    assert loss == pytest.approx(max(0.0, violation(before)), abs=1e-9)
    after = with_weights(averaged.weights, averaged.transitions)
    if loss > 1e-9 and wrong != right:
        assert violation(after) == pytest.approx(0.0, abs=1e-6)
        # Features of spans move as far as their lengths and edges do.
        of_spans = np.zeros((n_features, n))
        of_edges, of_lengths = np.zeros(structure.lattice.n_edges), np.zeros((LENGTHS + 2, n))
        basis = length_basis(case.segments.longest)
        for spans, sign in ((right, 1.0), (wrong, -1.0)):
            if not structure.lattice.label_pairs:
                np.add.at(of_edges, case.columns(case.tags(spans))[1], sign)
            for start, end, label in spans:
                of_lengths[:, label] += sign * basis[end - start - 1]
                for m in range(segments.ends[end - 1], segments.ends[end]):
                    if segments.length[m] == end - start:
                        row = slice(*segments.features.indptr[m : m + 2])
                        of_spans[segments.features.indices[row], label] += sign
        moved = plain.weights[3:, -n:] - weights[3:, -n:]
        counts, moves = np.append(of_edges, of_lengths), plain.transitions - transitions
        if counts.any():
            tau = moves @ counts / (counts @ counts)
            assert tau > 0
            np.testing.assert_allclose(moves, tau * counts, atol=1e-9)
            np.testing.assert_allclose(moved, tau * of_spans[3:], atol=1e-9)
        np.testing.assert_allclose(averaged.weights_drift, averaged.weights - weights, atol=1e-9)
        # The gradient of the prior is that of plain updates, but for the length of the step.
        precision = 1.0 + np.append(known, np.zeros((1, structure.n_columns)), axis=0)
        moves = (averaged.transitions - transitions) * of_transitions
        held = np.append(((averaged.weights - weights) @ inverse) * precision, moves)
        free = np.append((plain.weights - weights) @ inverse, plain.transitions - transitions)
        np.testing.assert_allclose(held, free * (held @ free) / (free @ free), atol=1e-8)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_columns_and_transitions_have_names_of_their_own(label_pairs):
    tag_set = TagSet("IOB2", ("A", "B"))
    chain = LinearChain(tag_set.lattice(label_pairs))
    structure = SemiMarkovChain(tag_set, label_pairs)
    columns, transitions = structure.columns.names(tag_set.tags)
    of_columns, of_chain = chain.columns.names(tag_set.tags)
    assert columns == [*of_columns, ("span", "A"), ("span", "B")]
    assert len(set(columns)) == structure.n_columns
    assert transitions[: len(of_chain)] == of_chain
    assert len(set(transitions)) == len(transitions) == structure.n_transitions
    for (before, label), column in zip(transitions, structure.columns.of_transition, strict=True):
        of_pair = (before, label) if label_pairs else (label,)
        assert columns[column] == (("span", label) if before.startswith("length ") else of_pair)
    # In the order of their weights, `[D + 2, labels]`.
    assert transitions[len(of_chain) :][:4] == [
        ("length 1", "A"), ("length 1", "B"), ("length 2", "A"), ("length 2", "B"),
    ]  # fmt: skip
    assert [name for name, label in transitions[-6:] if label == "A"] == [
        "length 16 or more", "length linear", "length squared",
    ]  # fmt: skip


def test_potentials_of_one_sequence_and_at_a_temperature(generator):
    ends, length = np.array([0, 1, 3, 3, 4]), np.array([1, 1, 2, 1], dtype=np.int32)
    segments = SegmentScores(ends, length, generator.normal(size=(4, 2)), 2)
    scores, transitions = generator.normal(size=(4, 3)), generator.normal(size=5)
    potentials = SegmentPotentials(scores, transitions, np.array([0, 1, 3, 4]), segments)
    assert potentials.at_temperature(1.0) is potentials
    for temperature in (0.5, 2.0, 4.0):
        flat = potentials.at_temperature(temperature)
        np.testing.assert_allclose(flat.scores, scores / temperature)
        np.testing.assert_allclose(flat.transitions, transitions / temperature)
        np.testing.assert_allclose(flat.segments.scores, segments.scores / temperature)
        assert (flat.starts is potentials.starts, flat.segments.ends is ends) == (True, True)
    second = potentials.of_sequence(1, 3)
    np.testing.assert_array_equal(second.scores, scores[1:3])
    assert second.starts.tolist() == [0, 2]
    assert second.segments.ends.tolist() == [0, 2, 2]
    assert second.segments.length.tolist() == [1, 2]
    np.testing.assert_array_equal(second.segments.scores, segments.scores[1:3])
