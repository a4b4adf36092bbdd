"""Kinds of mistakes by definition, scores against spaCy's scorer, sums against totals."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.scorer import get_ner_prf
from spacy.training import Example

from helpers import blank, gold_doc
from spacy_cascade.tools.reports.mistakes import (
    Entity,
    Kind,
    compare,
    count_confusion,
    count_kinds,
    count_scores,
)
from strategies import entities

RIGHT, TYPE, BOUNDS, BOTH = Kind.RIGHT, Kind.WRONG_TYPE, Kind.WRONG_BOUNDS, Kind.WRONG_BOTH
MISSED, SPURIOUS = Kind.MISSED, Kind.SPURIOUS

CASES = [
    ([], [], [], []),
    ([(0, 2, "a")], [(0, 2, "a")], [RIGHT], [RIGHT]),
    ([(0, 2, "a")], [(0, 2, "b")], [TYPE], [TYPE]),
    ([(0, 2, "a")], [(0, 1, "a")], [BOUNDS], [BOUNDS]),
    ([(0, 2, "a")], [(1, 3, "b")], [BOTH], [BOTH]),
    ([(0, 2, "a")], [(2, 3, "a")], [MISSED], [SPURIOUS]),
    ([(0, 2, "a")], [], [MISSED], []),
    ([], [(0, 2, "a")], [], [SPURIOUS]),
    # One that is split: both parts overlap it, one of them with its type.
    ([(0, 4, "a")], [(0, 2, "b"), (2, 4, "a")], [BOUNDS], [BOTH, BOUNDS]),
    # Two that are joined.
    ([(0, 2, "a"), (2, 4, "b")], [(0, 4, "b")], [BOTH, BOUNDS], [BOUNDS]),
    # What is found twice is right once, and its double overlaps nothing that is left.
    ([(0, 2, "a")], [(0, 2, "b"), (0, 2, "a")], [RIGHT], [SPURIOUS, RIGHT]),
    ([(0, 2, "a")], [(0, 2, "a"), (1, 2, "a")], [RIGHT], [RIGHT, SPURIOUS]),
]


@pytest.mark.parametrize(("gold", "predicted", "gold_kinds", "predicted_kinds"), CASES)
def test_kinds_by_hand(
    gold: list[Entity],
    predicted: list[Entity],
    gold_kinds: list[Kind],
    predicted_kinds: list[Kind],
) -> None:
    found = compare(gold, predicted)
    assert found.gold_kinds == gold_kinds
    assert found.predicted_kinds == predicted_kinds
    assert found.has_mistakes == ({*gold_kinds, *predicted_kinds} - {RIGHT} != set())


def slow_kind(entity: Entity, others: list[Entity], alone: Kind) -> Kind:
    """Kind of an entity among those of the other side, none of which overlap each other."""
    start, end, label = entity
    overlapping = [other for other in others if other[0] < end and start < other[1]]
    if not overlapping:
        return alone
    has_bounds = any(other[:2] == (start, end) for other in overlapping)
    has_type = any(other[2] == label for other in overlapping)
    if has_bounds:
        return RIGHT if has_type else TYPE
    return BOUNDS if has_type else BOTH


@given(entities(), entities())
def test_every_entity_has_the_kind_of_its_definition(
    gold: list[Entity], predicted: list[Entity]
) -> None:
    found = compare(gold, predicted)
    assert found.gold_kinds == [slow_kind(e, predicted, MISSED) for e in gold]
    assert found.predicted_kinds == [slow_kind(e, gold, SPURIOUS) for e in predicted]
    same = [(g, p) for g, a in enumerate(gold) for p, b in enumerate(predicted) if a[:2] == b[:2]]
    assert sorted(found.pairs) == same


@given(entities(), st.lists(st.tuples(st.integers(0, 4), st.integers(5, 8), st.just("cell"))))
def test_entities_that_overlap_have_one_kind_too(
    gold: list[Entity], predicted: list[Entity]
) -> None:
    found = compare(gold, predicted)
    assert len(found.gold_kinds) == len(gold)
    assert len(found.predicted_kinds) == len(predicted)
    for kind in (RIGHT, TYPE):
        assert found.gold_kinds.count(kind) == found.predicted_kinds.count(kind)
    assert MISSED not in found.predicted_kinds
    assert SPURIOUS not in found.gold_kinds


Sides = tuple[list[Entity], list[Entity]]

VOCAB = blank().vocab
CORPUS = [
    # a right, b as c, d missed
    ([(0, 1, "a"), (1, 3, "b"), (5, 6, "d")], [(0, 1, "a"), (1, 3, "c")]),
    # a too short, another a right, c spurious
    ([(0, 3, "a"), (4, 5, "a")], [(0, 2, "a"), (4, 5, "a"), (7, 8, "c")]),
]

corpora = st.lists(st.tuples(entities(), entities()), max_size=4)


def comparisons_of(corpus: list[Sides]):
    return [compare(*sides) for sides in corpus]


def test_confusion_by_hand() -> None:
    confusion = count_confusion(comparisons_of(CORPUS))
    assert confusion.types == ["a", "b", "c", "d"]
    assert dict(confusion.counts) == {
        ("a", "a"): 2,
        ("b", "c"): 1,
        ("d", None): 1,
        ("a", None): 1,
        (None, "a"): 1,
        (None, "c"): 1,
    }
    assert confusion.share("a", "a") == pytest.approx(2 / 3)
    assert confusion.share(None, "c") == 0.5
    assert confusion.share("c", "a") == 0.0
    assert confusion.mixed == [(("b", "c"), 1)]
    other = [(0, 1, "c"), (1, 2, "c"), (2, 3, "a")], [(0, 1, "a"), (1, 2, "a"), (2, 3, "a")]
    mixed = count_confusion(comparisons_of([*CORPUS, other])).mixed
    assert mixed == [(("c", "a"), 2), (("b", "c"), 1)], "the most frequent first"


def test_nothing_is_divided_by_zero() -> None:
    for corpus in ([], [([], [])]):
        scores = count_scores(comparisons_of(corpus))
        assert (scores.all.precision, scores.all.recall, scores.all.f1) == (0.0, 0.0, 0.0)
        assert scores.types_right == 0.0
        assert scores.by_type == {}
        assert all(count.corrected_f1 == 0.0 for count in count_kinds(comparisons_of(corpus)))
        assert count_confusion(comparisons_of(corpus)).types == []


@given(corpora)
def test_scores_are_those_of_spacy(corpus: list[Sides]) -> None:
    text = "a b c d e f g h"
    expected = get_ner_prf(
        Example(gold_doc(VOCAB, text, predicted), gold_doc(VOCAB, text, gold))
        for gold, predicted in corpus
    )
    scores = count_scores(comparisons_of(corpus))
    assert scores.all.precision == pytest.approx(expected["ents_p"] or 0.0)
    assert scores.all.recall == pytest.approx(expected["ents_r"] or 0.0)
    assert scores.all.f1 == pytest.approx(expected["ents_f"] or 0.0)
    by_type = {
        label: {"p": score.precision, "r": score.recall, "f": score.f1}
        for label, score in scores.by_type.items()
    }
    assert by_type.keys() == (expected["ents_per_type"] or {}).keys()
    for label, found in by_type.items():
        assert found == pytest.approx(expected["ents_per_type"][label])


@given(corpora)
def test_counts_add_up(corpus: list[Sides]) -> None:
    comparisons = comparisons_of(corpus)
    scores, confusion = count_scores(comparisons), count_confusion(comparisons)
    kinds = {count.kind: count for count in count_kinds(comparisons)}
    assert sum(count.n_gold for count in kinds.values()) == scores.all.n_gold
    assert sum(count.n_predicted for count in kinds.values()) == scores.all.n_predicted
    for label, score in scores.by_type.items():
        cells = confusion.counts.items()
        assert sum(n for (gold, _), n in cells if gold == label) == score.n_gold
        assert sum(n for (_, predicted), n in cells if predicted == label) == score.n_predicted
        assert confusion.counts.get((label, label), 0) == score.n_right
        shares = [confusion.share(label, other) for other in (*confusion.types, None)]
        assert sum(shares) == pytest.approx(1.0 if score.n_gold else 0.0)
    paired = kinds[Kind.RIGHT].n_gold + kinds[Kind.WRONG_TYPE].n_gold
    assert paired == scores.untyped.n_right


@given(corpora)
def test_mending_is_the_score_of_mended_predictions(corpus: list[Sides]) -> None:
    """Of all kinds but the first: take the predicted entities of it out, and the gold ones in."""
    comparisons = comparisons_of(corpus)
    before = count_scores(comparisons).all.f1
    for count in count_kinds(comparisons):
        mended = [
            (
                list(found.gold),
                [
                    *(e for e, k in zip(found.predicted, found.predicted_kinds, strict=True)
                      if k is not count.kind),
                    *(e for e, k in zip(found.gold, found.gold_kinds, strict=True)
                      if k is count.kind),
                ],
            )
            for found in comparisons
        ]  # fmt: skip
        score = count_scores(comparisons_of(mended)).all
        expected = Fraction(2 * score.n_right, max(1, score.n_gold + score.n_predicted))
        assert count.corrected_f1 == pytest.approx(float(expected))
        assert count.corrected_f1 >= before
    wrong_type = next(c for c in count_kinds(comparisons) if c.kind is Kind.WRONG_TYPE)
    assert wrong_type.corrected_f1 == pytest.approx(count_scores(comparisons).untyped.f1)
