"""Scores that are kept: of words, summed once for each; of pairs of words, until words change."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from linear_models import LINES, VOCAB
from reference import dense_rows
from spacy_cascade.errors import TrainingError
from spacy_cascade.features.lexemes import LexemeTable
from spacy_cascade.features.pair_scores import KnownPairs
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.parallel import LEXEME_LOCK
from spacy_cascade.scorers import kept_scores
from spacy_cascade.scorers.kept_scores import LexemeScores, PairScores
from spacy_cascade.types import Keys2d

N_WORDS, N_COLUMNS = 9, 3
FEATURES = FeatureSpace.lexeme_features


def meet(space: FeatureSpace, *words: str) -> None:
    """Give words rows in the table."""
    keys = np.array([VOCAB.strings.add(word) for word in words], dtype=np.uint64)
    space.lexemes.rows(keys, [], VOCAB.strings.__getitem__)


class Words:
    """A space that has met some words, and knows all of their features; and kept scores."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.space, self.kept = FeatureSpace(Templates(LINES, {}, {})), LexemeScores()
        meet(self.space, *(f"word{i}" for i in range(N_WORDS)))
        keys = self.space.lexeme_keys(self.table.attributes)
        self.space._know(np.unique(keys[keys > 0]))
        self.weights = generator.normal(size=(len(self.space), N_COLUMNS)).astype(np.float32)

    @property
    def table(self) -> LexemeTable:
        return self.space.lexemes

    def rows(self) -> np.ndarray:
        return self.kept.rows(self.space, self.table, self.weights)

    def expected(self) -> np.ndarray:
        features = FEATURES(self.space, self.table.attributes)
        return dense_rows(features) @ self.weights.astype(np.float64)


@pytest.fixture
def words(generator: np.random.Generator) -> Words:
    return Words(generator)


@pytest.fixture
def summed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many words are summed, each time that some are; at most four at once."""
    sizes: list[int] = []

    def noted(space: FeatureSpace, attributes: Keys2d) -> BinaryCSR:
        sizes.append(len(attributes))
        return FEATURES(space, attributes)

    monkeypatch.setattr(kept_scores, "_AT_ONCE", 4)
    monkeypatch.setattr(FeatureSpace, "lexeme_features", noted)
    return sizes


def test_words_are_summed_once_and_some_at_a_time(words: Words, summed: list[int]) -> None:
    first = words.rows()
    n_rows = len(words.expected())
    assert n_rows > N_WORDS + 1  # a word may stand in several slots
    np.testing.assert_allclose(first[:n_rows], words.expected(), atol=1e-12)
    assert summed == [4, 4, 2]  # with the boundary
    assert words.rows() is first
    assert len(summed) == 3
    meet(words.space, *(f"other{i}" for i in range(N_WORDS + 1)))
    assert words.rows() is first  # there was room for as many
    meet(words.space, "last")
    larger = words.rows()
    assert summed == [4, 4, 2, 4, 4, 2, 1]
    np.testing.assert_allclose(larger[: len(words.expected())], words.expected(), atol=1e-12)
    assert len(larger) == 2 * len(words.expected())


def test_nobody_else_adds_words_meanwhile(words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    free = []

    def is_free() -> bool:
        if got := LEXEME_LOCK.acquire(blocking=False):
            LEXEME_LOCK.release()
        return got

    def noted(space: FeatureSpace, attributes: Keys2d) -> BinaryCSR:
        with ThreadPoolExecutor(1) as pool:
            free.append(pool.submit(is_free).result())
        return FEATURES(space, attributes)

    monkeypatch.setattr(FeatureSpace, "lexeme_features", noted)
    words.rows()
    assert free == [False]


def test_what_was_interrupted_is_summed_anew(
    words: Words, summed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(kept_scores, "check_features", lambda *_: 1 // (len(summed) - 2))
        with pytest.raises(ZeroDivisionError):
            words.rows()
    expected = words.expected()
    np.testing.assert_allclose(words.rows()[: len(expected)], expected, atol=1e-12)


def test_features_without_weights_are_refused(words: Words) -> None:
    words.weights = words.weights[:-1]
    n = len(words.weights)
    with pytest.raises(TrainingError, match=rf"There are {n + 1} features, but weights of {n}\."):
        words.rows()


SPACE = FeatureSpace(Templates(("word@-1 & word@0",), {}, {}))
WEIGHTS = np.zeros((4, 2))


def lend(kept: PairScores, *wanted: Any) -> KnownPairs:
    """What is lent, and given back at once."""
    with kept.lent(*wanted) as known:
        return known


def test_pairs_are_kept_until_weights_or_words_are_others() -> None:
    kept = PairScores()
    known = lend(kept, SPACE, SPACE.lexemes, WEIGHTS)
    assert known.shape == (1, 2)
    table = FeatureSpace(Templates(("word@-1 & word@0",), {}, {})).lexemes
    for others in ((SPACE.lexemes, WEIGHTS.copy()), (table, WEIGHTS)):
        known.pairs[:], known.sizes[:] = 7, 3
        assert lend(kept, SPACE, SPACE.lexemes, WEIGHTS) is known
        assert known.pairs.any()
        assert lend(kept, SPACE, *others) is known  # for a new table would leave a hole
        assert not known.pairs.any()
        assert not known.sizes.any()
        lend(kept, SPACE, SPACE.lexemes, WEIGHTS)
    wider = lend(kept, SPACE, SPACE.lexemes, np.zeros((4, 3)))
    assert wider.shape == (1, 3)


def test_one_at_a_time_has_known_pairs_and_copies_have_none() -> None:
    kept, wanted = PairScores(), (SPACE, SPACE.lexemes, WEIGHTS)
    with ThreadPoolExecutor(1) as pool:
        with kept.lent(*wanted) as known:
            meanwhile = pool.submit(lend, kept, *wanted).result()
        assert meanwhile is not known
        assert pool.submit(lend, kept, *wanted).result() is known  # what it knows is not lost
    with pytest.raises(ZeroDivisionError), kept.lent(*wanted):
        _ = 1 / 0
    assert lend(kept, *wanted) is known
    for other in (copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert lend(other, *wanted) is not known
