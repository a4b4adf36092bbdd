"""Scores of pairs of neighbouring words: the same whether a pair was met before or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from helpers import blank
from reference import dense_rows
from spacy_cascade.features import pair_scores
from spacy_cascade.features.pair_scores import (
    KnownPairs,
    add_pair_scores,
    add_unit_scores,
    forget_pairs,
    no_pairs,
)
from spacy_cascade.features.plan import make_plan
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import FIRST, LAST, Templates
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.features.units import Units

VOCAB = blank().vocab
PAIRS = (
    "word@-1 & word@0", "lower@-1 & suffix(1)@0", "word@-1 & lower@-1 & word@0",
    "word@0 & word@1", "word@last & word@last+1", "lower@1 & lower@2",
)  # fmt: skip
OTHERS = ("word@0", "word@-1 & word@1", "word@0 & size", "word@first-1 & word@last")
WORDS = ["a", "b", "A", "ab", "ba", "AB"]


def pairs_of(*lines: str) -> tuple[list[tuple[int, int]], list[int], int]:
    """Places of the groups, how many templates each has, and how many stand in none."""
    plan = make_plan(Templates(lines, {}, {}))
    places = zip(plan.pairs.anchor.tolist(), plan.pairs.offset.tolist(), strict=True)
    return list(places), np.diff(plan.pairs.begin).tolist(), len(plan.unpaired.salt)


def test_templates_of_the_same_two_words_are_a_group() -> None:
    places, sizes, n_others = pairs_of(*PAIRS, *OTHERS)
    assert dict(zip(places, sizes, strict=True)) == {
        (FIRST, -1): 3, (FIRST, 0): 1, (LAST, 0): 1, (FIRST, 1): 1
    }  # fmt: skip
    assert n_others == 3  # 'word@0' is of the lexeme
    # Parents of other templates are looked up with them.
    assert pairs_of("word@-1 & word@0", "word@-1 & word@0 & size") == ([], [], 2)
    assert pairs_of("word@-1 & tag@0", "word@all & word@0 & word@1")[2] == 2


def units_of(space: FeatureSpace, texts: list[list[str]]) -> Units:
    """Spans of one and of two tokens, or of one with the boundary after it."""
    docs = [Doc(VOCAB, words=words) for words in texts]
    positions = space.positions(read_tokens(docs), VOCAB.strings.__getitem__)
    place = positions.of_token
    return Units(positions, np.append(place, place), np.append(place, place + 1))


def scored(space: FeatureSpace, units: Units, known: KnownPairs, weights: np.ndarray) -> np.ndarray:
    out = np.zeros((len(units.first), weights.shape[1]))
    positions = units.positions
    space.index.apply(
        add_pair_scores, space.plan.pairs, known, positions.lexemes, positions.values,
        units.first, units.last, weights, out,
    )  # fmt: skip
    return out


@pytest.fixture(scope="module")
def space() -> FeatureSpace:
    """It knows about half of the features of the pairs of words."""
    space = FeatureSpace(Templates(PAIRS, {}, {}))
    space.learn(units_of(space, [["a", "b", "A", "ab"], ["ba", "AB", "a", "a", "b"]]), 1)
    return space


texts_of_words = st.lists(st.lists(st.sampled_from(WORDS), max_size=30), min_size=1, max_size=5)


@settings(max_examples=20)
@given(batches=st.lists(texts_of_words, min_size=1, max_size=4), seed=st.integers(0, 99))
def test_scores_are_those_of_the_features(space, batches, seed) -> None:
    """To the last bit the same whatever was met before, and in a table that is so small that
    pairs replace each other.
    """
    weights = np.random.default_rng(seed).normal(size=(len(space), 3)).astype(np.float32)
    n_groups = len(space.plan.pairs.anchor)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pair_scores, "_MOST_PAIRS", 8)
        crowded = no_pairs(n_groups, 3)
    assert crowded.pairs.shape == (n_groups, 8)
    roomy = no_pairs(n_groups, 3)
    for texts in batches:
        units = units_of(space, texts)
        features = dense_rows(space.unit_features(units))
        alone = scored(space, units, no_pairs(n_groups, 3), weights)
        np.testing.assert_allclose(alone, features @ weights.astype(np.float64), atol=1e-12)
        for known in (crowded, roomy, roomy):
            np.testing.assert_array_equal(scored(space, units, known, weights), alone)
    assert (crowded.sizes <= 8).all()


@pytest.mark.parametrize("lines", [PAIRS, (*PAIRS, *OTHERS, "suffix(1)@last", "word@any")])
def test_scores_of_units_are_those_of_all_their_features(lines: tuple[str, ...]) -> None:
    """More of them than are taken at once; a pair that was met is not looked up again."""
    space = FeatureSpace(Templates(lines, {}, {}))
    units = units_of(space, [WORDS, ["a", "b", "AB"] * 30, ["ba"]])
    space.learn(units, 2)
    weights = np.random.default_rng(1).normal(size=(len(space), 3))
    by_lexeme = dense_rows(space.lexeme_features(space.lexemes.attributes)) @ weights
    known = no_pairs(len(space.plan.pairs.anchor), 3)
    expected = 1 + dense_rows(space.active_features(units)) @ weights
    of_pairs = scored(space, units, no_pairs(*known.shape), weights)
    for _ in range(2):
        out = np.ones_like(expected)
        add_unit_scores(space, units, by_lexeme, known, weights, out)
        np.testing.assert_allclose(out, expected, atol=1e-12)
        np.testing.assert_array_equal(scored(space, units, known, 0 * weights), of_pairs)
        forget_pairs(known)
        assert not known.sizes.any()
        assert not scored(space, units, known, 0 * weights).any()
        forget_pairs(known)


def test_a_place_for_pairs_is_filled_before_one_is_replaced() -> None:
    """Each pair is entered once, also where all of them belong to the same place."""
    space = FeatureSpace(Templates(PAIRS[:1], {}, {}))
    space.learn(units_of(space, [[word] for word in WORDS]), 1)
    known = no_pairs(1, 3)
    known = known._replace(hashed=known.hashed._replace(factor=np.uint64(1)))
    weights = np.random.default_rng(2).normal(size=(len(space), 3))
    for n, word in enumerate(WORDS, start=1):
        units = units_of(space, [WORDS[:1], [word]])
        found = scored(space, units, known, weights)
        assert known.sizes[0] == np.count_nonzero(known.pairs) == min(n, 4)
        np.testing.assert_array_equal(scored(space, units, known, 0 * weights), found)


@pytest.mark.parametrize(
    ("n_columns", "n_places"), [(1, 1 << 16), (3, 1 << 16), (128, 1 << 13), (1_000_000, 8)]
)
def test_a_table_takes_a_bounded_amount_of_memory(n_columns: int, n_places: int) -> None:
    known = no_pairs(2, n_columns)
    assert known.pairs.shape == known.rows.shape == (2, n_places)
    assert known.shape == (2, n_columns)
    kinds = [each.dtype for each in (known.pairs, known.rows, known.scores, known.sizes)]
    assert kinds == [np.uint64, np.int32, np.float64, np.int32]
    assert n_places == 8 or known.scores.nbytes <= 1 << 24
