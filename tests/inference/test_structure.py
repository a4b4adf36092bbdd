"""What a structure is asked, against enumeration; and structures that do not offer it."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import Chain, chain_loss, span_probabilities, spans_of
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.lattice import choice_lattice, free_lattice
from spacy_cascade.inference.linear_chain import ChainFamily, FreeChoice, LinearChain
from spacy_cascade.inference.schemes import ENDED, SCHEMES, UNOBSERVED, Spans, TagSet
from spacy_cascade.inference.structure import (
    OPERATIONS,
    Columns,
    Part,
    Potentials,
    Structure,
    offered,
    require,
)
from spacy_cascade.systems.higher_order.structure import HigherOrderFamily
from spacy_cascade.systems.local.structure import LocalFamily
from spacy_cascade.systems.semi_markov.structure import SemiMarkovChain
from strategies import LABELS, chains, random_chain, random_path

EXAMPLES = settings(max_examples=25)


def asked(chain: Chain, tag_set: TagSet | None = None) -> tuple[LinearChain, Potentials]:
    starts = np.array([0, len(chain.scores)], dtype=np.int64)
    return LinearChain(chain.lattice, tag_set), Potentials(chain.scores, chain.transitions, starts)


def score_of_paths(chain: Chain) -> dict[tuple[int, ...], float]:
    """All legal labellings, with their scores."""
    return {tuple(chain.labels(path)): chain.score(path) for path in chain.paths()}


@EXAMPLES
@given(chains(), st.integers(1, 100))
def test_best_and_k_best(example: tuple[TagSet, Chain], n: int) -> None:
    _, chain = example
    structure, potentials = asked(chain)
    all_scores = score_of_paths(chain)
    expected = sorted(all_scores.values(), reverse=True)[:n]
    labels, score = structure.best(potentials)
    assert score[0] == pytest.approx(expected[0], abs=1e-9)
    assert all_scores[tuple(labels.tolist())] == pytest.approx(score[0], abs=1e-9)
    paths, scores = structure.k_best(potentials, n)
    found = [tuple(path) for path in paths[: len(expected)].tolist()]
    assert len(set(found)) == len(expected)
    np.testing.assert_allclose([all_scores[path] for path in found], expected, atol=1e-9)
    np.testing.assert_allclose(scores[: len(expected), 0], expected, atol=1e-9)
    assert np.isneginf(scores[len(expected) :]).all()
    assert not paths[len(expected) :].any()


@EXAMPLES
@given(chains())
def test_losses_and_partitions(example: tuple[TagSet, Chain]) -> None:
    _, chain = example
    structure, potentials = asked(chain)
    log_partition = np.logaddexp.reduce(list(score_of_paths(chain).values()))
    np.testing.assert_allclose(structure.log_partitions(potentials), [log_partition], atol=1e-9)
    costs, observed = structure.costs(chain.costs), np.array(chain.tags, dtype=np.int32)
    raised = [chain.score(path) + chain.cost(path) for path in chain.paths()]
    found = structure.log_partitions(potentials, costs, observed)
    np.testing.assert_allclose(found, [np.logaddexp.reduce(raised)], atol=1e-9)
    expected = chain_loss(chain)
    own, losses = potentials.replace(scores=potentials.scores.copy()), np.empty(1)
    gradient = structure.losses(Part(own, observed, 0, 1, losses), costs)
    for value, right in zip((losses[0], own.scores, gradient), expected, strict=True):
        np.testing.assert_allclose(value, right, atol=1e-9)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_shares_are_factors_of_both_terms_of_a_loss(
    label_pairs: bool, generator: np.random.Generator
) -> None:
    """And sums under costs are those over all paths."""
    chain = random_chain(generator, TagSet("IOB2", LABELS).lattice(label_pairs), 4)
    chain = replace(chain, tags=[0, UNOBSERVED, 0, 0])
    structure, potentials = asked(chain)
    costs, observed = structure.costs(chain.costs), np.array(chain.tags, dtype=np.int32)
    raised = np.logaddexp.reduce([chain.score(p) + chain.cost(p) for p in chain.paths()])
    assert structure.log_partitions(potentials, costs, observed) == pytest.approx([raised])
    gradients = []
    for shares in ((1.0, 0.0), (0.0, 1.0), (0.5, 3.0), None):
        own = potentials.replace(scores=potentials.scores.copy())
        factors = None if shares is None else tuple(np.array([share]) for share in shares)
        of_edges = structure.losses(Part(own, observed, 0, 1, np.zeros(1)), costs, factors)
        gradients.append(np.append(own.scores, of_edges))
    first, second, both, whole = gradients
    assert first.any()
    np.testing.assert_allclose(0.5 * first + 3.0 * second, both, atol=1e-12)
    np.testing.assert_allclose(first + second, whole, atol=1e-12)


def test_a_span_that_is_just_likely_enough_is_found() -> None:
    structure = ChainFamily(False).of_spans(TagSet("IO", LABELS[:1]))
    potentials = Potentials(np.zeros((1, 2)), np.zeros(structure.n_transitions), np.array([0, 1]))
    spans, probabilities = structure.likely_spans(potentials, 0.5)
    assert (spans.end.tolist(), probabilities.tolist()) == ([1], [0.5])


def test_columns_of_what_is_no_label() -> None:
    """Their names come after those of labels."""
    seen = np.array([[0], [1]], dtype=np.int32)
    runs = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.int32)
    more = {"more_columns": [("long",)], "more_transitions": [("a", "b"), ("b", "c")]}
    columns = Columns(seen, runs, np.array([1, 1, 0], dtype=np.int32), 1, **more)
    assert (columns.n_columns, columns.n_transitions, columns.free) == (3, 5, slice(1, 5))
    assert columns.names(["x", "y"]) == (
        [("x",), ("y",), ("long",)],
        [("x", "y"), ("y", "y"), ("y", "x"), ("a", "b"), ("b", "c")],
    )


@EXAMPLES
@given(chains(), st.sampled_from([1e-9, 0.01, 0.2, 0.6]))
def test_posteriors_of_all_spans(example: tuple[TagSet, Chain], least: float) -> None:
    tag_set, chain = example
    structure, potentials = asked(chain, tag_set)
    free = replace(chain, costs=np.zeros_like(chain.costs), tags=[UNOBSERVED] * len(chain.scores))
    expected = span_probabilities(free, tag_set)
    for (start, end, label), probability in expected.items():
        number = tag_set.labels.index(label)
        span = Spans(np.array([start]), np.array([end]), np.array([number], dtype=np.int32))
        labels = np.zeros(len(chain.scores), dtype=np.int32)
        tag_set.write(labels, *span)
        found = structure.span_posteriors(potentials, labels, span)
        np.testing.assert_allclose(found, [probability], atol=1e-9)
    spans, probabilities = structure.likely_spans(potentials, least)
    likely = {
        (start, end, tag_set.labels[label]): p
        for start, end, label, p in zip(*map(list, (*spans, probabilities)), strict=True)
    }
    assert len(likely) == len(probabilities)
    assert [column.dtype for column in spans] == [np.int64, np.int64, np.int32]
    assert (np.diff(spans.end) >= 0).all()
    for span in likely.keys() | {span for span, p in expected.items() if p >= least}:
        if span in likely:
            assert likely[span] == pytest.approx(expected[span], rel=1e-9)
        else:  # but for rounding
            assert expected[span] == pytest.approx(least, rel=1e-9)
    assert all(p >= least for p in likely.values())


@pytest.mark.parametrize("label_pairs", [False, True])
def test_clamped_potentials_have_only_labellings_that_agree(
    label_pairs: bool, generator: np.random.Generator
) -> None:
    tag_set = TagSet("BILOU", LABELS)
    chain = random_chain(generator, tag_set.lattice(label_pairs), 4)
    structure, potentials = asked(chain)
    scores = score_of_paths(chain)
    wanted = random_path(generator, chain.lattice, 4)
    observed = np.array([wanted[0], UNOBSERVED, wanted[2], UNOBSERVED], dtype=np.int32)
    structure.clamp(potentials, observed)
    agreeing = {p: s for p, s in scores.items() if (p[0], p[2]) == (wanted[0], wanted[2])}
    labels, score = structure.best(potentials)
    assert tuple(labels.tolist()) in agreeing
    assert score[0] == pytest.approx(max(agreeing.values()), abs=1e-9)
    expected = np.logaddexp.reduce(list(agreeing.values()))
    np.testing.assert_allclose(structure.log_partitions(potentials), [expected], atol=1e-9)


def test_a_temperature_flattens(generator: np.random.Generator) -> None:
    chain = random_chain(generator, TagSet("IOB2", LABELS).lattice(True), 5)
    structure, potentials = asked(chain)
    of_best = [
        best[0] - structure.log_partitions(flat)[0]
        for flat in map(potentials.at_temperature, (0.5, 1.0, 2.0, 50.0))
        for _, best in [structure.best(flat)]
    ]
    assert of_best == sorted(of_best, reverse=True)
    assert potentials.at_temperature(1.0) is potentials
    for found, own in (
        (potentials.at_temperature(2.0).scores, potentials.scores),
        (potentials.at_temperature(2.0).transitions, potentials.transitions),
    ):
        np.testing.assert_array_equal(found, own / 2.0)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_names_of_columns_and_transitions(label_pairs: bool) -> None:
    tag_set = TagSet("IOB2", LABELS[:1])
    structure = ChainFamily(label_pairs).of_spans(tag_set)
    columns, transitions = structure.columns.names(tag_set.tags)
    numbers = range(structure.n_transitions)
    assert numbers[structure.columns.free] == (numbers[:0] if label_pairs else numbers)
    assert len(set(transitions)) == structure.n_transitions
    assert columns == (transitions if label_pairs else [(tag,) for tag in tag_set.tags])
    for number, label in enumerate(tag_set.tags):
        own, before = structure.columns.of_label(number)
        if before is None:
            assert [columns[column] for column in own] == [(label,)]
        else:
            names = [(tag_set.tags[source], label) for source in before]
            assert [columns[column] for column in own] == names


def test_a_free_choice_is_known_by_its_labels_alone() -> None:
    """So that weights stay with their labels when one is added before them."""
    structure = FreeChoice(choice_lattice(2))
    assert structure.columns.seen.dtype == np.int32
    assert structure.columns.names(["b", "c"]) == ([("b",), ("c",)], [("", "b"), ("", "c")])
    assert isinstance(ChainFamily(label_pairs=True).of_classes(2), FreeChoice)


def test_a_choice_of_one_class_is_none() -> None:
    structure = ChainFamily(False).of_classes(1)
    potentials = Potentials(np.array([[2.0], [3.0]]), np.zeros(1), np.arange(3))
    labels, scores = structure.best(potentials)
    assert (labels.tolist(), scores.tolist()) == ([0, 0], [2.0, 3.0])
    np.testing.assert_allclose(structure.log_partitions(potentials), scores)


@pytest.mark.parametrize("label_pairs", [False, True])
@pytest.mark.parametrize("n_labels", [1, 3])
def test_sizes_are_known_without_making_a_structure(label_pairs: bool, n_labels: int) -> None:
    family = ChainFamily(label_pairs)
    assert family.identity() == {"label_pairs": label_pairs}
    of_spans = family.of_spans(TagSet("BILOU", tuple("abc"[:n_labels])))
    pairs = [
        (family.size_of_spans("BILOU", n_labels), of_spans),
        (family.size_of_labels(n_labels), family.of_labels(n_labels)),
        (family.size_of_classes(n_labels), family.of_classes(n_labels)),
    ]
    for size, structure in pairs:
        assert size == (structure.n_transitions, structure.n_columns)


@pytest.mark.parametrize("family", [ChainFamily(False), HigherOrderFamily(), LocalFamily()])
def test_a_structure_reads_its_labels_as_spans(family: ChainFamily) -> None:
    """And writes what is known of them: after a span comes what does not continue it."""
    structure = family.of_spans(TagSet("IOB2", LABELS))
    spans = Spans(np.array([1, 4]), np.array([3, 5]), np.array([1, 0], dtype=np.int32))
    known = np.array([True, True, True, False, True, True, False])
    labels = structure.observed(spans, known)
    assert labels.tolist() == [0, 3, 4, ENDED, 1, 0, UNOBSERVED]
    labels[labels < 0] = 0
    for found, expected in zip(structure.spans(labels, np.array([0, 7])), spans, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_labels_that_are_no_tags_stand_for_no_spans() -> None:
    with pytest.raises(ConfigError, match="FreeChoice does not offer 'spans'"):
        ChainFamily(False).of_classes(3).spans(np.zeros(2, np.int32), np.array([0, 1, 2]))


def test_what_chains_offer() -> None:
    assert offered(LinearChain) == offered(SemiMarkovChain) == OPERATIONS.keys()


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_what_is_not_offered_is_an_error_that_names_it(operation: str) -> None:
    kind = OPERATIONS[operation]
    n_arguments = getattr(kind, operation).__code__.co_argcount - 1
    with pytest.raises(ConfigError, match=rf"does not offer '{operation}'"):
        getattr(kind(), operation)(*(None,) * n_arguments)


def test_needs_are_checked_before_anything_is_computed() -> None:
    class OnlyBest(Structure):
        def best(self, potentials: Potentials) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros(0, np.int32), np.zeros(0)

        clamp = None  # as where a subclass offers less

    assert offered(OnlyBest) == {"best"}
    require(OnlyBest, ["best"], "'cascade_segmenter'")
    with pytest.raises(ConfigError, match=r"'x' needs k_best, which OnlyBest does not offer"):
        require(OnlyBest, ["best", "k_best"], "'x'")


def test_a_long_chain_has_spans_of_any_length() -> None:
    """A span that holds the whole sequence, and nothing else, however long."""
    tag_set = TagSet("BILOU", LABELS[:1])
    structure = ChainFamily(False).of_spans(tag_set)
    scores = np.zeros((300, structure.n_columns))
    scores[0, tag_set.tags.index("B-protein")] = 40.0
    scores[1:-1, tag_set.tags.index("I-protein")] = 40.0
    potentials = Potentials(scores, np.zeros(structure.n_transitions), np.array([0, 300]))
    spans, probabilities = structure.likely_spans(potentials, 0.01)
    assert [column.tolist() for column in spans] == [[0], [300], [0]]
    assert probabilities == pytest.approx([1.0])


def test_likely_spans_of_a_sequence_whose_numbers_are_tiny(generator: np.random.Generator) -> None:
    """The labels that lead on are far less likely than others at first."""
    tag_set = TagSet("BILOU", LABELS)
    chain = random_chain(generator, tag_set.lattice(True), 4)
    lattice, free = chain.lattice, [UNOBSERVED] * 4
    chain = replace(chain, costs=np.zeros_like(chain.costs), tags=free)
    chain.scores[0, lattice.target == 0] += 400.0
    chain.scores[1, lattice.source == 0] -= 400.0
    structure, potentials = asked(chain, tag_set)
    spans, found = structure.likely_spans(potentials, 1e-6)
    expected = {s: p for s, p in span_probabilities(chain, tag_set).items() if p >= 1e-6}
    rows = zip(*map(list, (spans.start, spans.end)), strict=True)
    names = [(*row, tag_set.labels[n]) for row, n in zip(rows, spans.label, strict=True)]
    assert dict(zip(names, found.tolist(), strict=True)) == pytest.approx(expected, rel=1e-9)


@EXAMPLES
@given(chains())
def test_best_with_and_without_any_span(example: tuple[TagSet, Chain]) -> None:
    """Each with what adds up to its score."""
    check_contrasts(*example)


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_a_span_is_lacking_where_one_beside_it_is_a_part_of_it(
    scheme: str, generator: np.random.Generator
) -> None:
    """Which only a scheme without beginnings allows."""
    tag_set = TagSet(scheme, LABELS[:1])
    for _ in range(6):
        chain = random_chain(generator, tag_set.lattice(True), 3, missing=1.0, size=3.0)
        check_contrasts(tag_set, chain)


def check_contrasts(tag_set: TagSet, chain: Chain) -> None:
    structure, potentials = asked(chain, tag_set)
    scores = score_of_paths(chain)
    spans = {path: spans_of([tag_set.tags[label] for label in path]) for path in scores}
    places = combinations(range(len(chain) + 1), 2)
    for (start, end), number in product(places, range(len(tag_set.labels))):
        labels = np.zeros(end - start, dtype=np.int32)
        tag_set.write(labels, *(np.array([value]) for value in (0, end - start, number)))
        found = structure.contrast(potentials, labels, start)
        assert found is not None
        for labelling, is_there in zip(found, (True, False), strict=True):
            own, columns, transitions, wholes = labelling
            span = start, end, tag_set.labels[number]
            assert (span in spans[tuple(own.tolist())]) == is_there
            best = max(score for path, score in scores.items() if (span in spans[path]) == is_there)
            total = chain.scores[np.arange(len(chain)), columns].sum()
            total += chain.transitions[transitions].sum()
            assert total == pytest.approx(best, abs=1e-9)
            np.testing.assert_allclose(structure.path_scores(potentials, own), [best], atol=1e-9)
            assert chain.lattice.target[transitions].tolist() == own.tolist()
            assert own.dtype == columns.dtype == transitions.dtype == np.int32
            assert not wholes


@pytest.mark.parametrize("label_pairs", [False, True])
def test_one_label_of_a_free_chain(label_pairs: bool, generator: np.random.Generator) -> None:
    """None where it cannot be otherwise; label 0 stands before the first position alone."""
    chain = random_chain(generator, free_lattice(3, label_pairs), 4)
    structure, potentials = asked(chain)
    score = score_of_paths(chain)
    for position, label in product(range(4), (1, 2, 3)):
        found = structure.contrast(potentials, np.array([label], dtype=np.int32), position)
        best = max((p for p in score if p[position] == label), key=score.__getitem__)
        other = max((p for p in score if p[position] != label), key=score.__getitem__)
        assert [tuple(each.labels.tolist()) for each in found] == [best, other]
    structure, potentials = asked(random_chain(generator, free_lattice(1, label_pairs), 3))
    for label in (0, 1):
        assert structure.contrast(potentials, np.array([label], dtype=np.int32), 1) is None
