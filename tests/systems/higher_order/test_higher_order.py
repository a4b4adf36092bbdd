"""Chains of a higher order against enumeration, and against the linear chain."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import spans_of
from spacy_cascade import ConfigError
from spacy_cascade.inference.lattice import Lattice
from spacy_cascade.inference.linear_chain import ChainFamily
from spacy_cascade.inference.schemes import ENDED, SCHEMES, UNOBSERVED, Spans, TagSet
from spacy_cascade.inference.structure import Part, Potentials
from spacy_cascade.losses.margin import wrong_label_costs
from spacy_cascade.systems.higher_order.structure import HigherOrderChain, HigherOrderFamily
from strategies import LABELS

EXAMPLES = settings(max_examples=20, deadline=None)
Array = npt.NDArray[np.float64]
Tags = tuple[int, ...]


def legal(lattice: Lattice, length: int) -> Iterator[Tags]:
    """All tag sequences of a lattice of tags."""
    edges = set(zip(lattice.source.tolist(), lattice.target.tolist(), strict=True))
    for tags in product(range(lattice.n_labels), repeat=length):
        pairs = zip((lattice.start, *tags), tags, strict=False)
        if all(pair in edges for pair in pairs) and lattice.final[tags[-1]]:
            yield tags


@dataclass(frozen=True)
class Case:
    """One sequence with random potentials, under tags that are known by their names."""

    tag_set: TagSet
    family: HigherOrderFamily
    potentials: Potentials

    @cached_property
    def structure(self) -> HigherOrderChain:
        return self.family.of_spans(self.tag_set)

    @cached_property
    def names(self) -> tuple[list[Hashable], list[tuple[str, str]]]:
        """Of columns and transitions."""
        return self.structure.columns.names(self.tag_set.tags)

    @property
    def lattice(self) -> Lattice:
        return self.tag_set.lattice(False)

    def parts(self, tags: Tags) -> tuple[list[int], list[int]]:
        """Columns and transitions of a tag sequence, found by their names."""
        names, (columns, edges) = self.tag_set.tags, self.names
        order, seen = self.family.order, self.family.tags_seen
        padded = ["O"] * order + [names[tag] for tag in tags]
        found = []
        for t in range(order, len(padded)):
            before = " ".join(padded[t - order : t])
            run = tuple(padded[t + 1 - seen : t + 1])
            found.append((columns.index(run), edges.index((before, padded[t]))))
        return [column for column, _ in found], [edge for _, edge in found]

    def scores(self) -> dict[Tags, float]:
        """The score of every sequence."""
        found = {}
        for tags in legal(self.lattice, len(self.potentials.scores)):
            columns, edges = self.parts(tags)
            own = self.potentials.scores[np.arange(len(tags)), columns].sum()
            is_free = self.family.tags_seen <= self.family.order
            found[tags] = float(own + (self.potentials.transitions[edges].sum() if is_free else 0))
        return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    generator = np.random.default_rng(draw(st.integers(0, 9999)))
    order = draw(st.integers(1, 3))
    family = HigherOrderFamily(order=order, tags_seen=draw(st.integers(1, order + 1)))
    tag_set = TagSet(*draw(st.sampled_from([*product(SCHEMES, (LABELS[:1],)), ("IOB2", LABELS)])))
    return random_case(generator, tag_set, family, draw(st.integers(1, 4)))


def random_case(
    generator: np.random.Generator, tag_set: TagSet, family: HigherOrderFamily, length: int
) -> Case:
    structure = family.of_spans(tag_set)
    scores = generator.normal(size=(length, structure.n_columns)) * 2.0
    transitions = generator.normal(size=structure.n_transitions)
    if family.tags_seen > family.order:  # those of the columns are all there are
        transitions[:] = 0.0
    return Case(tag_set, family, Potentials(scores, transitions, np.array([0, length])))


def log_sum(scores: list[float]) -> float:
    return float(np.logaddexp.reduce(scores))


@EXAMPLES
@given(cases())
def test_best_sequences_and_sums(case: Case) -> None:
    scores, structure, potentials = case.scores(), case.structure, case.potentials
    total = log_sum(list(scores.values()))
    np.testing.assert_allclose(structure.log_partitions(potentials), [total], atol=1e-9)
    tags, best = structure.best(potentials)
    assert tags.dtype == np.int32
    ranked = sorted(scores.values(), reverse=True)
    assert scores[tuple(tags.tolist())] == pytest.approx(ranked[0], abs=1e-9)
    assert best[0] == pytest.approx(ranked[0], abs=1e-9)
    paths, of_paths = structure.k_best(potentials, 4)
    np.testing.assert_allclose(of_paths[: len(ranked), 0], ranked[:4], atol=1e-9)
    distinct = [tuple(path) for path in paths.tolist()][: len(ranked)]
    assert len(set(distinct)) == len(distinct)
    np.testing.assert_allclose([scores[path] for path in distinct], ranked[:4], atol=1e-9)


@EXAMPLES
@given(cases())
def test_posteriors_of_all_spans(case: Case) -> None:
    scores, structure, tag_set = case.scores(), case.structure, case.tag_set
    total = log_sum(list(scores.values()))
    expected: dict[tuple[int, int, str], float] = {}
    for path, score in scores.items():
        for span in spans_of([tag_set.tags[tag] for tag in path]):
            expected[span] = expected.get(span, 0.0) + np.exp(score - total)
    if not expected:
        return
    for (start, end, label), probability in expected.items():
        number = np.array([tag_set.labels.index(label)], dtype=np.int32)
        span = Spans(np.array([start]), np.array([end]), number)
        tags = np.zeros(len(case.potentials.scores), dtype=np.int32)
        tag_set.write(tags, *span)
        found = structure.span_posteriors(case.potentials, tags, span)
        np.testing.assert_allclose(found, [probability], atol=1e-9)
    spans, probabilities = structure.likely_spans(case.potentials, 0.01)
    likely = {
        (start, end, tag_set.labels[label]): p
        for start, end, label, p in zip(*map(list, (*spans, probabilities)), strict=True)
    }
    assert {span for span, p in expected.items() if p >= 0.01 + 1e-9} <= likely.keys()
    assert all(p == pytest.approx(expected[span], abs=1e-9) for span, p in likely.items())


def agreeing(case: Case, observed: npt.NDArray[np.int32]) -> list[Tags]:
    lattice = case.lattice
    pairs = zip(lattice.source.tolist(), lattice.target.tolist(), strict=True)
    continues = dict(zip(pairs, lattice.continues.tolist(), strict=True))
    return [
        tags
        for tags in legal(lattice, len(observed))
        if all(
            seen in (UNOBSERVED, tag) or (seen == ENDED and not continues[before, tag])
            for seen, before, tag in zip(observed.tolist(), (0, *tags), tags, strict=False)
        )
    ]


def loss_of(
    case: Case, costs: Array, observed: npt.NDArray[np.int32]
) -> tuple[float, Array, Array]:
    """The loss of the middle one of three copies of the sequence, and its gradients."""
    one, length = case.potentials, len(observed)
    three = Potentials(np.tile(one.scores, (3, 1)), one.transitions, np.arange(4) * length)
    losses = np.zeros(3)
    counts = case.structure.losses(
        Part(three, np.tile(observed, 3), 1, 2, losses), case.structure.costs(costs)
    )
    others = three.scores.reshape(3, length, -1)[[0, 2]]
    np.testing.assert_array_equal(others, np.stack([one.scores, one.scores]))
    assert losses[[0, 2]].tolist() == [0.0, 0.0]
    return losses[1], three.scores[length : 2 * length], counts


@EXAMPLES
@given(cases(), st.data())
def test_losses_and_their_gradients(case: Case, data: st.DataObject) -> None:
    """With costs, and where tags are not known; the gradient against differences."""
    generator = np.random.default_rng(data.draw(st.integers(0, 999)))
    scores, n = case.scores(), case.structure.n_labels
    gold = data.draw(st.sampled_from(sorted(scores)))
    observed = np.array(gold, dtype=np.int32)
    observed[1:][generator.random(len(gold) - 1) < data.draw(st.sampled_from([0, 0.5]))] = -1
    costs = wrong_label_costs(n, 1.5, 1.0)

    def expected(case: Case) -> float:
        scores = case.scores()
        of_tags = [
            sum(costs[seen, tag] for seen, tag in zip(observed, tags, strict=True) if seen >= 0)
            for tags in scores
        ]
        everything = [score + cost for score, cost in zip(scores.values(), of_tags, strict=True)]
        return log_sum(everything) - log_sum([scores[tags] for tags in agreeing(case, observed)])

    loss, of_scores, of_transitions = loss_of(case, costs, observed)
    assert loss == pytest.approx(expected(case), abs=1e-9)
    step = 1e-5
    for values, gradient in (
        (case.potentials.scores, of_scores),
        (case.potentials.transitions, of_transitions),
    ):
        if gradient is of_transitions and case.family.tags_seen > case.family.order:
            continue  # they have no weights
        place = tuple(generator.integers(size) for size in values.shape)
        kept, around = values[place], []
        for sign in (1, -1):
            values[place] = kept + sign * step
            around.append(expected(case))
        values[place] = kept
        assert gradient[place] == pytest.approx((around[0] - around[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("tags_seen", [1, 2])
def test_each_sequence_is_asked_as_if_it_were_alone(
    tags_seen: int, generator: np.random.Generator
) -> None:
    family = HigherOrderFamily(order=2, tags_seen=tags_seen)
    case = random_case(generator, TagSet("IOB2", LABELS), family, 9)
    structure, starts = case.structure, np.array([0, 3, 5, 9])
    potentials = case.potentials.replace(starts=starts)
    observed, _ = structure.best(potentials)
    observed[1] = UNOBSERVED
    costs = structure.costs(1.0 - np.eye(structure.n_labels))
    first, second = generator.random((2, 3))
    losses, own = np.zeros(3), potentials.replace(scores=potentials.scores.copy())
    counts = structure.losses(Part(own, observed, 1, 3, losses), costs, (first, second))
    expected = np.zeros_like(counts)
    np.testing.assert_array_equal(own.scores[:3], potentials.scores[:3])
    for i in (1, 2):
        begin, end = starts[i : i + 2]
        alone, loss = potentials.of_sequence(begin, end), np.zeros(1)
        alone = alone.replace(scores=alone.scores.copy())
        part = Part(alone, observed[begin:end], 0, 1, loss)
        expected += structure.losses(part, costs, (first[i : i + 1], second[i : i + 1]))
        assert loss[0] == pytest.approx(losses[i], abs=1e-9)
        np.testing.assert_allclose(own.scores[begin:end], alone.scores, atol=1e-9)
    np.testing.assert_allclose(counts, expected, atol=1e-9)
    for terms in ((np.ones(3), np.zeros(3)), (np.zeros(3), np.ones(3))):
        own = potentials.replace(scores=potentials.scores.copy())
        structure.losses(Part(own, observed, 1, 3, losses), costs, terms)
        np.testing.assert_allclose(own.scores[3:].sum(axis=1), terms[0][0] - terms[1][0])
    spans = Spans(np.array([1, 5]), np.array([3, 6]), np.array([0, 1], dtype=np.int32))
    tags = np.zeros(9, dtype=np.int32)
    case.tag_set.write(tags, *spans)
    found = structure.span_posteriors(potentials, tags, spans)
    for number, (begin, end) in enumerate(((0, 3), (5, 9))):
        one = Spans(*(column[number : number + 1] for column in spans))
        moved = one._replace(start=one.start - begin, end=one.end - begin)
        alone = potentials.of_sequence(begin, end)
        assert structure.span_posteriors(alone, tags[begin:end], moved) == pytest.approx(
            found[number : number + 1]
        )


@EXAMPLES
@given(cases(), st.data())
def test_partitions_under_observations_and_paths(case: Case, data: st.DataObject) -> None:
    """What is clamped, what a sequence and its parts score, and pieces that score the same."""
    structure, potentials, scores = case.structure, case.potentials, case.scores()
    gold = data.draw(st.sampled_from(sorted(scores)))
    tags = np.array(gold, dtype=np.int32)
    np.testing.assert_allclose(structure.path_scores(potentials, tags), [scores[gold]], atol=1e-9)
    observed = tags.copy()
    observed[data.draw(st.integers(0, len(tags) - 1))] = UNOBSERVED
    if tags[-1] == 0 and case.tag_set.scheme != "IO":
        observed[-1] = ENDED
    costs = structure.costs(np.zeros((structure.n_labels, structure.n_labels)))
    clamped = structure.log_partitions(potentials, costs._replace(margin=costs.clamp), observed)
    expected = log_sum([scores[each] for each in agreeing(case, observed)])
    np.testing.assert_allclose(clamped, [expected], atol=1e-9)
    structure.clamp(potentials, observed)
    np.testing.assert_allclose(structure.log_partitions(potentials), [expected], atol=1e-9)


@pytest.mark.parametrize("tags_seen", [1, 2, 3])
def test_pieces_of_a_sequence_score_as_the_whole(
    tags_seen: int, generator: np.random.Generator
) -> None:
    """It is cut only after as many tags outside as a tag depends on."""
    family = HigherOrderFamily(order=2, tags_seen=tags_seen)
    case = random_case(generator, TagSet("IOB2", LABELS[:1]), family, 9)
    tags = np.array([1, 2, 0, 1, 0, 0, 0, 1, 0], dtype=np.int32)
    starts = case.structure.cut(tags, case.potentials.starts, 2)
    assert starts.tolist() == [0, 6, 9]
    whole = case.structure.path_scores(case.potentials, tags)
    pieces = case.structure.path_scores(case.potentials.replace(starts=starts), tags)
    np.testing.assert_allclose(pieces.sum(), whole[0])
    tags[5] = UNOBSERVED  # what stands before is not known to be outside
    assert case.structure.cut(tags, case.potentials.starts, 2).tolist() == [0, 9]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("order", [2, 3])
def test_costs_of_tags_after_one_that_is_not_known(
    scheme: str, order: int, generator: np.random.Generator
) -> None:
    """Each tag has costs of its own, whatever stands before."""
    family = HigherOrderFamily(order=order, tags_seen=1)
    case = random_case(generator, TagSet(scheme, LABELS[:2]), family, 4)
    n, scores = case.structure.n_labels, case.scores()
    costs = generator.normal(size=(n, n))
    for gold in sorted(scores)[:: max(1, len(scores) // 20)]:
        observed = np.array(gold, dtype=np.int32)
        observed[1] = UNOBSERVED
        found = case.structure.log_partitions(
            case.potentials, case.structure.costs(costs), observed
        )
        expected = [
            score + sum(costs[gold[t], tags[t]] for t in (0, 2, 3))
            for tags, score in scores.items()
        ]
        np.testing.assert_allclose(found, [log_sum(expected)], atol=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_best_with_and_without_a_span(order: int, generator: np.random.Generator) -> None:
    tag_set = TagSet("BILOU", LABELS[:1])
    family = HigherOrderFamily(order=order, tags_seen=1)
    for _ in range(5):
        case = random_case(generator, tag_set, family, 5)
        scores = case.scores()
        span = (1, 3, LABELS[0])
        has = {path: span in spans_of([tag_set.tags[tag] for tag in path]) for path in scores}
        labels = np.array([tag_set.tags.index(f"{p}-{LABELS[0]}") for p in "BL"], dtype=np.int32)
        found = case.structure.contrast(case.potentials, labels, 1)
        assert found is not None
        for path, wanted in ((found.having, True), (found.lacking, False)):
            best = max((path for path in scores if has[path] == wanted), key=scores.__getitem__)
            assert tuple(path.labels.tolist()) == best
            assert (path.columns.tolist(), path.transitions.tolist()) == case.parts(best)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("label_pairs", [False, True])
def test_the_first_order_is_the_linear_chain(
    scheme: str, label_pairs: bool, generator: np.random.Generator
) -> None:
    tag_set = TagSet(scheme, LABELS)
    linear = ChainFamily(label_pairs).of_spans(tag_set)
    family = HigherOrderFamily(order=1, tags_seen=1 + label_pairs)
    chain = family.of_spans(tag_set)
    case = random_case(generator, tag_set, family, 6)
    assert (chain.n_columns, chain.n_transitions) == (linear.n_columns, linear.n_transitions)
    own, other = (each.log_partitions(case.potentials) for each in (chain, linear))
    np.testing.assert_allclose(own, other, atol=1e-12)
    np.testing.assert_allclose(chain.columns.mixing, linear.columns.mixing)
    assert chain.columns.free == linear.columns.free


@pytest.mark.parametrize(("order", "tags_seen"), [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2)])
def test_sizes_and_columns_of_a_label(order: int, tags_seen: int) -> None:
    """Of a label are all whose run ends with it; the one before is told where a run has two."""
    family = HigherOrderFamily(order=order, tags_seen=tags_seen)
    for scheme in SCHEMES:
        structure = family.of_spans(TagSet(scheme, LABELS))
        size = structure.n_transitions, structure.n_columns
        assert family.size_of_spans(scheme, len(LABELS)) == size
    free = family.of_labels(3)
    assert family.size_of_labels(3) == (free.n_transitions, free.n_columns)
    tag_set = TagSet("BILOU", LABELS)
    structure, tags = family.of_spans(tag_set), tag_set.tags
    names, _ = structure.columns.names(tags)
    seen, runs, of_transition = (
        getattr(structure.columns, name) for name in ("seen", "runs", "of_transition")
    )
    np.testing.assert_array_equal(seen[of_transition], runs[:, -tags_seen:])
    assert seen.dtype == runs.dtype == of_transition.dtype == np.int32
    for label, tag in enumerate(tags):
        columns, before = structure.columns.of_label(label)
        assert columns.tolist() == [i for i, name in enumerate(names) if name[-1] == tag]
        assert (before is not None) == (tags_seen == 2)
        if before is not None:
            assert [tags[each] for each in before] == [names[column][0] for column in columns]


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"order": 0}, "1 or more, not 0"), ({"order": 2, "tags_seen": 4}, "1 to 3 tags, not 4")],
)
def test_settings_out_of_range(settings: dict[str, int], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        HigherOrderFamily(**settings)
